#include <optional>

#include "api/api.h"
#include "api/field_reader.h"
#include "api/logprobs_json.h"
#include "base/check.h"
#include "base/json_text.h"

namespace cairn {

namespace {

std::string event(const Json &json) {
    return "data: " + json_text(json) + "\n\n";
}

/// OpenAI's word; what was cancelled has nobody left who reads it.
const char *finish_word(FinishReason reason) {
    return reason == FinishReason::cancelled ? name_of(FinishReason::stop) : name_of(reason);
}

Json usage_json(const Usage &usage) {
    return {{"prompt_tokens", usage.prompt_tokens},
            {"completion_tokens", usage.completion_tokens},
            {"total_tokens", usage.prompt_tokens + usage.completion_tokens},
            {"prompt_tokens_details", {{"cached_tokens", usage.cached_tokens}}}};
}

double ratio(double a, double b) {
    return b > 0 ? a / b : 0;
}

/// llama-server's object: what was computed of the prompt, and what was generated. Unit: milliseconds.
Json timings_json(const Usage &usage, const Timings &timings) {
    const double prompt_ms = timings.prefill_s * 1e3;
    const double predicted_ms = timings.decode_s * 1e3;
    return {{"cache_n", usage.cached_tokens},
            {"prompt_n", timings.prefilled_tokens},
            {"prompt_ms", prompt_ms},
            {"prompt_per_token_ms", ratio(prompt_ms, timings.prefilled_tokens)},
            {"prompt_per_second", ratio(timings.prefilled_tokens, timings.prefill_s)},
            {"predicted_n", usage.completion_tokens},
            {"predicted_ms", predicted_ms},
            {"predicted_per_token_ms", ratio(predicted_ms, usage.completion_tokens)},
            {"predicted_per_second", ratio(usage.completion_tokens, timings.decode_s)},
            {"queue_ms", timings.queue_s * 1e3},
            {"restore_ms", timings.restore_s * 1e3}};
}

/// One choice's answer so far.
struct Choice {
    Choice(std::string echoed, std::optional<int> wanted)
        : text(std::move(echoed)),
          logprobs_wanted(wanted),
          completion_logprobs(characters(text), wanted.value_or(0) > 0) {}

    std::string text;
    std::optional<int> logprobs_wanted;
    Json chat_content = Json::array();
    CompletionLogprobs completion_logprobs;
    FinishReason reason = FinishReason::stop;
    Usage usage;
    Timings timings;
};

}  // namespace

struct ResponseWriter::Impl {
    Impl(const ApiCall &call, const ApiContext &context, std::string given_id, std::int64_t given_created)
        : kind(call.kind),
          stream(call.stream),
          include_usage(call.include_usage),
          choices_per_prompt(call.choices_per_prompt),
          id(std::move(given_id)),
          created(given_created),
          model(context.model_name) {
        for (std::size_t i = 0; i < call.requests.size(); ++i) {
            choices.emplace_back(call.echo ? call.echo_text[i] : std::string(), call.requests[i].logprobs);
        }
    }

    [[nodiscard]] bool chat() const { return kind == CallKind::chat; }

    [[nodiscard]] Json head(const char *chat_object) const {
        return {{"id", id},
                {"object", chat() ? chat_object : "text_completion"},
                {"created", created},
                {"model", model},
                {"system_fingerprint", "cairn-" CAIRN_VERSION}};
    }

    /// A chunk with one choice, whose `delta` (chat) or `text` (completion) is `content`.
    [[nodiscard]] Json chunk(std::size_t index, Json content, Json logprobs, Json finish_reason) const {
        Json choice = {{"index", index}};
        choice[chat() ? "delta" : "text"] = std::move(content);
        choice["logprobs"] = std::move(logprobs);
        choice["finish_reason"] = std::move(finish_reason);
        Json json = head("chat.completion.chunk");
        json["choices"] = Json::array({std::move(choice)});
        if (include_usage) json["usage"] = nullptr;  // as OpenAI: only the last chunk has it
        return json;
    }

    /// What was recorded of a choice's log probabilities since the last call.
    [[nodiscard]] Json take_logprobs(Choice &choice) const {
        if (!choice.logprobs_wanted) return nullptr;
        if (!chat()) return choice.completion_logprobs.take();
        Json content = std::move(choice.chat_content);
        choice.chat_content = Json::array();
        return {{"content", std::move(content)}, {"refusal", nullptr}};
    }

    void record(Choice &choice, const std::vector<TokenLogprobs> &logprobs) const {
        if (!choice.logprobs_wanted) return;
        if (!chat()) return choice.completion_logprobs.add(logprobs);
        for (Json &entry : chat_logprobs(logprobs))
            choice.chat_content.push_back(std::move(entry));
    }

