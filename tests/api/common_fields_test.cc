// The fields that both endpoints share, each with its happy path, wrong types and bounds, through both parsers.
#include <gtest/gtest.h>

#include "tests/api/test_context.h"

namespace cairn {
namespace {

using test::TestContext;

std::string with(const std::string &endpoint, const std::string &fields) {
    const std::string prompt =
        endpoint == "chat" ? R"("messages": [{"role": "user", "content": "q"}])" : R"("prompt": "q")";
    return "{" + prompt + (fields.empty() ? "" : ", " + fields) + "}";
}

Result<ApiCall> parse(const TestContext &context, const std::string &endpoint, const std::string &fields) {
    const std::string body = with(endpoint, fields);
    return endpoint == "chat" ? parse_chat_completion(body, context.api()) : parse_completion(body, context.api());
}

class BothEndpoints : public testing::TestWithParam<const char *> {
protected:
    [[nodiscard]] ApiCall call(const std::string &fields) const {
        auto result = parse(context_, GetParam(), fields);
        EXPECT_TRUE(result) << fields << ": " << (result ? "" : result.error().what);
        if (result) return *result;
        ApiCall empty;
        empty.requests.emplace_back();
        return empty;
    }
    [[nodiscard]] Request request(const std::string &fields) const { return call(fields).requests.at(0); }
    [[nodiscard]] SamplingParams sampling(const std::string &fields) const { return request(fields).sampling; }
    [[nodiscard]] std::string refusal(const std::string &fields, ErrorCode code = ErrorCode::invalid_argument) const {
        const auto result = parse(context_, GetParam(), fields);
        EXPECT_FALSE(result) << fields;
        if (result) return "accepted";
        EXPECT_EQ(result.error().code, code) << result.error().what;
        return result.error().what;
    }

