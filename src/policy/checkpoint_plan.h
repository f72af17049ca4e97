// Where to cut a prefill so that state can be kept: facts in, positions out.
//
//     auto plan = plan_checkpoints(prompt.size(), request.checkpoints, 8192, lookup.first_difference, lookup.depth);
//     for (auto [pos, kind] : plan) ...      // ascending, each position once
//
//     0        resume_pos                                             prompt_size
//     |-----------|-----|-------------|-----------|------------------|-|
//        restored       fork          interval    last_user          prompt_end = prompt_size - 1
//
// What is planned, most important first; where positions coincide the first kind of this list names the checkpoint:
//     hints       system_end, last_user and whatever else the client says will come back: kept
//     prompt_end  prompt_size - 1: the logits of the last token are needed, so it stays uncomputed, and the identical
//                 prompt computes one token. Always kept
//     fork        where this prompt left a known path: seen once, it will be seen again
//     interval    multiples of `interval`: for prompts that will part where nobody said they would
//
// A checkpoint at p serves the prompts that part from this one between p and the next checkpoint, and saves each of
// them the tokens from the previous one up to p. Hence the spacing (kMinCheckpointSpacing, in tokens):
//     last_user   dropped where resume_pos lies nearer than kMinHintSpacing before it: an edited message resumes
//                 there, and each turn of a conversation is spared a step.
//     fork        dropped where a checkpoint of higher priority, resume_pos or the start lies nearer than the spacing
//                 before it: little is saved. What follows it does not matter: prompts that part at the fork cannot
//                 use it, and a short private tail behind a shared prefix is the common case.
//     interval    dropped where any of those, or a fork, lies nearer than the spacing on either side: little is saved,
//                 or few part there. An interval below the spacing is its own spacing: the user asked for it.
// Why 32 for hints, which are known to come back: a step of its own takes as long as computing 5 to 30 tokens more
// does. Why 64: at 5,000 tokens/s they are prefilled in 13 ms, about what capturing one state of 50 to 150 MiB takes.
//
// Thread rule: a free function without state. Cost: linear in the positions planned.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "cairn/request.h"
#include "cairn/types.h"

namespace cairn {

inline constexpr TokenPos kMinCheckpointSpacing = 64;
inline constexpr TokenPos kMinHintSpacing = 32;

struct PlannedCheckpoint {
    TokenPos pos = 0;
    CheckpointKind kind = CheckpointKind::prompt_end;

    friend bool operator==(const PlannedCheckpoint &, const PlannedCheckpoint &) = default;
};

/// Positions in (resume_pos, prompt_size), ascending, unique. `resume_pos`: where a state was taken over, most often at
/// a checkpoint; or 0. Hints and a fork outside are ignored; interval <= 0 plans none of its kind. A prompt of one
/// token plans nothing.
[[nodiscard]] std::vector<PlannedCheckpoint> plan_checkpoints(TokenPos prompt_size,
                                                              std::span<const CheckpointHint> hints, TokenPos interval,
                                                              std::optional<TokenPos> fork_pos, TokenPos resume_pos,
                                                              TokenPos min_spacing = kMinCheckpointSpacing);

}  // namespace cairn
