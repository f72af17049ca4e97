// AnswerStream: an OpenAI server's answer out of its server-sent events, with the time of each piece of text.
//
//     AnswerStream stream;
//     stream.feed(bytes, env.now_s());       // as they come, cut anywhere
//     Result<ChatAnswer> answer = stream.finish();
//
// A piece (a "delta") is usually a token. Pieces that come in one read have the same time. Reasoning counts as text.
// Cached tokens are usage.prompt_tokens_details.cached_tokens, or timings.cache_n, or prompt_tokens - timings.prompt_n.
//
// Threads: one. Errors: io where the stream broke off; internal where the server says an error in it.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cairn/error.h"

namespace cairn {

struct ChatAnswer {
    std::string content;
    std::string reasoning;
    std::vector<double> piece_times_s;  ///< on the clock that `feed` was given
    std::optional<long> prompt_tokens;  ///< these three: nothing where the server does not say
    std::optional<long> completion_tokens;
    std::optional<long> cached_tokens;
};

class AnswerStream {
public:
    void feed(std::string_view bytes, double now_s);
    [[nodiscard]] Result<ChatAnswer> finish();

private:
    void take_line(std::string_view line, double now_s);
    void take_event(const nlohmann::json &event, double now_s);
    void take_counts(const nlohmann::json &event);

    ChatAnswer answer_;
    std::optional<long> computed_tokens_;
    std::string unfinished_line_;
    std::string error_;
    bool ended_ = false;
};

/// What an error's body says: its error.message, or its beginning as it is.
[[nodiscard]] std::string message_in(std::string_view body);

}  // namespace cairn
