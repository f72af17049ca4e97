#include <gtest/gtest.h>

#include "tests/api/test_context.h"

namespace cairn {
namespace {

using test::FakeVocabulary;
using test::TestContext;

class ChatRequest : public testing::Test {
protected:
    [[nodiscard]] std::string prompt(const std::string &body) const {
        const ApiCall call = context_.chat(body);
        return call.requests.empty() ? "" : context_.vocabulary().text(call.requests[0].prompt);
    }
    [[nodiscard]] std::string refusal(const std::string &body, ErrorCode code = ErrorCode::invalid_argument) const {
        const auto result = parse_chat_completion(body, context_.api());
        EXPECT_FALSE(result) << body;
        if (result) return "accepted";
        EXPECT_EQ(result.error().code, code) << result.error().what;
        return result.error().what;
    }
    /// A body with these messages and further fields.
    static std::string body(const std::string &messages, const std::string &fields = {}) {
        return R"({"messages": [)" + messages + "]" + (fields.empty() ? "" : ", " + fields) + "}";
    }

    TestContext context_;
};

constexpr const char *kUser = R"({"role": "user", "content": "q"})";

TEST_F(ChatRequest, MessagesBecomeAPromptWithCheckpoints) {
    const ApiCall call = context_.chat(body(R"({"role": "system", "content": "S"}, {"role": "user", "content": "q"})"));
    EXPECT_EQ(call.kind, CallKind::chat);
    ASSERT_EQ(call.requests.size(), 1U);
    const Request &request = call.requests[0];
    EXPECT_EQ(context_.vocabulary().text(request.prompt),
              "<|im_start|>system\nS<|im_end|>\n<|im_start|>user\nq<|im_end|>\n<|im_start|>assistant\n");
    ASSERT_EQ(request.checkpoints.size(), 2U);
    EXPECT_EQ(request.checkpoints[0].kind, CheckpointKind::system_end);
    EXPECT_EQ(request.checkpoints[0].pos, 11);
    EXPECT_EQ(request.checkpoints[1].kind, CheckpointKind::last_user);
    EXPECT_EQ(request.checkpoints[1].pos, 11);
}

TEST_F(ChatRequest, ContentComesInParts) {
    EXPECT_EQ(
        prompt(body(R"({"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]})")),
        "<|im_start|>user\na\nb<|im_end|>\n<|im_start|>assistant\n");
    EXPECT_EQ(prompt(body(R"({"role": "user", "content": []})")),
              "<|im_start|>user\n<|im_end|>\n<|im_start|>assistant\n");
    EXPECT_EQ(prompt(body(R"({"role": "user", "content": null})")),
              "<|im_start|>user\n<|im_end|>\n<|im_start|>assistant\n");
}

TEST_F(ChatRequest, PartsThatAreNoTextAreRefused) {
    EXPECT_EQ(
        refusal(body(R"({"role": "user", "content": [{"type": "image_url", "image_url": {"url": "x"}}]})"),
                ErrorCode::unsupported),
        "'messages[0].content[0]' is a part of type 'image_url': only text is understood. Send parts of type 'text'");
    EXPECT_EQ(refusal(body(R"({"role": "user", "content": ["a"]})")),
              "'messages[0].content[0]' must be an object with 'type' and 'text'");
    EXPECT_EQ(refusal(body(R"({"role": "user", "content": [{"type": "text"}]})")),
              "'messages[0].content[0].text' must be a string");
    EXPECT_EQ(refusal(body(R"({"role": "user", "content": [{"text": "a"}]})")),
              "'messages[0].content[0].type' must be 'text'");
}

TEST_F(ChatRequest, BadMessagesNameTheirPlace) {
    EXPECT_EQ(refusal("{}"), "'messages' must be an array of at least one message");
    EXPECT_EQ(refusal(body("")), "'messages' must be an array of at least one message");
    EXPECT_EQ(refusal(R"({"messages": "hi"})"), "'messages' must be an array");
    EXPECT_EQ(refusal(body("5")), "'messages[0]' must be an object with 'role' and 'content'");
    EXPECT_EQ(refusal(body(R"({"content": "q"})")),
              "'messages[0].role' must be one of 'system', 'developer', 'user', 'assistant' and 'tool'");
    EXPECT_EQ(refusal(body(std::string(kUser) + R"(, {"role": "wizard", "content": "q"})")),
              "'messages[1].role' must be one of 'system', 'developer', 'user', 'assistant' and 'tool'");
    EXPECT_EQ(refusal(body(R"({"role": "user"})")),
              "'messages[0].content' must be there: a string or an array of text parts");
    EXPECT_EQ(refusal(body(R"({"role": "user", "content": 5})")),
              "'messages[0].content' must be a string or an array of text parts");
    EXPECT_EQ(refusal(body(R"({"role": "user", "content": "q", "name": 5})")), "'messages[0].name' must be a string");
}

TEST_F(ChatRequest, ToolCallsAreRead) {
    const std::string call = R"({"role": "assistant", "tool_calls": [{"id": "c1", "type": "function",
        "function": {"name": "f", "arguments": "{\"a\": 1}"}}]})";
    const std::string result = R"({"role": "tool", "tool_call_id": "c1", "content": "r"})";
    const std::string tools = R"("tools": [{"type": "function", "function": {"name": "f", "description": "d",
        "parameters": {"type": "object", "properties": {}}}}], "tool_choice": "auto")";
    EXPECT_EQ(prompt(body(std::string(kUser) + "," + call + "," + result, tools)),
              "<|im_start|>user\nq<|im_end|>\n<|im_start|>assistant\n<|im_end|>\n<|im_start|>tool\nr<|im_end|>\n"
              "<|im_start|>assistant\n");
}

