#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/api/test_context.h"

namespace cairn {
namespace {

using nlohmann::json;
using test::TestContext;

/// The JSON of each event in SSE text; "[DONE]" as a string.
std::vector<json> events(const std::string &text) {
    std::vector<json> result;
    for (std::size_t at = 0; at < text.size();) {
        const auto end = text.find("\n\n", at);
        EXPECT_NE(end, std::string::npos);
        const std::string event = text.substr(at, end - at);
        EXPECT_EQ(event.substr(0, 6), "data: ");
        result.push_back(event == "data: [DONE]" ? json("[DONE]") : json::parse(event.substr(6)));
        at = end + 2;
    }
    return result;
}

class Writer : public testing::Test {
protected:
    [[nodiscard]] ResponseWriter chat(const std::string &fields) const {
        return {context_.chat(R"({"messages": [{"role": "user", "content": "q"}], )" + fields + "}"), context_.api(),
                "id-1", 1700};
    }
    [[nodiscard]] ResponseWriter completion(const std::string &fields) const {
        return {context_.completion("{" + fields + "}"), context_.api(), "id-2", 1700};
    }

    /// What every answer begins with.
    static json head(const char *id, const char *object) {
        return {{"id", id},
                {"object", object},
                {"created", 1700},
                {"model", "tiny"},
                {"system_fingerprint", "cairn-" CAIRN_VERSION}};
    }
    static json chunk(const json &choice) {
        json result = head("id-1", "chat.completion.chunk");
        result["choices"] = json::array({choice});
        return result;
    }

    TestContext context_;
    const Usage usage_{.prompt_tokens = 10, .completion_tokens = 4, .cached_tokens = 6};
    const Timings timings_{.queue_s = 0.25, .restore_s = 0.5, .prefill_s = 2, .decode_s = 1, .prefilled_tokens = 4};
    const json usage_json_ = json::parse(R"({"prompt_tokens": 10, "completion_tokens": 4, "total_tokens": 14,
                                             "prompt_tokens_details": {"cached_tokens": 6}})");
    const json timings_json_ = json::parse(R"({"cache_n": 6, "prompt_n": 4, "prompt_ms": 2000.0,
        "prompt_per_token_ms": 500.0, "prompt_per_second": 2.0, "predicted_n": 4, "predicted_ms": 1000.0,
        "predicted_per_token_ms": 250.0, "predicted_per_second": 4.0, "queue_ms": 250.0, "restore_ms": 500.0})");
    const std::vector<TokenLogprobs> logprobs_{
        {{5, "a", -0.5f}, {{5, "a", -0.5f}, {6, "\xe2\x82", -2.0f}}},
        {{7, "\xac", -std::numeric_limits<float>::infinity()}, {}},
    };
};

TEST_F(Writer, WholeChatCompletion) {
    auto writer = chat(R"("stream": false)");
    EXPECT_EQ(writer.begin(0), "");
    EXPECT_EQ(writer.delta(0, "Hel", {}), "");
    EXPECT_EQ(writer.delta(0, "lo", {}), "");
    EXPECT_EQ(writer.finish(0, FinishReason::stop, usage_, timings_), "");
    json wanted = head("id-1", "chat.completion");
    wanted["choices"] =
        json::parse(R"([{"index": 0, "message": {"role": "assistant", "content": "Hello", "refusal": null},
                                         "logprobs": null, "finish_reason": "stop"}])");
    wanted["usage"] = usage_json_;
    wanted["timings"] = timings_json_;
    EXPECT_EQ(json::parse(writer.end()), wanted);
}

TEST_F(Writer, StreamedChatCompletion) {
    auto writer = chat(R"("stream": true, "stream_options": {"include_usage": true})");
    std::vector<json> wanted;
    const auto want = [&](const char *choice) {
        wanted.push_back(chunk(json::parse(choice)));
        wanted.back()["usage"] = nullptr;
    };
    want(R"({"index": 0, "delta": {"role": "assistant", "content": "", "refusal": null}, "logprobs": null,
             "finish_reason": null})");
    want(R"({"index": 0, "delta": {"content": "Hi"}, "logprobs": null, "finish_reason": null})");
    want(R"({"index": 0, "delta": {}, "logprobs": null, "finish_reason": "length"})");
    wanted.back()["timings"] = timings_json_;
    json last = head("id-1", "chat.completion.chunk");
    last["choices"] = json::array();
    last["usage"] = usage_json_;
    wanted.push_back(last);
    wanted.push_back("[DONE]");

    std::string text = writer.begin(0);
    text += writer.delta(0, "Hi", {});
    text += writer.delta(0, "", {});
    text += writer.finish(0, FinishReason::length, usage_, timings_);
    text += writer.end();
    EXPECT_EQ(events(text), wanted);
}

TEST_F(Writer, WithoutIncludeUsageThereIsNone) {
    auto writer = chat(R"("stream": true)");
    EXPECT_FALSE(events(writer.begin(0))[0].contains("usage"));
    (void)writer.finish(0, FinishReason::stop, usage_, timings_);
    EXPECT_EQ(writer.end(), "data: [DONE]\n\n");
}

