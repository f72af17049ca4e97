// plan_eviction: which snapshots leave a tier (RAM or disk) so that `bytes` become free. A plan as a value: nothing
// changes here.
//
//     auto plan = plan_eviction(live, {.tier = Tier::ram, .bytes = 4_MiB, .value = value});
//     if (plan) for (Snapshot *s : *plan) s->drop_ram();            // frees at least 4 MiB
//                                                                   // none: it cannot be done: nothing is sacrificed
//
// Least valuable first, by value of what leaving would free:
//     models with a boundary     any snapshot may leave. Its boundary is freed; its rows too where no other snapshot
//                                of the tier needs them
//     models with rows only      a snapshot alone frees nothing as long as another needs its rows: the unit is a
//                                segment without children in the tier, with all snapshots on it. Its parent comes up
//                                for choice afterwards
// Leased snapshots stay, and the rows of `pinned` with them. On disk, rows that snapshots in RAM have there alone stay.
//
// Cost: one pass over the snapshots of the tier and their segments, a heap. Threads: none of its own.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "store/snapshot.h"

namespace cairn {

struct EvictionRequest {
    Tier tier = Tier::ram;
    std::size_t bytes = 0;  ///< to free at least
    RowsRef pinned = {};    ///< rows about to be built on
    /// What the snapshot's place in the tier is worth where leaving frees `freed` bytes: lower leaves first.
    std::function<double(const Snapshot &, std::size_t freed)> value;
    /// Snapshots worth this much or more stay. None: any may go.
    std::optional<double> ceiling;
};

/// None where it cannot be done. The plan is in order of leaving. Snapshots of `live` in other tiers alone are ignored.
[[nodiscard]] std::optional<std::vector<Snapshot *>> plan_eviction(std::span<const SnapshotPtr> live,
                                                                   const EvictionRequest &request);

}  // namespace cairn
