// SnapshotLease: a pin on a snapshot. While it lives the snapshot is neither evicted nor moved away from where it is.
//
//     SnapshotLease lease(snapshot, 512);       // its first 512 tokens will be restored
//     store.restore(lease, seq);
//
// Only damage and clear() take a leased payload away; restore() then says not_found.
// Ownership: shares the snapshot, never its memory: it may outlive the store.
// Threads: the engine's thread only.
#pragma once

#include <utility>

#include "base/check.h"
#include "store/snapshot.h"

namespace cairn {

class SnapshotLease {
public:
    /// `length`: tokens of the prefix that will be used, at most the snapshot's position.
    SnapshotLease(SnapshotPtr snapshot, TokenPos length) : snapshot_(std::move(snapshot)), length_(length) {
        CAIRN_CHECK(snapshot_ != nullptr && length > 0 && length <= snapshot_->position(), "a lease of {} tokens",
                    length);
        ++snapshot_->leases_;
    }
    SnapshotLease(SnapshotLease &&other) noexcept : snapshot_(std::move(other.snapshot_)), length_(other.length_) {}
    SnapshotLease &operator=(SnapshotLease &&other) noexcept {
        SnapshotLease gone(std::move(other));
        std::swap(snapshot_, gone.snapshot_);
        std::swap(length_, gone.length_);
        return *this;
    }
    ~SnapshotLease() {
        if (snapshot_ != nullptr) --snapshot_->leases_;
    }

    [[nodiscard]] Snapshot &snapshot() const noexcept { return *snapshot_; }
    [[nodiscard]] TokenPos length() const noexcept { return length_; }

private:
    SnapshotPtr snapshot_;
    TokenPos length_;
};

}  // namespace cairn