    /// Of a prompt with several choices the first one's counts: the others share what it computed.
    [[nodiscard]] Usage total_usage() const {
        Usage total;
        for (std::size_t i = 0; i < choices.size(); ++i) {
            total.completion_tokens += choices[i].usage.completion_tokens;
            if (i % choices_per_prompt != 0) continue;
            total.prompt_tokens += choices[i].usage.prompt_tokens;
            total.cached_tokens += choices[i].usage.cached_tokens;
        }
        return total;
    }

    [[nodiscard]] Json total_timings() const {
        Usage usage;
        Timings sum;
        for (const Choice &choice : choices) {
            usage.completion_tokens += choice.usage.completion_tokens;
            usage.cached_tokens += choice.usage.cached_tokens;
            sum.queue_s += choice.timings.queue_s;
            sum.restore_s += choice.timings.restore_s;
            sum.prefill_s += choice.timings.prefill_s;
            sum.decode_s += choice.timings.decode_s;
            sum.prefilled_tokens += choice.timings.prefilled_tokens;
        }
        return timings_json(usage, sum);
    }

    [[nodiscard]] std::string body() {
        Json list = Json::array();
        for (std::size_t i = 0; i < choices.size(); ++i) {
            Json choice = {{"index", i}};
            if (chat()) {
                choice["message"] = {{"role", "assistant"}, {"content", choices[i].text}, {"refusal", nullptr}};
            } else {
                choice["text"] = choices[i].text;
            }
            choice["logprobs"] = take_logprobs(choices[i]);
            choice["finish_reason"] = finish_word(choices[i].reason);
            list.push_back(std::move(choice));
        }
        Json json = head("chat.completion");
        json["choices"] = std::move(list);
        json["usage"] = usage_json(total_usage());
        json["timings"] = total_timings();
        return json_text(json);
    }

    CallKind kind;
    bool stream;
    bool include_usage;
    std::size_t choices_per_prompt;
    std::string id;
    std::int64_t created;
    std::string model;
    std::vector<Choice> choices;
};

ResponseWriter::ResponseWriter(const ApiCall &call, const ApiContext &context, std::string id, std::int64_t created)
    : impl_(std::make_unique<Impl>(call, context, std::move(id), created)) {}

ResponseWriter::~ResponseWriter() = default;

std::string ResponseWriter::begin(std::size_t choice) {
    CAIRN_CHECK(choice < impl_->choices.size(), "choice {} of {}", choice, impl_->choices.size());
    if (!impl_->stream) return {};
    if (impl_->chat()) {
        return event(
            impl_->chunk(choice, {{"role", "assistant"}, {"content", ""}, {"refusal", nullptr}}, nullptr, nullptr));
    }
    const std::string &echo = impl_->choices[choice].text;
    return echo.empty() ? std::string() : event(impl_->chunk(choice, echo, nullptr, nullptr));
}

std::string ResponseWriter::delta(std::size_t choice, std::string_view text,
                                  const std::vector<TokenLogprobs> &logprobs) {
    CAIRN_CHECK(choice < impl_->choices.size(), "choice {} of {}", choice, impl_->choices.size());
    Choice &state = impl_->choices[choice];
    impl_->record(state, logprobs);
    if (!impl_->stream) {
        state.text += text;
        return {};
    }
    if (text.empty() && (!state.logprobs_wanted || logprobs.empty())) return {};
    Json content = impl_->chat() ? Json::object({{"content", text}}) : Json(text);
    return event(impl_->chunk(choice, std::move(content), impl_->take_logprobs(state), nullptr));
}

std::string ResponseWriter::finish(std::size_t choice, FinishReason reason, const Usage &usage,
                                   const Timings &timings) {
    CAIRN_CHECK(choice < impl_->choices.size(), "choice {} of {}", choice, impl_->choices.size());
    Choice &state = impl_->choices[choice];
    state.reason = reason;
    state.usage = usage;
    state.timings = timings;
    if (!impl_->stream) return {};
    Json json = impl_->chunk(choice, impl_->chat() ? Json::object() : Json(""), nullptr, finish_word(reason));
    json["timings"] = timings_json(usage, timings);
    return event(json);
}

std::string ResponseWriter::failed(const Error &error) {
    const std::string body = error_body(error);
    return impl_->stream ? "data: " + body + "\n\n" : body;
}

std::string ResponseWriter::end() {
    if (!impl_->stream) return impl_->body();
    std::string text;
    if (impl_->include_usage) {
        Json json = impl_->head("chat.completion.chunk");
        json["choices"] = Json::array();
        json["usage"] = usage_json(impl_->total_usage());
        text = event(json);
    }
    return text + "data: [DONE]\n\n";
}

}  // namespace cairn
