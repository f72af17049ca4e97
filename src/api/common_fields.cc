#include "api/common_fields.h"

#include <algorithm>
#include <charconv>
#include <limits>

namespace cairn {

namespace {

constexpr std::int64_t kMaxInt = std::numeric_limits<std::int32_t>::max();

/// The seed that counts, of any integer: small ones are kept as they are, -1 asks for a random one, as in llama-server.
std::optional<std::uint32_t> folded_seed(std::int64_t seed) {
    if (seed == -1) return std::nullopt;
    const auto bits = static_cast<std::uint64_t>(seed);
    return static_cast<std::uint32_t>(bits ^ (bits >> 32));
}

void read_logit_bias(FieldReader &fields, const ApiContext &context, SamplingParams &sampling) {
    const Json *bias = fields.object("logit_bias");
    if (bias == nullptr) return;
    for (const auto &[key, value] : bias->items()) {
        Token token = -1;
        const auto parsed = std::from_chars(key.data(), key.data() + key.size(), token);
        if (parsed.ec != std::errc() || parsed.ptr != key.data() + key.size() || !context.vocabulary.contains(token)) {
            fields.must_be("logit_bias", fmt::format("an object whose names are token ids between 0 and {}",
                                                     context.vocabulary.size() - 1));
            return;
        }
        const double amount = value.is_number() ? value.get<double>() : 1000;
        if (!(amount >= -100 && amount <= 100)) {
            fields.must_be("logit_bias", "an object whose values are numbers between -100 and 100");
            return;
        }
        sampling.logit_bias.emplace_back(token, static_cast<float>(amount));
    }
}

void set_number(FieldReader &fields, const char *name, double min, double max, float &target) {
    if (const auto value = fields.number(name, min, max)) target = static_cast<float>(*value);
}

SamplingParams read_sampling(FieldReader &fields, const ApiContext &context) {
    SamplingParams sampling;
    set_number(fields, "temperature", 0, 2, sampling.temperature);
    set_number(fields, "top_p", 0, 1, sampling.top_p);
    set_number(fields, "min_p", 0, 1, sampling.min_p);
    set_number(fields, "presence_penalty", -2, 2, sampling.presence_penalty);
    set_number(fields, "frequency_penalty", -2, 2, sampling.frequency_penalty);
    set_number(fields, "repeat_penalty", 0.01, 10, sampling.repetition_penalty);
    set_number(fields, "repetition_penalty", 0.01, 10, sampling.repetition_penalty);
    if (const auto top_k = fields.integer("top_k", -1, kMaxInt)) {
        sampling.top_k = static_cast<int>(std::max<std::int64_t>(*top_k, 0));
    }
    if (const auto last_n = fields.integer("repeat_last_n", -1, kMaxInt)) {
        sampling.penalty_last_n = static_cast<int>(*last_n);
    }
    constexpr auto kAny = std::numeric_limits<std::int64_t>();
    if (const auto seed = fields.integer("seed", kAny.min(), kAny.max())) sampling.seed = folded_seed(*seed);
    read_logit_bias(fields, context, sampling);
    return sampling;
}

/// OpenAI's newer name wins; -1 is llama-server's word for no limit.
std::optional<TokenPos> read_max_tokens(FieldReader &fields) {
    std::optional<TokenPos> result;
    for (const char *name : {"max_tokens", "max_completion_tokens"}) {
        const Json *value = fields.any(name);
        if (value == nullptr) continue;
        const auto number = integer_in(*value, -1, kMaxInt);
        if (!number || *number == 0) {
            fields.must_be(name, fmt::format("an integer between 1 and {}, or -1 for no limit", kMaxInt));
        } else {
            result = *number == -1 ? std::nullopt : std::optional(static_cast<TokenPos>(*number));
        }
    }
    return result;
}

constexpr std::size_t kMostStopBytes = 1024;

std::vector<std::string> read_stop(FieldReader &fields) {
    const Json *stop = fields.any("stop");
    std::vector<std::string> result;
    if (stop == nullptr) return result;
    const Json list = stop->is_array() ? *stop : Json::array({*stop});
    for (const Json &text : list) {
        if (!text.is_string()) {
            fields.must_be("stop", "a string or an array of strings");
            return {};
        }
        if (!text.get_ref<const std::string &>().empty()) result.push_back(text.get<std::string>());
    }
    if (result.size() > 64) fields.must_be("stop", "an array of at most 64 strings");
    // Each choice has a copy of its own.
    for (const std::string &text : result) {
        if (text.size() > kMostStopBytes) fields.must_be("stop", "strings of at most 1024 bytes");
    }
    return result;
}

/// Asked for constraints that are not enforced would be silently wrong answers.
void refuse_constraints(FieldReader &fields, FirstError &error) {
    if (const Json *format = fields.object("response_format")) {
        const auto type = FieldReader(*format, "response_format", error).text("type");
        if (!type) {
            fields.must_be("response_format", "an object with a 'type'");
        } else if (*type != "text") {
            fields.unsupported(
                "response_format",
                fmt::format("of type '{}' is not supported: only 'text' is. Leave the field out", *type));
        }
    }
    for (const char *name : {"grammar", "json_schema"}) {
        const Json *value = fields.any(name);
        if (value != nullptr && !value->empty() && *value != "") {
            fields.unsupported(name, "is not supported: answers cannot be constrained. Leave the field out");
        }
    }
}

}  // namespace

CommonFields read_common(FieldReader &fields, FirstError &error, const ApiContext &context) {
    CommonFields common;
    common.request.sampling = read_sampling(fields, context);
    common.request.max_tokens = read_max_tokens(fields);
    common.request.stop = read_stop(fields);
    common.request.ignore_eos = fields.boolean("ignore_eos").value_or(false);
    common.request.cache = fields.boolean("cache_prompt").value_or(true);
    common.n = static_cast<std::size_t>(fields.integer("n", 1, 64).value_or(1));
    common.stream = fields.boolean("stream").value_or(false);
    if (const Json *options = fields.object("stream_options")) {
        common.include_usage = FieldReader(*options, "stream_options", error).boolean("include_usage").value_or(false);
    }
    (void)fields.text("model");  // any name is served by the model there is
    refuse_constraints(fields, error);
    return common;
}

Status add_choices(ApiCall &call, const CommonFields &common, Tokens prompt, std::vector<CheckpointHint> checkpoints,
                   const ApiContext &context, const char *subject) {
    const auto size = prompt.size();
    if (size == 0) return fail(ErrorCode::invalid_argument, "'{}' must give at least one token", subject);
    if (size > static_cast<std::size_t>(std::max(context.limits.context, 0))) {
        return fail(ErrorCode::context_length,
                    "This model's maximum context length is {} tokens. However, your {} resulted in {} tokens. Please "
                    "reduce the length of the {}.",
                    context.limits.context, subject, size, subject);
    }
    Request request = common.request;
    request.prompt = std::move(prompt);
    request.checkpoints = std::move(checkpoints);
    for (std::size_t i = 0; i < common.n; ++i) {
        call.requests.push_back(request);
        // The choices of one prompt shall differ, and the same seed shall give the same choices.
        if (request.sampling.seed) *request.sampling.seed += 1;
    }
    return {};
}

}  // namespace cairn