TEST_F(Writer, ChatLogprobsHaveExactBytes) {
    const json wanted = json::parse(R"({"refusal": null, "content": [
        {"token": "a", "logprob": -0.5, "bytes": [97], "top_logprobs": [
            {"token": "a", "logprob": -0.5, "bytes": [97]}, {"token": "\ufffd", "logprob": -2.0, "bytes": [226, 130]}]},
        {"token": "\ufffd", "logprob": -9999.0, "bytes": [172], "top_logprobs": []}]})");
    auto streamed = chat(R"("stream": true, "logprobs": true, "top_logprobs": 2)");
    EXPECT_EQ(events(streamed.delta(0, "a", logprobs_))[0]["choices"][0]["logprobs"], wanted);
    // Tokens without text yet are told at once, and only once.
    EXPECT_EQ(events(streamed.delta(0, "", logprobs_))[0]["choices"][0]["logprobs"], wanted);
    auto whole = chat(R"("logprobs": true, "top_logprobs": 2)");
    (void)whole.delta(0, "a", {logprobs_[0]});
    (void)whole.delta(0, "", {logprobs_[1]});
    (void)whole.finish(0, FinishReason::stop, usage_, timings_);
    EXPECT_EQ(json::parse(whole.end())["choices"][0]["logprobs"], wanted);
}

TEST_F(Writer, WholeCompletionWithEchoAndChoices) {
    auto writer = completion(R"("prompt": ["a", "b"], "n": 2, "echo": true)");
    for (std::size_t i = 0; i < 4; ++i) {
        EXPECT_EQ(writer.begin(i), "");
        EXPECT_EQ(writer.delta(i, std::to_string(i), {}), "");
        const TokenPos cached = i % 2 == 0 ? 0 : 9;  // the second choice of a prompt forks from the first
        EXPECT_EQ(writer.finish(i, i == 3 ? FinishReason::cancelled : FinishReason::length,
                                {.prompt_tokens = 10, .completion_tokens = 1, .cached_tokens = cached}, {}),
                  "");
    }
    const json body = json::parse(writer.end());
    EXPECT_EQ(body["object"], "text_completion");
    const char *texts[] = {"a0", "a1", "b2", "b3"};
    for (std::size_t i = 0; i < 4; ++i) {
        EXPECT_EQ(body["choices"][i], (json{{"index", i},
                                            {"text", texts[i]},
                                            {"logprobs", nullptr},
                                            {"finish_reason", i == 3 ? "stop" : "length"}}));
    }
    EXPECT_EQ(body["usage"], json::parse(R"({"prompt_tokens": 20, "completion_tokens": 4, "total_tokens": 24,
                                             "prompt_tokens_details": {"cached_tokens": 0}})"));
    EXPECT_EQ(body["timings"]["predicted_per_second"], 0.0);
}

TEST_F(Writer, StreamedCompletion) {
    auto writer = completion(R"("prompt": "ab", "stream": true, "echo": true)");
    std::string text =
        writer.begin(0) + writer.delta(0, "c", {}) + writer.finish(0, FinishReason::stop, usage_, timings_);
    text += writer.end();
    const auto list = events(text);
    ASSERT_EQ(list.size(), 4U);
    json wanted = head("id-2", "text_completion");
    wanted["choices"] = json::parse(R"([{"index": 0, "text": "ab", "logprobs": null, "finish_reason": null}])");
    EXPECT_EQ(list[0], wanted);
    wanted["choices"][0]["text"] = "c";
    EXPECT_EQ(list[1], wanted);
    wanted["choices"][0]["text"] = "";
    wanted["choices"][0]["finish_reason"] = "stop";
    wanted["timings"] = timings_json_;
    EXPECT_EQ(list[2], wanted);
    EXPECT_EQ(list[3], "[DONE]");
    EXPECT_EQ(completion(R"("prompt": "ab", "stream": true)").begin(0), "");
}

TEST_F(Writer, CompletionLogprobsAreParallelArrays) {
    auto writer = completion(R"("prompt": "x", "stream": true, "logprobs": 2)");
    EXPECT_EQ(events(writer.delta(0, "a", {logprobs_[0]}))[0]["choices"][0]["logprobs"],
              json::parse(R"({"tokens": ["a"], "token_logprobs": [-0.5], "text_offset": [0],
                              "top_logprobs": [{"a": -0.5, "bytes:\\xe2\\x82": -2.0}]})"));
    EXPECT_EQ(events(writer.delta(0, "", {logprobs_[1]}))[0]["choices"][0]["logprobs"],
              json::parse(R"({"tokens": ["bytes:\\xac"], "token_logprobs": [-9999.0], "text_offset": [1],
                              "top_logprobs": [{}]})"));
    auto none = completion(R"("prompt": "x", "logprobs": 0)");
    (void)none.delta(0, "a", {{{5, "a", -0.5f}, {}}});
    (void)none.finish(0, FinishReason::stop, usage_, timings_);
    EXPECT_EQ(json::parse(none.end())["choices"][0]["logprobs"],
              json::parse(R"({"tokens": ["a"], "token_logprobs": [-0.5], "text_offset": [0], "top_logprobs": null})"));
}

TEST_F(Writer, ErrorsInAStreamAreEvents) {
    const Error error{ErrorCode::device, "The device failed."};
    auto streamed = chat(R"("stream": true)");
    EXPECT_EQ(events(streamed.failed(error)), std::vector<json>{json::parse(error_body(error))});
    auto whole = chat(R"("stream": false)");
    EXPECT_EQ(whole.failed(error), error_body(error));
}

}  // namespace
}  // namespace cairn
