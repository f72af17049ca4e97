// The history of a conversation, as the OpenAI API has it: the whole of it is sent with each request.
//
//     begin_turn(history, step, texts);            // a system prompt, an edit, the user's message
//     ... ask with history ...
//     history.push_back({"assistant", "Yes.", ""});
//
// Threads: plain values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bench/seeded_text.h"

namespace cairn {

struct Message {
    std::string role;
    std::string content;
    std::string reasoning;  ///< of an answer, where the server tells it apart
};

using Messages = std::vector<Message>;

/// How many messages of the user it has.
[[nodiscard]] unsigned turns_of(const Messages &history);
/// What parse_workload has checked holds: a turn that is edited is there.
void begin_turn(Messages &history, const Step &step, const TextSource &texts);

/// The body of POST /v1/chat/completions: greedy, streamed, with usage. `model` may be empty. `only_token`: what an
/// answer is made of, where it is to be something in particular.
[[nodiscard]] std::string chat_body(const Messages &history, unsigned max_tokens, const std::string &model,
                                    std::optional<std::uint32_t> only_token);
/// {"messages": [...]}, as POST /apply-template takes it.
[[nodiscard]] std::string messages_body(const Messages &history);
/// The history with every message marked by a character for each mark of a usual template, up to where the answer
/// begins: for servers that do not show what they make of it.
[[nodiscard]] std::string plain_rendering(const Messages &history);

}  // namespace cairn
