// ask_chat: one streamed chat completion over HTTP, blocking.
//
//     auto answer = ask_chat({"127.0.0.1", 8080, ""}, chat_body(history, 16, "", {}), 600, env);
//
// Threads: any; a connection for each call. Errors: io where nobody answers, in time or at all; internal for a status
// other than 200, with the server's message.
#pragma once

#include <string>

#include "bench/answer_stream.h"
#include "env/env.h"
#include "server/http_client.h"

namespace cairn {

/// `timeout_s`: for all of it. Times in the answer are of `env`'s clock.
[[nodiscard]] Result<ChatAnswer> ask_chat(const HttpTarget &target, const std::string &body, double timeout_s,
                                          Env &env);

}  // namespace cairn
