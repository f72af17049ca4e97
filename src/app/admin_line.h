// The line by which a running server says in its cache directory's LOCK file where its admin interface is.
//
//     pid 71, cairn serve -m model.gguf                    what people are told
//     admin http://127.0.0.1:8080 4f1c...                  this line: where, and the token
//
// The file is its owner's alone, so whoever can read it may do to the cache what he could do to its files.
// Pure. Threads: any.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "env/env.h"
#include "server/http_client.h"

namespace cairn {

/// 128 random bits, as hexadecimal digits.
[[nodiscard]] std::string make_admin_token(Env &env);
/// `host`: what the server was bound to; where that is every address, or a name, the line says this machine's own.
[[nodiscard]] std::string admin_line(const std::string &host, std::uint16_t port, const std::string &token);
/// Nothing where `holder` has no such line, or half of one.
[[nodiscard]] std::optional<HttpTarget> parse_admin_line(std::string_view holder);

}  // namespace cairn
