// Reply: one whole HTTP answer as a value, and its bytes.
//
//     Reply reply = error_reply(Error{ErrorCode::capacity, "..."});
//     send(head_text(reply, framing) + reply.body);
//
// Header names and values are the program's own or were checked by the HTTP parser: they hold no line breaks.
// Thread rule: plain values, free functions without state.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cairn/error.h"

namespace cairn {

using Headers = std::vector<std::pair<std::string, std::string>>;

struct Reply {
    int status = 200;
    std::string content_type = "application/json; charset=utf-8";
    Headers headers;
    std::string body;
};

/// How an answer's end is marked, from what the client speaks.
struct Framing {
    bool http_1_0 = false;    ///< no chunks: the end of a stream is the end of the connection
    bool keep_alive = false;  ///< the connection takes another request
    bool chunked = false;     ///< the body comes in pieces behind the head, else it is reply.body
};

/// Statuses by ErrorCode (base/error_table.h); a 503 comes with Retry-After: `retry_after_s`, in whole seconds between
/// 1 and 60.
[[nodiscard]] Reply error_reply(const Error &error, double retry_after_s = 0);
/// For failures that are HTTP's own. `type` and `code` as the fields of an OpenAI error.
[[nodiscard]] Reply error_reply(int status, std::string_view type, std::string_view code, std::string_view message);

/// Status line and headers, through the empty line. `unix_time_s` makes the Date.
[[nodiscard]] std::string head_text(const Reply &reply, Framing framing, std::int64_t unix_time_s);
/// `text`, not empty, as one chunk.
[[nodiscard]] std::string chunk_text(std::string_view text);
inline constexpr std::string_view kLastChunk = "0\r\n\r\n";
inline constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";

}  // namespace cairn
