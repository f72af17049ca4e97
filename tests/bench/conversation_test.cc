#include "bench/conversation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace cairn {
namespace {

using ::testing::StartsWith;

TEST(SeededText, IsTheSameForTheSameSeeds) {
    const std::string text = seeded_text(50, "a", 1);
    EXPECT_EQ(text, seeded_text(50, "a", 1));
    EXPECT_NE(text.substr(0, 20), seeded_text(50, "b", 1).substr(0, 20));
    EXPECT_NE(text.substr(0, 20), seeded_text(50, "a", 2).substr(0, 20));
    EXPECT_EQ(std::count(text.begin(), text.end(), ' '), 49);
    EXPECT_EQ(text.back(), '.');
}

TEST(SeededText, ScaleMultipliesWordsAndLeavesLiteralsAlone) {
    const TextSource half{"w", 1, 0.5};
    const TextPlan plan{{"As it is", 0, ""}, {"", 10, "s"}};
    const std::string text = half.text_of(plan);
    EXPECT_THAT(text, StartsWith("As it is\n\n"));
    EXPECT_EQ(std::count(text.begin(), text.end(), ' '), 2 + 4);
    EXPECT_EQ(TextSource({"w", 1, 0.001}).text_of({{"", 10, "s"}}).find(' '), std::string::npos);
}

TEST(Conversation, AnEditDropsWhatFollowed) {
    const TextSource texts{"w", 1, 1};
    Messages history;
    Step step;
    step.system = TextPlan{{"S", 0, ""}};
    for (const char *user : {"one", "two", "three"}) {
        step.user = {{user, 0, ""}};
        begin_turn(history, step, texts);
        history.push_back({"assistant", "yes", ""});
        step.system.reset();
    }
    step.edit = 2;
    step.user = {{"other", 0, ""}};
    begin_turn(history, step, texts);
    EXPECT_EQ(turns_of(history), 2u);
    EXPECT_EQ(plain_rendering(history),
              "\x01system\nS\x02\n\x01user\none\x02\n\x01"
              "assistant\nyes\x02\n\x01user\nother\x02\n\x01"
              "assistant\n");
}

TEST(Conversation, ARequestIsGreedyStreamedAndCounted) {
    const auto body = nlohmann::json::parse(chat_body({{"user", "Hi", ""}, {"assistant", "Yo", "hm"}}, 7, "m", {}));
    EXPECT_FALSE(body.contains("logit_bias"));
    EXPECT_EQ(nlohmann::json::parse(chat_body({{"user", "Hi", ""}}, 7, "", 42))["logit_bias"],
              nlohmann::json({{"42", 100}}));
    EXPECT_EQ(body["temperature"], 0);
    EXPECT_EQ(body["stream"], true);
    EXPECT_EQ(body["stream_options"]["include_usage"], true);
    EXPECT_EQ(body["max_tokens"], 7);
    EXPECT_EQ(body["model"], "m");
    EXPECT_FALSE(body["messages"][0].contains("reasoning_content"));
    EXPECT_EQ(body["messages"][1]["reasoning_content"], "hm");
}

}  // namespace
}  // namespace cairn
