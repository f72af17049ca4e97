// RequestHead: what the server wants to know of a request before it reads the body.
//
// Thread rule: plain value, made from a parsed header.
#pragma once

#include <string>
#include <string_view>

#include "server/net.h"

namespace cairn {

struct RequestHead {
    std::string method;
    std::string path;           ///< without scheme, host and query
    std::string host;           ///< the Host header
    std::string authorization;  ///< the Authorization header
    std::string api_key;        ///< the X-Api-Key header
    std::string origin;         ///< the Origin header
    std::string asked_headers;  ///< the Access-Control-Request-Headers header
    std::string encoding;       ///< the Content-Encoding header
    std::string expect;         ///< the Expect header
    std::string transfer;       ///< the Transfer-Encoding header
    bool http_1_0 = false;
    bool keep_alive = false;
    bool has_body = false;

    [[nodiscard]] bool is_head() const noexcept { return method == "HEAD"; }
};

[[nodiscard]] RequestHead head_of(const RequestParser &parser);
/// The path of a request target: "/a?x=1" and "http://host/a" are "/a"; "*" stays.
[[nodiscard]] std::string_view path_of(std::string_view target) noexcept;
/// Undoes %XX; malformed escapes stay as they are.
[[nodiscard]] std::string percent_decoded(std::string_view text);

}  // namespace cairn
