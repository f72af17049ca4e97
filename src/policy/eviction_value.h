// What a snapshot is worth keeping: the one number that decides who is evicted first.
//
//     std::min_element(snapshots, by eviction_value({.last_use_s = s.last_use_s, .now_s = env.now_s(), ...}))
//
//               seconds that a hit saves x chance of a hit
//     value = ------------------------------------------------      Lower is evicted first. Values compare only between
//             bytes that leaving frees x sqrt(wait for the hit)     snapshots of one tier at one `now_s`.
//
// Seconds saved: tokens_saved * seconds_per_token, or what reading a slower copy takes where there is one and that is
// less. `tokens_saved` must be true now: beyond the next shallower snapshot that is still there. Then evicting one at a
// time is right: the loss of a state near its neighbour is small and makes the neighbour worth more, so states thin out
// evenly instead of going in blocks, and a long conversation keeps the one end that stands for all of it.
//
// Chance of a hit: a state either comes back after a delay whose tail falls with the first power of time, or never
// does. Not having seen it for `age` makes "never" more likely:
//     odds = odds(kind) * sqrt(1 + hits) / (1 + age / (tau(kind) + own))          chance = odds / (1 + odds)
//     age    since this very snapshot was consumed or published: a hit deeper on its path does not refresh it
//     own    mean time between its uses so far: what comes back every hour is not cold after ten minutes
//     hits   by their root, as a burst that is over must not outlive everything else
//     odds, tau by kind: a table in the .cc, from public traces. Ends of prompts and answers are continued soon or
//            never; with deeper states behind them they are rarely come back to. Ends of system prompts and forks are
//            shared by many and age slowly. Intervals serve prompts that part where nobody said they would; of them
//            the shallow ones are the likelier, as prompts that share a path part early rather than late: their odds
//            are scaled by tokens_saved / position.
// Wait: tau + own + age, as what has been silent for long will be for as long again. Bytes that are held for long
//     cannot serve others meanwhile. By its root: agents with 16 GiB computed 53 % of their tokens without it and 44 %
//     with its root or all of it (tau of ends 120 s, before the table was settled on the same traces).
// No steps anywhere: with all else equal the least recently used goes first.
//
// Thread rule: a free function without state. Facts that make no sense (negative, not a number) count as not known.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "cairn/request.h"
#include "cairn/types.h"

namespace cairn {

struct SnapshotFacts {
    double last_use_s = 0;  ///< when it was last consumed or published, on the clock of now_s
    double now_s = 0;
    std::size_t bytes = 0;         ///< that evicting it would free
    TokenPos tokens_saved = 0;     ///< that a hit need not compute, beyond the next shallower snapshot there is now
    double seconds_per_token = 0;  ///< of prefill, as measured; 0: not yet, all tokens then cost the same
    std::uint64_t hits = 0;
    CheckpointKind kind = CheckpointKind::prompt_end;
    bool has_descendants = false;                    ///< deeper snapshots lie on its path
    std::optional<double> slower_copy_seconds = {};  ///< to get it back from a slower tier that holds it too
    TokenPos position = 0;                           ///< of the snapshot; 0: not known
    std::optional<double> published_s = {};          ///< on the clock of now_s; none: its own history is not known
};

/// Greater than 0.
[[nodiscard]] double eviction_value(const SnapshotFacts &facts) noexcept;

/// In (0, 1): that it is used again.
[[nodiscard]] double chance_of_reuse(const SnapshotFacts &facts) noexcept;

}  // namespace cairn
