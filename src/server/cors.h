// CORS: pages of any origin may use the server, as with llama-server.
//
// There are no cookies: what protects a server is its API key and the address it listens on.
// Thread rule: free functions without state.
#pragma once

#include <string_view>

#include "server/reply.h"
#include "server/request_head.h"

namespace cairn {

/// Headers of every answer to a request with an Origin; none without one.
[[nodiscard]] Headers cors_headers(const RequestHead &head);
/// The answer to OPTIONS. `methods`: what the path takes, "GET, HEAD".
[[nodiscard]] Reply preflight_reply(const RequestHead &head, std::string_view methods);

}  // namespace cairn
