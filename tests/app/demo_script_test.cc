#include "app/demo_script.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace cairn {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// A template with one token per byte: {system}<user>{assistant.
constexpr Token kSystem = 1000, kUser = 1001, kAssistant = 1002;

Tokens bytes_of(const std::string &text) {
    return {text.begin(), text.end()};
}

Result<ChatPrompt> render_bytes(const std::string &system, const std::string &user) {
    ChatPrompt prompt;
    auto append = [&](Token markup, const std::string &text) {
        prompt.tokens.push_back(markup);
        const Tokens tokens = bytes_of(text);
        prompt.tokens.insert(prompt.tokens.end(), tokens.begin(), tokens.end());
    };
    append(kSystem, system);
    const auto end = static_cast<TokenPos>(prompt.tokens.size());
    append(kUser, user);
    append(kAssistant, "");
    prompt.checkpoints = {{end, CheckpointKind::system_end}, {end, CheckpointKind::last_user}};
    return prompt;
}

/// An engine whose answer is a hash of the prompt, and whose cache keeps every prompt less its last token.
class FakeEngine {
public:
    bool keeps = true;              ///< false: nothing is ever cached
    bool forgets_question = false;  ///< true: a state restored behind the handbook has lost the question's beginning
    std::size_t handbook = 0;
    std::vector<Request> asked;

    Result<DemoReply> answer(const Request &request) {
        asked.push_back(request);
        DemoReply reply;
        reply.reuse.prompt_tokens = static_cast<TokenPos>(request.prompt.size());
        const std::size_t cached = request.cache ? longest_cached(request.prompt) : 0;
        reply.reuse.cached_tokens = static_cast<TokenPos>(cached);
        const bool lost = forgets_question && cached > handbook;
        Token sum = 0;
        for (std::size_t i = lost ? cached : 0; i < request.prompt.size(); ++i)
            sum = sum * 31 % 65521 + request.prompt[i];
        reply.tokens = {sum};
        reply.text = std::to_string(sum);
        reply.first_token_s = 0.001 * static_cast<double>(request.prompt.size() - cached);
        if (request.cache && keeps) cached_.push_back({request.prompt.begin(), request.prompt.end() - 1});
        return reply;
    }

private:
    std::size_t longest_cached(const Tokens &prompt) const {
        std::size_t best = 0;
        for (const Tokens &prefix : cached_) {
            if (prefix.size() < prompt.size() && std::equal(prefix.begin(), prefix.end(), prompt.begin())) {
                best = std::max(best, prefix.size());
            }
        }
        return best;
    }

    std::vector<Tokens> cached_;
};

struct DemoScriptTest : ::testing::Test {
    DemoBook book{.system_prompt = "Tom sings. Eva cooks.",
                  .questions = {{0, "Who sings here?", "Tom.", "r"},
                                {1, "Who cooks here?", "Eva.", "r"},
                                {2, "What does Eva do?", "Cooks.", "r"},
                                {3, "What does Tom do?", "Sings.", "r"}}};
    FakeEngine engine;
    DemoScript script{.render = render_bytes, .ask = [this](const Request &request) { return engine.answer(request); }};
    const TokenPos handbook_end = 22;  // markup and 21 bytes

    DemoScriptTest() { engine.handbook = 22; }
};

TEST_F(DemoScriptTest, PromptKnowsWhereItsPartsAre) {
    const auto prompt = script.prompt_of(book, book.questions[0]);
    ASSERT_TRUE(prompt.has_value());
    EXPECT_EQ(prompt->handbook_end, handbook_end);
    EXPECT_EQ(prompt->question, (TokenSpan{23, 38}));
    EXPECT_EQ(prompt->cut_middle, 23 + 9);  // "Who sings"
    EXPECT_EQ(prompt->cut_late, 23 + 14);   // all but "?"
    EXPECT_EQ(prompt->tokens.size(), 39u);
}

TEST_F(DemoScriptTest, PromptWithoutASystemHintEndsTheHandbookAtTheQuestion) {
    script.render = [](const std::string &system, const std::string &user) {
        auto prompt = render_bytes(system, user);
        prompt->checkpoints.clear();
        return prompt;
    };
    const auto prompt = script.prompt_of(book, book.questions[0]);
    ASSERT_TRUE(prompt.has_value());
    EXPECT_EQ(prompt->handbook_end, 23);
}

TEST_F(DemoScriptTest, TemplateThatLosesTheQuestionIsUnsupported) {
    script.render = [](const std::string &system, const std::string &) { return render_bytes(system, ""); };
    const auto prompt = script.prompt_of(book, book.questions[0]);
    ASSERT_FALSE(prompt.has_value());
    EXPECT_EQ(prompt.error().code, ErrorCode::unsupported);
}

