#include <gtest/gtest.h>

#include "tests/api/test_context.h"

namespace cairn {
namespace {

using test::FakeVocabulary;
using test::TestContext;

constexpr const char *kShape =
    "'prompt' must be a string, an array of strings, an array of token ids, or an array of such arrays, none of them "
    "empty";

class CompletionRequest : public testing::Test {
protected:
    [[nodiscard]] std::string refusal(const std::string &body, ErrorCode code = ErrorCode::invalid_argument) const {
        const auto result = parse_completion(body, context_.api());
        EXPECT_FALSE(result) << body;
        if (result) return "accepted";
        EXPECT_EQ(result.error().code, code) << result.error().what;
        return result.error().what;
    }
    [[nodiscard]] std::vector<Tokens> prompts(const std::string &body) const {
        std::vector<Tokens> result;
        for (const Request &request : context_.completion(body).requests)
            result.push_back(request.prompt);
        return result;
    }

    TestContext context_;
};

TEST_F(CompletionRequest, APromptHasFourForms) {
    EXPECT_EQ(prompts(R"({"prompt": "ab"})"), (std::vector<Tokens>{{'a', 'b'}}));
    EXPECT_EQ(prompts(R"({"prompt": ["ab", "c"]})"), (std::vector<Tokens>{{'a', 'b'}, {'c'}}));
    EXPECT_EQ(prompts(R"({"prompt": [1, 2.0, 310]})"), (std::vector<Tokens>{{1, 2, 310}}));
    EXPECT_EQ(prompts(R"({"prompt": [[1], [2, 3]]})"), (std::vector<Tokens>{{1}, {2, 3}}));
    EXPECT_EQ(prompts(R"({"prompt": ["a", [2]]})"), (std::vector<Tokens>{{'a'}, {2}}));
}

TEST_F(CompletionRequest, ARawPromptMaySpellControlTokens) {
    EXPECT_EQ(prompts(R"({"prompt": "<|im_start|>a"})"),
              (std::vector<Tokens>{{FakeVocabulary::control("<|im_start|>"), 'a'}}));
}

TEST_F(CompletionRequest, BadPromptsAreRefused) {
    for (const char *prompt : {"[]", "[[]]", "[[1], []]", "5", "{}", "true", "[true]", "[1, \"a\"]", "[[1, \"a\"]]",
                               "null", "[[[1]]]", "[null]"}) {
        EXPECT_EQ(refusal(fmt::format(R"({{"prompt": {}}})", prompt)), kShape) << prompt;
    }
    EXPECT_EQ(refusal("{}"), kShape);
    EXPECT_EQ(refusal(R"({"prompt": ""})"), "'prompt' must give at least one token");
    EXPECT_EQ(refusal(R"({"prompt": [1, 311]})"), "'prompt' must be made of token ids between 0 and 310: 311 is none");
    EXPECT_EQ(refusal(R"({"prompt": [-1]})"), "'prompt' must be made of token ids between 0 and 310: -1 is none");
    EXPECT_EQ(refusal(R"({"prompt": [1.5]})"), "'prompt' must be made of token ids between 0 and 310: 1.5 is none");
}

TEST_F(CompletionRequest, ChoicesComeInOrderOfPrompts) {
    const ApiCall call = context_.completion(R"({"prompt": ["a", "b"], "n": 2, "echo": true})");
    ASSERT_EQ(call.requests.size(), 4U);
    EXPECT_EQ(call.requests[1].prompt, (Tokens{'a'}));
    EXPECT_EQ(call.requests[2].prompt, (Tokens{'b'}));
    EXPECT_TRUE(call.echo);
    EXPECT_EQ(call.echo_text, (std::vector<std::string>{"a", "a", "b", "b"}));
    EXPECT_TRUE(call.requests[0].checkpoints.empty());
}

TEST_F(CompletionRequest, EchoOfTokensIsTheirText) {
    EXPECT_EQ(context_.completion(R"({"prompt": [97, 302], "echo": true})").echo_text,
              (std::vector<std::string>{"a<|im_start|>"}));
}

TEST_F(CompletionRequest, ThereIsALimitOfChoices) {
    std::string prompts_text = "[";
    for (int i = 0; i < 33; ++i)
        prompts_text += std::string(i > 0 ? "," : "") + "[1]";
    EXPECT_EQ(refusal(R"({"n": 64, "prompt": )" + prompts_text + "]}"),
              "'n' must be so small that prompts times 'n' is at most 2048");
}

TEST_F(CompletionRequest, LogprobsAreANumber) {
    EXPECT_EQ(context_.completion(R"({"prompt": "a", "logprobs": 0})").requests.at(0).logprobs, 0);
    EXPECT_EQ(context_.completion(R"({"prompt": "a", "logprobs": 20})").requests.at(0).logprobs, 20);
    EXPECT_EQ(refusal(R"({"prompt": "a", "logprobs": 21})"), "'logprobs' must be an integer between 0 and 20");
    EXPECT_EQ(refusal(R"({"prompt": "a", "logprobs": true})"), "'logprobs' must be an integer between 0 and 20");
}

TEST_F(CompletionRequest, WhatIsNotThereIsRefused) {
    EXPECT_EQ(refusal(R"({"prompt": "a", "suffix": "b"})", ErrorCode::unsupported),
              "'suffix' is not supported: text cannot be filled in. Leave the field out");
    EXPECT_EQ(refusal(R"({"prompt": "a", "best_of": 2})", ErrorCode::unsupported),
              "'best_of' is only supported where it equals 'n'");
    EXPECT_EQ(context_.completion(R"({"prompt": "a", "best_of": 2, "n": 2, "suffix": null})").requests.size(), 2U);
    EXPECT_EQ(refusal(R"({"prompt": "a", "echo": true, "logprobs": 1})", ErrorCode::unsupported),
              "'echo' together with 'logprobs' is not supported: the prompt's tokens have none");
    EXPECT_EQ(refusal(R"({"prompt": "a", "echo": 1})"), "'echo' must be true or false");
}

}  // namespace
}  // namespace cairn
