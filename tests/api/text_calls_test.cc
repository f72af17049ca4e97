#include "api/text_calls.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "tests/api/test_context.h"

namespace cairn {
namespace {

using test::FakeVocabulary;
using test::TestContext;
using Body = nlohmann::json;

Body answer(const Result<std::string> &text) {
    EXPECT_TRUE(text) << (text ? "" : text.error().what);
    return text ? Body::parse(*text) : Body();
}

TEST(TextCalls, TokenizeGivesWhatTheVocabularyMakesOfAText) {
    const TestContext context;
    EXPECT_EQ(answer(tokenize_call(R"({"content": "hello!"})", context.api())), Body({{"tokens", {257, '!'}}}));
    EXPECT_EQ(answer(tokenize_call(R"({"content": ""})", context.api())), Body({{"tokens", Body::array()}}));
    const Token end = FakeVocabulary::control("</s>");
    EXPECT_EQ(answer(tokenize_call(R"({"content": "</s>"})", context.api())), Body({{"tokens", {end}}}));
    EXPECT_EQ(answer(tokenize_call(R"({"content": "</s>", "parse_special": false})", context.api())),
              Body({{"tokens", {'<', '/', 's', '>'}}}));
}

TEST(TextCalls, PiecesAreTextOrBytes) {
    const TestContext context;
    const Body pieces =
        answer(tokenize_call(R"({"content": "hello\u00e9", "with_pieces": true})", context.api()))["tokens"];
    EXPECT_EQ(pieces, Body({{{"id", 257}, {"piece", "hello"}},
                            {{"id", 0xc3}, {"piece", {0xc3}}},
                            {{"id", 0xa9}, {"piece", {0xa9}}}}));
}

TEST(TextCalls, DetokenizeSpellsControlTokensOut) {
    const TestContext context;
    const std::string body = R"({"tokens": [257, 46, )" + std::to_string(FakeVocabulary::control("</s>")) + "]}";
    EXPECT_EQ(answer(detokenize_call(body, context.api())), Body({{"content", "hello.</s>"}}));
    EXPECT_EQ(answer(detokenize_call(R"({"tokens": [195]})", context.api())), Body({{"content", "\xef\xbf\xbd"}}));
    EXPECT_EQ(answer(detokenize_call(R"({"tokens": []})", context.api())), Body({{"content", ""}}));
}

TEST(TextCalls, ApplyTemplateShowsThePromptOfAChatCompletion) {
    const TestContext context;
    const std::string body = R"({"messages": [{"role": "user", "content": "hello"}]})";
    const std::string prompt = answer(apply_template_call(body, context.api()))["prompt"];
    EXPECT_EQ(prompt, "<|im_start|>user\nhello<|im_end|>\n<|im_start|>assistant\n");
    EXPECT_EQ(context.vocabulary().text(context.chat(body).requests.at(0).prompt), prompt);
}

TEST(TextCalls, WhatIsWrongIsNamed) {
    const TestContext context;
    const auto refusal = [](const Result<std::string> &text) { return text ? std::string() : text.error().what; };
    EXPECT_EQ(refusal(tokenize_call("{}", context.api())), "'content' must be a text");
    EXPECT_NE(refusal(tokenize_call(R"({"content": 7})", context.api())).find("'content' must be"), std::string::npos);
    EXPECT_EQ(refusal(detokenize_call("{}", context.api())), "'tokens' must be an array of token ids");
    EXPECT_NE(refusal(detokenize_call(R"({"tokens": [1, 99999]})", context.api())).find("'tokens[1]'"),
              std::string::npos);
    EXPECT_NE(refusal(detokenize_call(R"({"tokens": ["a"]})", context.api())).find("'tokens[0]'"), std::string::npos);
    const std::string long_text(kMostTextTokens + 1, 'x');
    EXPECT_NE(refusal(tokenize_call(R"({"content": ")" + long_text + R"("})", context.api())).find("at most"),
              std::string::npos);
    EXPECT_NE(refusal(apply_template_call("{}", context.api())).find("messages"), std::string::npos);
    EXPECT_NE(refusal(tokenize_call("[", context.api())), "");
}

}  // namespace
}  // namespace cairn
