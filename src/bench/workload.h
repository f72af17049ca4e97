// Workload: what `cairn bench` asks, as data. The grammar of the files is in docs/bench.md.
//
//     auto workload = parse_workload("bench/workloads/edits.json", text);
//     for (const Stage &stage : workload->stages) ...
//
// Parsing writes everything out: repeats, copies and the placeholders {round}, {copy}, {turn} are gone from the value.
// It also follows the conversations, so that a workload that parses can be run: an edited turn is there, a forked
// conversation has been begun.
//
// Threads: plain values. Errors: invalid_argument, with the file, the field and what it must be.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cairn/error.h"

namespace cairn {

/// Literal text, or so many seeded words: the same seed names the same text.
struct TextPart {
    std::string literal;
    unsigned words = 0;  ///< 0: it is `literal`
    std::string seed;
};

/// Parts with a blank line between them.
using TextPlan = std::vector<TextPart>;

/// One request: a user's message, and what it is put behind.
struct Step {
    std::optional<TextPlan> system;  ///< of the first turn only
    TextPlan user;
    unsigned edit = 0;               ///< the turn, from 1, that is replaced with all that followed it; 0: none
    std::optional<TextPlan> answer;  ///< stands in the history instead of what the server answered
    unsigned max_tokens = 16;
};

struct ConversationPlan {
    std::string name;  ///< one that was begun in an earlier stage goes on
    std::string fork;  ///< the conversation whose history it begins with, as of the beginning of the stage; empty: none
    std::vector<Step> steps;
};

struct Stage {
    bool restart = false;   ///< the server is restarted; nothing is asked
    bool warm_up = false;   ///< what is asked only prepares the stages that follow, and counts in no sum
    bool together = false;  ///< conversations run at once; else one request at a time: a1 b1 a2 b2
    std::vector<ConversationPlan> conversations;
};

struct Workload {
    std::string name;
    std::string about;  ///< one sentence
    std::vector<Stage> stages;
};

/// `file`: what errors call it.
[[nodiscard]] Result<Workload> parse_workload(const std::string &file, std::string_view json);

[[nodiscard]] std::size_t count_requests(const Workload &workload);
[[nodiscard]] bool needs_restart(const Workload &workload);

}  // namespace cairn