    TestContext context_;
};

INSTANTIATE_TEST_SUITE_P(Api, BothEndpoints, testing::Values("chat", "completion"),
                         [](const auto &test) { return std::string(test.param); });

TEST_P(BothEndpoints, DefaultsAreLlamaServers) {
    const ApiCall plain = call("");
    EXPECT_FALSE(plain.stream);
    EXPECT_FALSE(plain.include_usage);
    ASSERT_EQ(plain.requests.size(), 1U);
    const Request &request = plain.requests[0];
    EXPECT_FLOAT_EQ(request.sampling.temperature, 0.8f);
    EXPECT_EQ(request.sampling.top_k, 40);
    EXPECT_FLOAT_EQ(request.sampling.top_p, 0.95f);
    EXPECT_FLOAT_EQ(request.sampling.min_p, 0.05f);
    EXPECT_EQ(request.sampling.seed, std::nullopt);
    EXPECT_EQ(request.sampling.penalty_last_n, 64);
    EXPECT_EQ(request.max_tokens, std::nullopt);
    EXPECT_EQ(request.logprobs, std::nullopt);
    EXPECT_TRUE(request.cache);
    EXPECT_FALSE(request.ignore_eos);
    EXPECT_TRUE(request.stop.empty());
}

TEST_P(BothEndpoints, NullIsAbsent) {
    const ApiCall nulls = call(
        R"("temperature": null, "top_k": null, "stop": null, "logit_bias": null, "stream": null, "stream_options": null,
           "max_tokens": null, "n": null, "seed": null, "response_format": null, "model": null)");
    EXPECT_FLOAT_EQ(nulls.requests.at(0).sampling.temperature, 0.8f);
    EXPECT_EQ(nulls.requests.size(), 1U);
}

TEST_P(BothEndpoints, FieldsReachTheRequest) {
    EXPECT_FLOAT_EQ(sampling(R"("temperature": 0)").temperature, 0);
    EXPECT_FLOAT_EQ(sampling(R"("temperature": 2.0)").temperature, 2);
    EXPECT_FLOAT_EQ(sampling(R"("top_p": 0.5)").top_p, 0.5f);
    EXPECT_FLOAT_EQ(sampling(R"("min_p": 1)").min_p, 1);
    EXPECT_EQ(sampling(R"("top_k": 7)").top_k, 7);
    EXPECT_EQ(sampling(R"("top_k": 7.0)").top_k, 7);
    EXPECT_EQ(sampling(R"("top_k": -1)").top_k, 0);
    EXPECT_FLOAT_EQ(sampling(R"("presence_penalty": -2)").presence_penalty, -2);
    EXPECT_FLOAT_EQ(sampling(R"("frequency_penalty": 1.5)").frequency_penalty, 1.5f);
    EXPECT_FLOAT_EQ(sampling(R"("repetition_penalty": 1.1)").repetition_penalty, 1.1f);
    EXPECT_FLOAT_EQ(sampling(R"("repeat_penalty": 1.2)").repetition_penalty, 1.2f);
    EXPECT_EQ(sampling(R"("repeat_last_n": -1)").penalty_last_n, -1);
    EXPECT_EQ(request(R"("max_tokens": 5)").max_tokens, 5);
    EXPECT_EQ(request(R"("max_tokens": 5.0)").max_tokens, 5);
    EXPECT_EQ(request(R"("max_tokens": -1)").max_tokens, std::nullopt);
    EXPECT_EQ(request(R"("max_tokens": 5, "max_completion_tokens": 6)").max_tokens, 6);
    EXPECT_TRUE(request(R"("ignore_eos": true)").ignore_eos);
    EXPECT_FALSE(request(R"("cache_prompt": false)").cache);
    EXPECT_EQ(request(R"("stop": ")" + std::string(1024, 'x') + "\"").stop.front().size(), 1024u);
    EXPECT_EQ(request(R"("stop": "END")").stop, (std::vector<std::string>{"END"}));
    EXPECT_EQ(request(R"("stop": ["a", "", "b"])").stop, (std::vector<std::string>{"a", "b"}));
    EXPECT_TRUE(call(R"("stream": true)").stream);
    EXPECT_TRUE(call(R"("stream": true, "stream_options": {"include_usage": true})").include_usage);
    EXPECT_TRUE(call(R"("response_format": {"type": "text"}, "model": "any name", "user": 5)").requests.size() == 1);
}

TEST_P(BothEndpoints, SeedsOfAnySizeAreAccepted) {
    EXPECT_EQ(sampling(R"("seed": 0)").seed, 0U);
    EXPECT_EQ(sampling(R"("seed": 42)").seed, 42U);
    EXPECT_EQ(sampling(R"("seed": 4294967295)").seed, 4294967295U);
    EXPECT_EQ(sampling(R"("seed": -1)").seed, std::nullopt);
    EXPECT_NE(sampling(R"("seed": 9223372036854775807)").seed, std::nullopt);
}

TEST_P(BothEndpoints, ChoicesHaveSeedsOfTheirOwn) {
    const ApiCall three = call(R"("n": 3, "seed": 7)");
    ASSERT_EQ(three.requests.size(), 3U);
    EXPECT_EQ(three.choices_per_prompt, 3U);
    for (std::uint32_t i = 0; i < 3; ++i) {
        EXPECT_EQ(three.requests[i].sampling.seed, 7 + i);
        EXPECT_EQ(three.requests[i].prompt, three.requests[0].prompt);
    }
}

TEST_P(BothEndpoints, LogitBiasNamesTokens) {
    const auto bias = sampling(R"("logit_bias": {"5": -100, "310": 2.5})").logit_bias;
    EXPECT_EQ(bias, (std::vector<std::pair<Token, float>>{{5, -100.0f}, {310, 2.5f}}));
    EXPECT_EQ(refusal(R"("logit_bias": {"311": 1})"),
              "'logit_bias' must be an object whose names are token ids between 0 and 310");
    for (const char *key : {"-1", "1x", "", "99999999999999999999", "+1", " 1"}) {
        EXPECT_NE(refusal(fmt::format(R"("logit_bias": {{"{}": 1}})", key)).find("token ids"), std::string::npos)
            << key;
    }
    for (const char *value : {"101", "-100.5", "\"1\"", "null", "true"}) {
        EXPECT_EQ(refusal(fmt::format(R"("logit_bias": {{"1": {}}})", value)),
                  "'logit_bias' must be an object whose values are numbers between -100 and 100");
    }
}

struct Refused {
    const char *fields;
    const char *message;
};

TEST_P(BothEndpoints, WrongTypesAndBoundsNameTheField) {
    const Refused table[] = {
        {R"("temperature": "hot")", "'temperature' must be a number between 0 and 2"},
        {R"("temperature": -0.1)", "'temperature' must be a number between 0 and 2"},
        {R"("temperature": 2.1)", "'temperature' must be a number between 0 and 2"},
        {R"("temperature": true)", "'temperature' must be a number between 0 and 2"},
        {R"("top_p": 1.5)", "'top_p' must be a number between 0 and 1"},
        {R"("min_p": [])", "'min_p' must be a number between 0 and 1"},
        {R"("top_k": 1.5)", "'top_k' must be an integer between -1 and 2147483647"},
        {R"("top_k": 2147483648)", "'top_k' must be an integer between -1 and 2147483647"},
        {R"("top_k": 1e300)", "'top_k' must be an integer between -1 and 2147483647"},
        {R"("top_k": 18446744073709551615)", "'top_k' must be an integer between -1 and 2147483647"},
        {R"("presence_penalty": 3)", "'presence_penalty' must be a number between -2 and 2"},
        {R"("frequency_penalty": -3)", "'frequency_penalty' must be a number between -2 and 2"},
        {R"("repetition_penalty": 0)", "'repetition_penalty' must be a number between 0.01 and 10"},
        {R"("repeat_penalty": 11)", "'repeat_penalty' must be a number between 0.01 and 10"},
        {R"("repeat_last_n": -2)", "'repeat_last_n' must be an integer between -1 and 2147483647"},
        {R"("max_tokens": 0)", "'max_tokens' must be an integer between 1 and 2147483647, or -1 for no limit"},
        {R"("max_tokens": "5")", "'max_tokens' must be an integer between 1 and 2147483647, or -1 for no limit"},
        {R"("max_completion_tokens": 1.5)",
         "'max_completion_tokens' must be an integer between 1 and 2147483647, or -1 for no limit"},
        {R"("n": 0)", "'n' must be an integer between 1 and 64"},
        {R"("n": 65)", "'n' must be an integer between 1 and 64"},
        {R"("stream": "yes")", "'stream' must be true or false"},
        {R"("stream_options": 1)", "'stream_options' must be an object"},
        {R"("stream_options": {"include_usage": 1})", "'stream_options.include_usage' must be true or false"},
        {R"("ignore_eos": 1)", "'ignore_eos' must be true or false"},
        {R"("cache_prompt": "no")", "'cache_prompt' must be true or false"},
        {R"("seed": 1.5)", "'seed' must be an integer between -9223372036854775808 and 9223372036854775807"},
        {R"("stop": 5)", "'stop' must be a string or an array of strings"},
        {R"("stop": ["a", 5])", "'stop' must be a string or an array of strings"},
        {R"("logit_bias": [])", "'logit_bias' must be an object"},
        {R"("model": 5)", "'model' must be a string"},
        {R"("response_format": {})", "'response_format' must be an object with a 'type'"},
        {R"("response_format": "text")", "'response_format' must be an object"},
    };
    for (const Refused &row : table)
        EXPECT_EQ(refusal(row.fields), row.message) << row.fields;
}

TEST_P(BothEndpoints, ConstraintsThatWouldBeIgnoredAreRefused) {
    EXPECT_EQ(refusal(R"("response_format": {"type": "json_object"})", ErrorCode::unsupported),
              "'response_format' of type 'json_object' is not supported: only 'text' is. Leave the field out");
    EXPECT_EQ(refusal(R"("grammar": "root ::= x")", ErrorCode::unsupported),
              "'grammar' is not supported: answers cannot be constrained. Leave the field out");
    EXPECT_EQ(refusal(R"("json_schema": {"type": "object"})", ErrorCode::unsupported),
              "'json_schema' is not supported: answers cannot be constrained. Leave the field out");
}

TEST_P(BothEndpoints, TheFirstErrorIsReported) {
    EXPECT_NE(refusal(R"("temperature": 5, "top_p": 5)").find("'temperature'"), std::string::npos);
}

TEST_P(BothEndpoints, OfDuplicateFieldsTheLastCounts) {
    EXPECT_EQ(sampling(R"("top_k": 3, "top_k": 9)").top_k, 9);
    EXPECT_EQ(sampling(R"("top_k": "x", "top_k": 9)").top_k, 9);
}

TEST_P(BothEndpoints, APromptMustFitTheContext) {
    const TestContext small(10);
    const std::string chat = R"({"messages": [{"role": "user", "content": "far too long"}]})";
    const auto result = std::string(GetParam()) == "chat"
                            ? parse_chat_completion(chat, small.api())
                            : parse_completion(R"({"prompt": "01234567890"})", small.api());
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().code, ErrorCode::context_length);
    const bool is_chat = std::string(GetParam()) == "chat";
    EXPECT_EQ(result.error().what,
              is_chat
                  ? "This model's maximum context length is 10 tokens. However, your messages resulted in 31 tokens. "
                    "Please reduce the length of the messages."
                  : "This model's maximum context length is 10 tokens. However, your prompt resulted in 11 tokens. "
                    "Please reduce the length of the prompt.");
    EXPECT_TRUE(parse_completion(R"({"prompt": "0123456789"})", small.api()));
}

