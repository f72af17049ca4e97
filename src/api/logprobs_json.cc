#include "api/logprobs_json.h"

#include <algorithm>
#include <cmath>

#include "api/json_bytes.h"

namespace cairn {

namespace {

/// JSON has no infinity: OpenAI's value for a token that cannot be.
constexpr float kImpossible = -9999.0f;

double finite(float logprob) {
    return std::isfinite(logprob) ? std::max(logprob, kImpossible) : kImpossible;
}

/// OpenAI's spelling of a token that is a part of a character: bytes:\xe2\x82
std::string readable(const std::string &text) {
    if (is_utf8(text)) return text;
    std::string result = "bytes:";
    for (const char c : text)
        result += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    return result;
}

Json chat_entry(const TokenLogprob &token) {
    return {{"token", token.text}, {"logprob", finite(token.logprob)}, {"bytes", json_bytes(token.text)}};
}

}  // namespace

std::size_t characters(std::string_view text) noexcept {
    return static_cast<std::size_t>(
        std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

Json chat_logprobs(const std::vector<TokenLogprobs> &tokens) {
    Json content = Json::array();
    for (const TokenLogprobs &token : tokens) {
        Json entry = chat_entry(token.chosen);
        entry["top_logprobs"] = Json::array();
        for (const TokenLogprob &other : token.top)
            entry["top_logprobs"].push_back(chat_entry(other));
        content.push_back(std::move(entry));
    }
    return content;
}

void CompletionLogprobs::reset() {
    json_ = {{"tokens", Json::array()}, {"token_logprobs", Json::array()}};
    json_["top_logprobs"] = with_top_ ? Json::array() : Json();
    json_["text_offset"] = Json::array();
}

void CompletionLogprobs::add(const std::vector<TokenLogprobs> &tokens) {
    for (const TokenLogprobs &token : tokens) {
        json_["tokens"].push_back(readable(token.chosen.text));
        json_["token_logprobs"].push_back(finite(token.chosen.logprob));
        json_["text_offset"].push_back(offset_);
        offset_ += characters(token.chosen.text);
        if (!with_top_) continue;
        Json top = Json::object();
        for (const TokenLogprob &other : token.top)
            top[readable(other.text)] = finite(other.logprob);
        json_["top_logprobs"].push_back(std::move(top));
    }
}

Json CompletionLogprobs::take() {
    Json taken = std::move(json_);
    reset();
    return taken;
}

}  // namespace cairn
