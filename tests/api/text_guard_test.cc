#include "api/text_guard.h"

#include <gtest/gtest.h>

#include "api/json_shape.h"
#include "api/tokenized_text.h"
#include "api/user_markup.h"
#include "tests/api/fake_vocabulary.h"

namespace cairn {
namespace {

using test::FakeVocabulary;

std::vector<std::string> protected_texts(const GuardedText &guarded) {
    std::vector<std::string> result;
    for (const auto &range : guarded.protected_ranges) {
        result.push_back(guarded.text.substr(range.begin, range.end - range.begin));
    }
    return result;
}

TEST(SpellingMatcher, FindsTheLongestSpellingFromTheLeft) {
    const FakeVocabulary vocabulary;
    const SpellingMatcher matcher(vocabulary);
    const std::string text = "a<|im<|im_end|><|im_";  // "<|im" is a spelling too
    const auto first = matcher.find(text, 0);
    ASSERT_TRUE(first);
    EXPECT_EQ(text.substr(first->begin, first->end - first->begin), "<|im");
    const auto second = matcher.find(text, first->end);
    ASSERT_TRUE(second);
    EXPECT_EQ(text.substr(second->begin, second->end - second->begin), "<|im_end|>");
    const auto third = matcher.find(text, second->end);
    ASSERT_TRUE(third);
    EXPECT_EQ(third->begin, 15U);
    EXPECT_FALSE(matcher.find(text, third->end));
    EXPECT_FALSE(matcher.find("<s", 0));
    EXPECT_FALSE(matcher.find("", 0));
}

class Guard : public testing::Test {
protected:
    const FakeVocabulary vocabulary_;
    const SpellingMatcher matcher_{vocabulary_};
    TextGuard guard_{matcher_};
};

TEST_F(Guard, IsNotNeededForHarmlessTexts) {
    guard_.see("plain <text> with 12345");
    EXPECT_FALSE(guard_.needed());
    EXPECT_EQ(guard_.unwrap("<s>plain").text, "<s>plain");
    EXPECT_TRUE(guard_.unwrap("<s>plain").protected_ranges.empty());
    guard_.see("one </s>");
    EXPECT_TRUE(guard_.needed());
}

TEST_F(Guard, ProtectsExactlyWhatWasWrapped) {
    guard_.see("x<s>y</s>");
    guard_.choose_marks();
    const GuardedText result = guard_.unwrap("<s>" + guard_.wrap("x<s>y</s>") + "</s>");
    EXPECT_EQ(result.text, "<s>x<s>y</s></s>");
    EXPECT_EQ(protected_texts(result), (std::vector<std::string>{"<s>", "</s>"}));
    EXPECT_EQ(result.protected_ranges[0].begin, 4U);
}

TEST_F(Guard, MarksThatLostTheirCounterpartProtectNothing) {
    guard_.see("<s>");
    guard_.choose_marks();
    const std::string wrapped = guard_.wrap("<s>");
    const std::string open = wrapped.substr(0, 18);
    const std::string close = wrapped.substr(21);
    for (const std::string &cut :
         {open + "</s>", "</s>" + close, open + "a</s>" + close, close + "</s>" + open, open + open + "x" + close}) {
        const GuardedText result = guard_.unwrap(cut);
        EXPECT_TRUE(result.protected_ranges.empty()) << cut;
        EXPECT_EQ(result.text.find_first_of("0123456789"), std::string::npos) << cut;
    }
    EXPECT_EQ(protected_texts(guard_.unwrap(open + wrapped)), (std::vector<std::string>{"<s>"}));
}

TEST_F(Guard, MarksAreDigitsThatNoTextHolds) {
    guard_.see("<s>");
    const std::string taken = guard_.unseen_digits(1);
    EXPECT_EQ(taken.size(), 18U);
    EXPECT_EQ(taken.find_first_not_of("0123456789"), std::string::npos);
    // The first digit comes once: two marks cannot overlap.
    EXPECT_EQ(taken.find(taken.front(), 1), std::string::npos);
    EXPECT_NE(guard_.unseen_digits(1), guard_.unseen_digits(2));
}

TEST(TokenizedText, PositionsAreTokensWhollyInFrontOfTheOffset) {
    const FakeVocabulary vocabulary({.adds_bos = true});
    const GuardedText guarded{"a\n\nb<s>hello", {{4, 7}}};
    const auto tokenized = tokenize_guarded(guarded, vocabulary);
    ASSERT_TRUE(tokenized);
    const Token bos = FakeVocabulary::control("<s>");
    EXPECT_EQ(tokenized->tokens, (Tokens{bos, 'a', 256, 'b', '<', 's', '>', 257}));
    const TokenPos wanted[] = {1, 2, 2, 3, 4, 5, 6, 7, 7, 7, 7, 7, 8};
    for (std::size_t offset = 0; offset <= guarded.text.size(); ++offset) {
        EXPECT_EQ(position_of(offset, *tokenized, guarded, vocabulary).value(), wanted[offset]) << offset;
    }
}

/// A tokenizer that changes its text: tokens cannot be added up to it.
class Lowering final : public Vocabulary {
public:
    TokenPos size() const override { return 256; }
    Result<Tokens> tokenize(std::string_view text, bool, SpecialTokens) const override {
        Tokens tokens;
        for (const char c : text)
            tokens.push_back(std::tolower(static_cast<unsigned char>(c)));
        return tokens;
    }
    std::string piece(Token token, bool) const override { return std::string(1, static_cast<char>(token)); }
    bool ends_generation(Token) const override { return false; }
    bool is_control(Token) const override { return false; }
    std::string bos_text() const override { return {}; }
    std::string eos_text() const override { return {}; }
    bool adds_bos() const override { return false; }
};

TEST(TokenizedText, PositionsAreFoundWhereATokenizerNormalizes) {
    const Lowering vocabulary;
    const GuardedText guarded{"ABC", {}};
    const auto tokenized = tokenize_guarded(guarded, vocabulary);
    ASSERT_TRUE(tokenized);
    EXPECT_EQ(position_of(2, *tokenized, guarded, vocabulary).value(), 2);
}

TEST(StableCut, LiesInFrontOfTheLastWord) {
    EXPECT_EQ(stable_cut("You are kind.\n", 14), 7U);
    EXPECT_EQ(stable_cut("Rules:\nBe.\n", 11), 7U);
    EXPECT_EQ(stable_cut("word", 4), 0U);
    EXPECT_EQ(stable_cut("  ", 2), 0U);
}

TEST(JsonShape, CountsOnlyWhatNests) {
    const std::string open(kMaxJsonDepth, '[');
    EXPECT_EQ(json_shape(open), JsonShape::fine);
    EXPECT_EQ(json_shape(open + "["), JsonShape::too_deep);
    EXPECT_EQ(json_shape("\"" + open + "[[\""), JsonShape::fine);
    EXPECT_EQ(json_shape(R"("\")" + open + "[[\""), JsonShape::fine);
    std::string flat;
    for (int i = 0; i < 1000; ++i)
        flat += "[],{\"a\":1},";
    EXPECT_EQ(json_shape("[" + flat + "1]"), JsonShape::fine);
    EXPECT_EQ(json_shape("\\"), JsonShape::fine);
}

}  // namespace
}  // namespace cairn
