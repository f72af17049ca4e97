// http_call: one HTTP request and its whole answer, blocking, with a limit of time. For `cairn cache`, which talks to a
// server on the same machine.
//
//     auto reply = http_call({"127.0.0.1", 8080, "token"}, "GET", "/admin/cache", "", 60);
//     if (reply->status == 200) ... reply->body
//
// Threads: any. Errors: io where nobody answers, or not in time; the address and the reason are named.
// Cost: a connection for each call; the answer is held in memory, up to 1 GiB.
#pragma once

#include <cstdint>
#include <string>

#include "cairn/error.h"

namespace cairn {

struct HttpTarget {
    std::string host;  ///< an address, no name
    std::uint16_t port = 0;
    std::string token;  ///< for "Authorization: Bearer"; empty: none
};

struct HttpReply {
    int status = 0;
    std::string body;
};

/// `timeout_s`: for all of it; connecting has at most 5 s of them.
[[nodiscard]] Result<HttpReply> http_call(const HttpTarget &target, const std::string &method, const std::string &path,
                                          const std::string &body, double timeout_s);

}  // namespace cairn
