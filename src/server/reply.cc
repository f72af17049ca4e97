#include "server/reply.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <iterator>
#include <nlohmann/json.hpp>

#include "api/api.h"
#include "base/error_table.h"
#include "base/json_text.h"
#include "server/net.h"

namespace cairn {
namespace {

constexpr int kUnavailable = 503;
constexpr int kClientClosed = 499;
constexpr double kSoonestRetry = 1;
constexpr double kLatestRetry = 60;

std::string_view reason_phrase(int status) {
    if (status == kClientClosed) return "Client Closed Request";
    const auto text = http::obsolete_reason(http::int_to_status(static_cast<unsigned>(status)));
    return {text.data(), text.size()};
}

void add_retry_after(Reply &reply, double seconds) {
    if (reply.status != kUnavailable) return;
    const double whole = std::ceil(std::clamp(seconds, kSoonestRetry, kLatestRetry));
    reply.headers.emplace_back("Retry-After", fmt::format("{:.0f}", whole));
}

}  // namespace

Reply error_reply(const Error &error, double retry_after_s) {
    Reply reply{.status = row_of(error.code).http_status, .headers = {}, .body = error_body(error)};
    add_retry_after(reply, retry_after_s);
    return reply;
}

Reply error_reply(int status, std::string_view type, std::string_view code, std::string_view message) {
    const nlohmann::json fields{{"message", message}, {"type", type}, {"code", code}, {"param", nullptr}};
    const nlohmann::json body{{"error", fields}};
    // A message may quote what the client sent, which need not be UTF-8.
    Reply reply{.status = status, .headers = {}, .body = json_text(body)};
    add_retry_after(reply, kSoonestRetry);
    return reply;
}

std::string head_text(const Reply &reply, Framing framing, std::int64_t unix_time_s) {
    std::string text;
    auto out = std::back_inserter(text);
    fmt::format_to(out, "HTTP/1.1 {} {}\r\n", reply.status, reason_phrase(reply.status));
    fmt::format_to(out, "Server: cairn\r\nDate: {:%a, %d %b %Y %H:%M:%S} GMT\r\n",
                   fmt::gmtime(static_cast<std::time_t>(unix_time_s)));
    fmt::format_to(out, "Connection: {}\r\n", framing.keep_alive ? "keep-alive" : "close");
    if (!reply.content_type.empty()) fmt::format_to(out, "Content-Type: {}\r\n", reply.content_type);
    if (!framing.chunked) {
        if (reply.status != 204) fmt::format_to(out, "Content-Length: {}\r\n", reply.body.size());
    } else if (!framing.http_1_0) {
        text += "Transfer-Encoding: chunked\r\n";
    }
    for (const auto &[name, value] : reply.headers)
        fmt::format_to(out, "{}: {}\r\n", name, value);
    text += "\r\n";
    return text;
}

std::string chunk_text(std::string_view text) {
    return fmt::format("{:x}\r\n{}\r\n", text.size(), text);
}

}  // namespace cairn