TEST_F(DemoScriptTest, TemplateThatPutsTheQuestionFirstIsUnsupported) {
    script.render = [](const std::string &system, const std::string &user) -> Result<ChatPrompt> {
        return ChatPrompt{.tokens = bytes_of(user + system), .checkpoints = {}};
    };
    ASSERT_FALSE(script.prompt_of(book, book.questions[0]).has_value());
}

TEST_F(DemoScriptTest, EveryQuestionIsAskedColdAndWarmAndNothingIsWrong) {
    const auto report = script.run(book, book.questions);
    ASSERT_TRUE(report.has_value());
    EXPECT_EQ(report->handbook_tokens, handbook_end);
    ASSERT_EQ(report->rows.size(), 8u);
    std::vector<TokenPos> cached;
    for (const DemoRow &row : report->rows)
        cached.push_back(row.reuse.cached_tokens);
    // Cold 0; warm in the middle of question 0, at the end of the handbook or where a question left a known path,
    // before the last character of question 2.
    EXPECT_THAT(cached, ElementsAre(0, 23 + 9, 0, handbook_end, 0, 23 + 16, 0, handbook_end));
    EXPECT_THAT(demo_problems(*report), ::testing::IsEmpty());
}

TEST_F(DemoScriptTest, RowsSayWhereTheyWereToResume) {
    const auto report = script.run(book, book.questions);
    ASSERT_TRUE(report.has_value());
    std::vector<DemoCut> cuts;
    for (const DemoRow &row : report->rows)
        cuts.push_back(row.cut);
    EXPECT_THAT(cuts, ElementsAre(DemoCut::none, DemoCut::inside_question, DemoCut::none, DemoCut::handbook_end,
                                  DemoCut::none, DemoCut::inside_question, DemoCut::none, DemoCut::handbook_end));
    EXPECT_EQ(report->rows[1].resume_at, (TokenSpan{32, 39}));
    EXPECT_EQ(report->rows[1].mode, DemoMode::warm);
    EXPECT_EQ(report->rows[1].expected, "Tom.");
}

TEST_F(DemoScriptTest, QuestionOfOneTokenResumesAtTheEndOfTheHandbook) {
    script.render = [](const std::string &system, const std::string &user) {
        auto prompt = render_bytes(system, "");
        prompt->tokens.insert(prompt->tokens.end() - 1, 2000 + static_cast<Token>(user.size()));
        return prompt;
    };
    const auto report = script.run(book, {book.questions[0]});
    ASSERT_TRUE(report.has_value());
    EXPECT_EQ(report->rows[1].cut, DemoCut::handbook_end);
    EXPECT_EQ(report->rows[1].reuse.cached_tokens, handbook_end);
}

TEST_F(DemoScriptTest, RequestsAreGreedyAndColdOnesStayOutOfTheCache) {
    ASSERT_TRUE(script.run(book, {book.questions[0]}).has_value());
    ASSERT_EQ(engine.asked.size(), 4u);  // cold, the handbook, the question's beginning, warm
    EXPECT_FALSE(engine.asked[0].cache);
    for (std::size_t i = 0; i < 4; ++i) {
        EXPECT_EQ(engine.asked[i].cache, i > 0);
        EXPECT_EQ(engine.asked[i].sampling.temperature, 0);
    }
    EXPECT_EQ(engine.asked[1].prompt.size(), 22u + 1);
    EXPECT_EQ(engine.asked[2].prompt.size(), 32u + 1);
    EXPECT_EQ(engine.asked[2].max_tokens, 1);
    EXPECT_EQ(engine.asked[3].prompt, engine.asked[0].prompt);
}

TEST_F(DemoScriptTest, CacheThatKeepsNothingIsNoticed) {
    engine.keeps = false;
    const auto report = script.run(book, book.questions);
    ASSERT_TRUE(report.has_value());
    EXPECT_EQ(demo_problems(*report).size(), 4u);
    EXPECT_FALSE(demo_summary(*report).all_covered);
    EXPECT_TRUE(demo_summary(*report).all_equal);
}

TEST_F(DemoScriptTest, StateThatLosesTheQuestionIsNoticedOnlyInsideTheQuestion) {
    engine.forgets_question = true;
    const auto report = script.run(book, book.questions);
    ASSERT_TRUE(report.has_value());
    EXPECT_FALSE(report->rows[1].equals_cold);
    EXPECT_TRUE(report->rows[3].equals_cold);
    EXPECT_FALSE(report->rows[5].equals_cold);
    EXPECT_TRUE(report->rows[7].equals_cold);
    EXPECT_EQ(demo_problems(*report).size(), 2u);
}

TEST_F(DemoScriptTest, FailureOfAQuestionIsHandedUp) {
    script.ask = [](const Request &) -> Result<DemoReply> { return fail(ErrorCode::context_length, "too long"); };
    const auto report = script.run(book, book.questions);
    ASSERT_FALSE(report.has_value());
    EXPECT_EQ(report.error().code, ErrorCode::context_length);
    EXPECT_EQ(report.error().what, "too long");
}

}  // namespace
}  // namespace cairn
