// What a snapshot is worth keeping: the one number that decides who is evicted first.
//
//     std::min_element(snapshots, by eviction_value({.last_use_s = s.last_use_s, .now_s = env.now_s(), ...}))
//
// Lower is evicted first. Values compare only between snapshots of one tier at one `now_s`.
//
// For now the value is recency alone: minus the seconds since the last use, where "used" means that this very snapshot
// was consumed or published (a hit deeper on its path does not refresh it). The other facts are gathered already, so
// that a better value (seconds saved x chance of reuse per byte) changes this function and its callers not at all.
//
// Thread rule: a free function without state.
#pragma once

#include <cstddef>
#include <cstdint>

#include "cairn/request.h"
#include "cairn/types.h"

namespace cairn {

struct SnapshotFacts {
    double last_use_s = 0;  ///< when it was last consumed or published, on the clock of now_s
    double now_s = 0;
    std::size_t bytes = 0;         ///< that evicting it would free
    TokenPos tokens_saved = 0;     ///< that a hit need not compute, beyond the next shallower snapshot
    double seconds_per_token = 0;  ///< of prefill, as measured
    std::uint64_t hits = 0;
    CheckpointKind kind = CheckpointKind::prompt_end;
    bool has_descendants = false;  ///< deeper snapshots build on its rows
};

[[nodiscard]] double eviction_value(const SnapshotFacts &facts) noexcept;

}  // namespace cairn
