// plan_eviction: which snapshots leave RAM so that `bytes` become free. A plan as a value: nothing changes here.
//
//     auto plan = plan_eviction(live, {.bytes = 4_MiB, .value = value});
//     if (plan) for (Snapshot *s : *plan) s->drop_ram();            // frees at least 4 MiB
//                                                                   // none: it cannot be done, so nothing is
//                                                                   sacrificed
//
// Least valuable first, by value of what leaving would free:
//     models with a boundary   any snapshot may leave. Its boundary is freed; its rows too where nothing else needs
//     them models with rows only    a snapshot alone frees nothing as long as another needs its rows: the unit is a
//     segment
//                              without children, with all snapshots on it. Its parent comes up for choice afterwards
// Leased snapshots stay, and the rows of `pinned` with them.
//
// Cost: one pass over the snapshots in RAM and their segments, a heap. Threads: none of its own.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

#include "store/snapshot.h"

namespace cairn {

struct EvictionRequest {
    std::size_t bytes = 0;  ///< to free at least
    RowsRef pinned;         ///< rows about to be built on
    /// What the snapshot is worth where leaving RAM frees `freed` bytes: lower leaves first.
    std::function<double(const Snapshot &, std::size_t freed)> value;
    /// Snapshots worth this much or more stay. None: any may go.
    std::optional<double> ceiling;
};

/// None where it cannot be done. The plan is in order of leaving.
[[nodiscard]] std::optional<std::vector<Snapshot *>> plan_eviction(const std::vector<SnapshotPtr> &live,
                                                                   const EvictionRequest &request);

}  // namespace cairn
