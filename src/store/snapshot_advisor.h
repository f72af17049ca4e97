// SnapshotAdvisor: what the store has to ask of whoever joins it with an index and a policy, and whom it tells.
//
// The store knows payloads and budgets; which tokens a snapshot belongs to and what it is worth are others' business.
// Threads: called on the engine's thread, from inside the store's operations: never call back into the store.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "state/namespace_key.h"
#include "store/row_segment.h"
#include "store/snapshot.h"

namespace cairn {

/// Which tokens a snapshot stands for, and how the catalogue reaches them.
struct SnapshotOrigin {
    NamespaceKey ns;
    Tokens tokens;                     ///< [0, position)
    std::uint64_t stored_parent = 0;   ///< row of the deepest snapshot on the path that is in the catalogue; 0: none
    TokenPos stored_parent_depth = 0;  ///< its position
};

class SnapshotAdvisor {
public:
    virtual ~SnapshotAdvisor() = default;
    /// What keeping `snapshot` in `tier` is worth where giving that up frees `freed` bytes. Lower leaves first.
    [[nodiscard]] virtual double value(const Snapshot &snapshot, Tier tier, std::size_t freed) const = 0;
    /// The rows in RAM or on disk that cover most of the snapshot's prefix, cut at what they share with it.
    [[nodiscard]] virtual RowsRef rows_for(const Snapshot &snapshot) const = 0;
    [[nodiscard]] virtual SnapshotOrigin origin_of(const Snapshot &snapshot) const = 0;
    /// True where writing `snapshot` to disk, `bytes` of it, is worth the wear now. `leaving`: the program ends.
    [[nodiscard]] virtual bool worth_writing(const Snapshot &snapshot, std::size_t bytes, bool leaving) = 0;
    /// `snapshot` is on disk now: `bytes` were written for it.
    virtual void note_written(const Snapshot &snapshot, std::size_t bytes, double seconds) = 0;
    /// `bytes` were read from disk to restore.
    virtual void note_read(std::size_t bytes, double seconds) = 0;
    /// `snapshot` is gone for good: no lookup may return it.
    virtual void forget(const Snapshot &snapshot) = 0;
};

}  // namespace cairn
