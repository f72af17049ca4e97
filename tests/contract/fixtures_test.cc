// The fixtures are worth testing with: what they say depends on all of the prefix, and they speak text.

#include <gtest/gtest.h>

#include <filesystem>
#include <set>

#include "tests/support/backend_driver.h"
#include "tests/support/fixtures.h"

namespace cairn {
namespace {

class FixtureModel : public ::testing::TestWithParam<const char *> {
protected:
    void SetUp() override {
        auto opened = open_llama_backend(fixture_config(GetParam()), fixture_sizes());
        ASSERT_TRUE(opened) << opened.error().what;
        backend_ = *std::move(opened);
    }
    std::unique_ptr<Backend> backend_;
};

TEST_P(FixtureModel, LogitsDependOnTokensFarBack) {
    constexpr SeqId kSeq{0};
    BackendDriver driver(*backend_);
    const Tokens tokens = random_tokens(100, 31);
    const auto reference = driver.feed(kSeq, tokens, 0, 100);
    for (const std::size_t changed : {0u, 20u, 60u, 95u, 98u}) {
        Tokens other = tokens;
        other[changed] += 1;
        backend_->clear(kSeq);
        const auto comparison = compare_logits(reference, driver.feed(kSeq, other, 0, 100));
        EXPECT_GT(comparison.max_difference, 0.002 * comparison.scale) << "token " << changed << ": " << comparison;
    }
}

TEST_P(FixtureModel, GreedyAnswersVary) {
    constexpr SeqId kSeq{0};
    BackendDriver driver(*backend_);
    std::set<Token> firsts, all;
    for (unsigned seed = 0; seed < 8; ++seed) {
        backend_->clear(kSeq);
        const Tokens tokens = random_tokens(50, 40 + seed);
        const Tokens answer = driver.greedy(kSeq, driver.feed(kSeq, tokens, 0, 50), 16);
        firsts.insert(answer.front());
        all.insert(answer.begin(), answer.end());
    }
    EXPECT_GE(firsts.size(), 6u);
    EXPECT_GE(all.size(), 20u);
}

TEST_P(FixtureModel, SpeaksText) {
    const Vocabulary &vocabulary = backend_->vocabulary();
    EXPECT_EQ(vocabulary.size(), 1536);
    const std::string text = "The keeper of the north gate, \xc3\xa9t\xc3\xa9.";
    const auto tokens = vocabulary.tokenize(text, true, SpecialTokens::as_text);
    ASSERT_TRUE(tokens);
    std::string back;
    for (const Token token : *tokens)
        back += vocabulary.piece(token, false);
    EXPECT_EQ(back, text);
    EXPECT_EQ(vocabulary.tokenize("<|im_start|>", false, SpecialTokens::parse)->size(), 1u);
    EXPECT_NE(backend_->info().chat_template.find("<|im_start|>"), std::string::npos);
    EXPECT_EQ(backend_->info().trained_context, 8192);
    EXPECT_LT(std::filesystem::file_size(fixture_path(GetParam())), std::uintmax_t{4} << 20);
}

INSTANTIATE_TEST_SUITE_P(Fixtures, FixtureModel, ::testing::ValuesIn(kFixtures),
                         [](const auto &fixture) { return std::string(fixture.param); });

}  // namespace
}  // namespace cairn
