#include "server/answer.h"

#include <gtest/gtest.h>

#include "tests/server/test_server.h"

namespace cairn {
namespace {

struct AnswerTest : testing::Test {
    TestApi api;
    ApiContext context = api.context();

    [[nodiscard]] ApiCall call(bool stream, std::size_t choices) const {
        ApiCall result;
        result.kind = CallKind::chat;
        result.stream = stream;
        result.requests.resize(choices);
        return result;
    }
    static GenerationEvent started(std::size_t choice, TokenPos cached = 0) {
        ReuseReport report;
        report.prompt_tokens = 5;
        report.cached_tokens = cached;
        return {choice, GenerationEvent::Started{report}};
    }
    static GenerationEvent delta(std::size_t choice, std::string text) {
        return {choice, GenerationEvent::Delta{std::move(text), {}}};
    }
    static GenerationEvent finished(std::size_t choice, FinishReason reason = FinishReason::stop) {
        return {choice, GenerationEvent::Finished{reason, {}, {}}};
    }
};

TEST_F(AnswerTest, it_has_started_when_every_choice_has) {
    const ApiCall two = call(true, 2);
    Answer answer(two, context, "id", 0);
    answer.add(started(1, 4));
    EXPECT_FALSE(answer.started());
    answer.add(started(0));
    EXPECT_TRUE(answer.started());
    EXPECT_EQ(answer.cache_header(), "miss; cached=0; prompt=5, hit; cached=4; prompt=5");
}

TEST_F(AnswerTest, it_has_ended_when_every_choice_has) {
    const ApiCall two = call(false, 2);
    Answer answer(two, context, "id", 0);
    for (std::size_t choice : {0U, 1U})
        answer.add(started(choice));
    answer.add(delta(1, "second"));
    answer.add(finished(1));
    EXPECT_FALSE(answer.ended());
    answer.add(delta(0, "first"));
    answer.add(finished(0));
    ASSERT_TRUE(answer.ended());
    EXPECT_EQ(answer.take_text(), "");
    const auto body = nlohmann::json::parse(answer.take_end());
    EXPECT_EQ(body["choices"][0]["message"]["content"], "first");
    EXPECT_EQ(body["choices"][1]["message"]["content"], "second");
}

TEST_F(AnswerTest, text_is_given_out_once) {
    const ApiCall one = call(true, 1);
    Answer answer(one, context, "id", 0);
    answer.add(started(0));
    answer.add(delta(0, "Hello"));
    EXPECT_NE(answer.take_text().find("Hello"), std::string::npos);
    EXPECT_EQ(answer.take_text(), "");
}

TEST_F(AnswerTest, the_first_failure_counts_and_nothing_after_it) {
    const ApiCall one = call(true, 1);
    Answer answer(one, context, "id", 0);
    answer.add({0, GenerationEvent::Failed{{ErrorCode::device, "it broke"}}});
    answer.add({0, GenerationEvent::Failed{{ErrorCode::internal, "again"}}});
    answer.add(finished(0));
    ASSERT_TRUE(answer.error());
    EXPECT_EQ(answer.error()->what, "it broke");
    EXPECT_FALSE(answer.ended());
    EXPECT_NE(answer.failure_text().find("it broke"), std::string::npos);
}

TEST_F(AnswerTest, being_cut_off_is_a_failure) {
    const ApiCall one = call(false, 1);
    Answer answer(one, context, "id", 0);
    answer.add(finished(0, FinishReason::cancelled));
    ASSERT_TRUE(answer.error());
    EXPECT_EQ(answer.error()->code, ErrorCode::shutting_down);
}

}  // namespace
}  // namespace cairn
