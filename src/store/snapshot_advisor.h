// SnapshotAdvisor: what the store has to ask of whoever joins it with an index and a policy, and whom it tells.
//
// The store knows payloads and budgets; which tokens a snapshot belongs to and what it is worth are others' business.
// Threads: called on the engine's thread, from inside the store's operations: never call back into the store.
#pragma once

#include <cstddef>

#include "store/row_segment.h"
#include "store/snapshot.h"

namespace cairn {

class SnapshotAdvisor {
public:
    virtual ~SnapshotAdvisor() = default;
    /// What keeping `snapshot` is worth where giving it up frees `freed` bytes. Lower leaves first.
    [[nodiscard]] virtual double value(const Snapshot &snapshot, std::size_t freed) const = 0;
    /// The rows in RAM that cover most of the snapshot's prefix, cut at what they share with it.
    [[nodiscard]] virtual RowsRef rows_for(const Snapshot &snapshot) const = 0;
    /// `snapshot` is gone for good: no lookup may return it.
    virtual void forget(const Snapshot &snapshot) = 0;
};

}  // namespace cairn
