#include "bench/answer_stream.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "base/json_text.h"

namespace cairn {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kMostQuoted = 300;

/// The member, or null.
const Json &at(const Json &json, const char *key) {
    static const Json null;
    if (!json.is_object()) return null;
    const auto found = json.find(key);
    return found == json.end() ? null : *found;
}

/// What no count of tokens can be is not one.
void read_count(const Json &json, std::optional<long> &into) {
    constexpr double kMost = 1e9;
    if (json.is_number() && json.get<double>() >= 0 && json.get<double>() <= kMost) into = json.get<long>();
}

bool append(const Json &text, std::string &to) {
    if (!text.is_string() || text.get_ref<const std::string &>().empty()) return false;
    to += text.get_ref<const std::string &>();
    return true;
}

std::string error_text(const Json &error) {
    if (error.is_string()) return error;
    const Json &message = at(error, "message");
    return message.is_string() ? message.get<std::string>() : json_text(error);
}

}  // namespace

void AnswerStream::feed(std::string_view bytes, double now_s) {
    while (true) {
        const auto end = bytes.find('\n');
        unfinished_line_.append(bytes.substr(0, end));
        if (end == std::string_view::npos) return;
        if (!unfinished_line_.empty() && unfinished_line_.back() == '\r') unfinished_line_.pop_back();
        take_line(unfinished_line_, now_s);
        unfinished_line_.clear();
        bytes.remove_prefix(end + 1);
    }
}

void AnswerStream::take_line(std::string_view line, double now_s) {
    for (const std::string_view field : {"data:", "error:"}) {
        if (!line.starts_with(field)) continue;
        line.remove_prefix(field.size());
        if (line.starts_with(' ')) line.remove_prefix(1);
        if (line == "[DONE]") {
            ended_ = true;
            return;
        }
        const Json event = Json::parse(line, nullptr, false);
        if (event.is_discarded() || !event.is_object())
            error_ = "an event is no JSON object: " + std::string(line.substr(0, kMostQuoted));
        else if (field == "error:" && !event.contains("error"))
            error_ = error_text(event);
        else
            take_event(event, now_s);
        return;
    }
}

void AnswerStream::take_event(const Json &event, double now_s) {
    if (!at(event, "error").is_null()) error_ = error_text(at(event, "error"));
    take_counts(event);
    const Json &choices = at(event, "choices");
    if (!choices.is_array() || choices.empty()) return;
    const Json &choice = choices[0];
    const Json &delta = at(choice, "delta");
    const bool text = append(at(delta, "content"), answer_.content);
    // vLLM's name for it is the second.
    const bool thought =
        append(at(delta, "reasoning_content"), answer_.reasoning) || append(at(delta, "reasoning"), answer_.reasoning);
    if (text || thought) answer_.piece_times_s.push_back(now_s);
    if (at(choice, "finish_reason").is_string()) ended_ = true;
}

void AnswerStream::take_counts(const Json &event) {
    const Json &timings = at(event, "timings");
    if (!answer_.cached_tokens) read_count(at(timings, "cache_n"), answer_.cached_tokens);
    read_count(at(timings, "prompt_n"), computed_tokens_);
    const Json &usage = at(event, "usage");
    read_count(at(usage, "prompt_tokens"), answer_.prompt_tokens);
    read_count(at(usage, "completion_tokens"), answer_.completion_tokens);
    read_count(at(at(usage, "prompt_tokens_details"), "cached_tokens"), answer_.cached_tokens);
}

Result<ChatAnswer> AnswerStream::finish() {
    if (!error_.empty()) return fail(ErrorCode::internal, "the server broke its answer off: {}", error_);
    if (!ended_) return fail(ErrorCode::io, "the answer broke off before its end");
    if (!answer_.cached_tokens && answer_.prompt_tokens && computed_tokens_)
        answer_.cached_tokens = *answer_.prompt_tokens - *computed_tokens_;
    return std::move(answer_);
}

std::string message_in(std::string_view body) {
    const Json json = Json::parse(body, nullptr, false);
    const Json &error = at(json, "error");
    if (!error.is_null()) return error_text(error);
    return std::string(body.substr(0, kMostQuoted));
}

}  // namespace cairn