TEST_F(ChatRequest, BadToolsNameTheirPlace) {
    const auto call = [](const std::string &value) {
        return body(R"({"role": "assistant", "content": null, "tool_calls": )" + value + "}");
    };
    EXPECT_EQ(refusal(call("5")), "'messages[0].tool_calls' must be an array");
    EXPECT_EQ(refusal(call("[5]")), "'messages[0].tool_calls[0]' must be an object");
    EXPECT_EQ(refusal(call(R"([{"type": "code"}])")), "'messages[0].tool_calls[0].type' must be 'function'");
    EXPECT_EQ(refusal(call("[{}]")),
              "'messages[0].tool_calls[0].function' must be an object with 'name' and 'arguments'");
    EXPECT_EQ(refusal(call(R"([{"function": {}}])")), "'messages[0].tool_calls[0].function.name' must be a string");
    EXPECT_EQ(refusal(call(R"([{"function": {"name": "f", "arguments": 5}}])")),
              "'messages[0].tool_calls[0].function.arguments' must be a string of JSON or an object");
    EXPECT_EQ(refusal(body(kUser, R"("tools": {})")), "'tools' must be an array");
    EXPECT_EQ(refusal(body(kUser, R"("tools": [{"type": "x"}])")), "'tools[0].type' must be 'function'");
    EXPECT_EQ(refusal(body(kUser, R"("tools": [{"type": "function"}])")),
              "'tools[0].function' must be an object with a 'name'");
    EXPECT_EQ(refusal(body(kUser, R"("tools": [{"type": "function", "function": {"name": "f", "parameters": []}}])")),
              "'tools[0].function.parameters' must be an object");
    EXPECT_EQ(refusal(body(kUser, R"("tool_choice": "required")"), ErrorCode::unsupported),
              "'tool_choice' can only be 'auto' or 'none': a call cannot be forced");
    EXPECT_EQ(refusal(body(kUser, R"("tool_choice": 5)")), "'tool_choice' must be 'auto' or 'none'");
}

TEST_F(ChatRequest, TemplateArgumentsAreRead) {
    const std::string plain = "<|im_start|>user\nq<|im_end|>\n";
    EXPECT_EQ(prompt(body(kUser, R"("add_generation_prompt": false)")), plain);
    EXPECT_EQ(prompt(body(kUser, R"("chat_template_kwargs": {"enable_thinking": false, "depth": [1]})")),
              plain + "<|im_start|>assistant\n");
    EXPECT_EQ(refusal(body(kUser, R"("chat_template_kwargs": {"enable_thinking": 1})")),
              "'chat_template_kwargs.enable_thinking' must be true or false");
    EXPECT_EQ(refusal(body(kUser, R"("chat_template_kwargs": [])")), "'chat_template_kwargs' must be an object");
    EXPECT_EQ(refusal(body(kUser, R"("continue_final_message": true)"), ErrorCode::unsupported),
              "'continue_final_message' is not supported: end the messages with one of the user's");
    EXPECT_EQ(prompt(body(kUser, R"("continue_final_message": false)")), plain + "<|im_start|>assistant\n");
}

TEST_F(ChatRequest, LogprobsAreASwitchAndANumber) {
    const auto logprobs = [&](const std::string &fields) {
        return context_.chat(body(kUser, fields)).requests.at(0).logprobs;
    };
    EXPECT_EQ(logprobs(R"("logprobs": true)"), 0);
    EXPECT_EQ(logprobs(R"("logprobs": true, "top_logprobs": 20)"), 20);
    EXPECT_EQ(logprobs(R"("logprobs": false)"), std::nullopt);
    EXPECT_EQ(logprobs(R"("top_logprobs": 0)"), std::nullopt);
    EXPECT_EQ(refusal(body(kUser, R"("top_logprobs": 3)")), "'logprobs' must be true where 'top_logprobs' is given");
    EXPECT_EQ(refusal(body(kUser, R"("logprobs": true, "top_logprobs": 21)")),
              "'top_logprobs' must be an integer between 0 and 20");
    EXPECT_EQ(refusal(body(kUser, R"("logprobs": 3)")), "'logprobs' must be true or false");
}

TEST_F(ChatRequest, SpelledControlTokensAreText) {
    const ApiCall call = context_.chat(body(R"({"role": "user", "content": "<|im_end|>"})"));
    const Tokens &tokens = call.requests.at(0).prompt;
    EXPECT_EQ(std::count(tokens.begin(), tokens.end(), FakeVocabulary::control("<|im_end|>")), 1);
}

}  // namespace
}  // namespace cairn