TEST_P(BothEndpoints, BadBodiesAreExplained) {
    const auto refused = [&](const std::string &body) {
        const auto result = std::string(GetParam()) == "chat" ? parse_chat_completion(body, context_.api())
                                                              : parse_completion(body, context_.api());
        EXPECT_FALSE(result) << body.substr(0, 50);
        if (result) return std::string("accepted");
        EXPECT_EQ(result.error().code, ErrorCode::invalid_argument);
        return result.error().what;
    };
    EXPECT_EQ(refused(""), "The body is empty: send a JSON object");
    EXPECT_EQ(refused(" \n"), "The body is empty: send a JSON object");
    EXPECT_EQ(refused("[]"), "The body must be a JSON object");
    EXPECT_EQ(refused("5"), "The body must be a JSON object");
    EXPECT_EQ(refused(R"({"prompt": "a", "messages": [{"role": "user", "content": "a"}], "stop": ")" +
                      std::string(1025, 'x') + "\"}"),
              "'stop' must be strings of at most 1024 bytes");
    EXPECT_NE(refused("{\"prompt\": ").find("The body is not valid JSON: parse error at line 1, column 12"),
              std::string::npos);
    EXPECT_NE(refused("{\"temperature\": NaN}").find("The body is not valid JSON"), std::string::npos);
    EXPECT_NE(refused("{\"temperature\": 1e999}").find("The body is not valid JSON"), std::string::npos);
    EXPECT_EQ(refused("{\"prompt\": \"\xff\"}"), "The body is not valid JSON: a text in it is not valid UTF-8");
    EXPECT_NE(refused("{\"prompt\": \"\\ud800\"}").find("The body is not valid JSON"), std::string::npos);
    EXPECT_EQ(refused(std::string(100'000, '[')), "The body is nested too deeply: at most 256 levels are accepted");
    EXPECT_EQ(refused("{\"a\": " + std::string(300, '[') + std::string(300, ']') + "}"),
              "The body is nested too deeply: at most 256 levels are accepted");
    std::string many = "{";
    for (int i = 0; i < 20'000; ++i)
        many += fmt::format("\"{}\":0,", i);
    EXPECT_EQ(refused(many + "\"x\":0}"), "The body has an object with too many fields");
}

}  // namespace
}  // namespace cairn
