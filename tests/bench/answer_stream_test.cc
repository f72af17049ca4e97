#include "bench/answer_stream.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace cairn {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr std::string_view kRole = "data: {\"choices\":[{\"delta\":{\"role\":\"assistant\",\"content\":null}}]}\n\n";
constexpr std::string_view kThought = "data: {\"choices\":[{\"delta\":{\"reasoning_content\":\"Hm\"}}]}\r\n\r\n";
constexpr std::string_view kText = "data: {\"choices\":[{\"delta\":{\"content\":\"Yes\"}}]}\n\n";
constexpr std::string_view kEnd = "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"length\"}]}\n\n";
constexpr std::string_view kUsage =
    "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":9,\"completion_tokens\":2,"
    "\"prompt_tokens_details\":{\"cached_tokens\":4}}}\n\ndata: [DONE]\n\n";

TEST(AnswerStream, PiecesHaveTheTimeTheyCameAt) {
    AnswerStream stream;
    stream.feed(kRole, 1);
    stream.feed(kThought, 2);
    stream.feed(kText, 3);
    stream.feed(kEnd, 4);
    stream.feed(kUsage, 5);
    const auto answer = stream.finish();
    ASSERT_TRUE(answer.has_value()) << answer.error().what;
    EXPECT_THAT(answer->piece_times_s, ElementsAre(2, 3));
    EXPECT_EQ(answer->content, "Yes");
    EXPECT_EQ(answer->reasoning, "Hm");
    EXPECT_EQ(answer->prompt_tokens, 9);
    EXPECT_EQ(answer->completion_tokens, 2);
    EXPECT_EQ(answer->cached_tokens, 4);
}

TEST(AnswerStream, EventsMayBeCutAnywhere) {
    const std::string all = std::string(kRole) + std::string(kText) + std::string(kEnd) + std::string(kUsage);
    AnswerStream stream;
    for (const char c : all)
        stream.feed(std::string_view(&c, 1), 1);
    const auto answer = stream.finish();
    ASSERT_TRUE(answer.has_value()) << answer.error().what;
    EXPECT_EQ(answer->content, "Yes");
    EXPECT_EQ(answer->cached_tokens, 4);
}

TEST(AnswerStream, CachedTokensComeFromTimingsWhereUsageHasNone) {
    AnswerStream stream;
    stream.feed(
        "data: {\"choices\":[{\"finish_reason\":\"stop\"}],\"usage\":{\"prompt_tokens\":9},"
        "\"timings\":{\"prompt_n\":2}}\n",
        1);
    EXPECT_EQ(stream.finish()->cached_tokens, 7);
    AnswerStream silent;
    silent.feed(kEnd, 1);
    EXPECT_EQ(silent.finish()->cached_tokens, std::nullopt);
}

TEST(AnswerStream, WhatNoCountCanBeIsNotTakenForOne) {
    AnswerStream stream;
    stream.feed(
        "data: {\"choices\":[{\"finish_reason\":\"stop\"}],\"usage\":{\"prompt_tokens\":-5,\"completion_tokens\":1e300,"
        "\"prompt_tokens_details\":{\"cached_tokens\":1e20}}}\n",
        1);
    const auto answer = stream.finish();
    ASSERT_TRUE(answer.has_value()) << answer.error().what;
    EXPECT_EQ(answer->prompt_tokens, std::nullopt);
    EXPECT_EQ(answer->completion_tokens, std::nullopt);
    EXPECT_EQ(answer->cached_tokens, std::nullopt);
}

TEST(AnswerStream, AStreamThatBreaksOffIsNoAnswer) {
    AnswerStream stream;
    stream.feed(kText, 1);
    EXPECT_THAT(stream.finish().error().what, HasSubstr("broke off"));
    AnswerStream failed;
    failed.feed("data: {\"error\":{\"message\":\"no room\"}}\n\n", 1);
    EXPECT_THAT(failed.finish().error().what, HasSubstr("no room"));
    AnswerStream odd;
    odd.feed("data: hello\n\n", 1);
    EXPECT_THAT(odd.finish().error().what, HasSubstr("no JSON object: hello"));
}

TEST(AnswerStream, AnErrorsBodySaysItsMessage) {
    EXPECT_EQ(message_in(R"({"error": {"message": "no"}})"), "no");
    EXPECT_EQ(message_in(R"({"error": "no"})"), "no");
    EXPECT_EQ(message_in("Bad Gateway"), "Bad Gateway");
}

}  // namespace
}  // namespace cairn
