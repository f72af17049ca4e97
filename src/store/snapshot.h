// Snapshot: one checkpoint of a token prefix, and where its payloads are now. The index's entry.
//
// It is in any of three tiers at the same time, or gone:
//
//     device  parked: a sequence of the backend that shares cells with others
//     ram     its boundary (where the model has one) is in RAM, and its rows are wherever their segments are
//     disk    its boundary is in a file, and so are all segments of its rows
//
//                 put_on_device / put_in_ram / put_on_disk            drop_device / drop_ram / drop_disk
//         none ------------------------------------------> some tiers --------------------------------> gone
//              (a tier is added or dropped; the last one dropped: gone, final, never matchable again)
//
// Only complete payloads are ever put in. Segments of rows are shared and move between RAM and disk by themselves
// (row_segment.h), so a snapshot in RAM may have rows that are on disk only: it is restorable, at the disk's speed.
//
// Ownership: the store tracks it, the index and leases share it. Its payloads go with the residency, not with the
// object. Threads: the engine's thread only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "cairn/request.h"
#include "cairn/types.h"
#include "store/device_tier.h"
#include "store/disk_file.h"
#include "store/ram_arena.h"
#include "store/reservation.h"
#include "store/row_segment.h"

namespace cairn {

class Snapshot {
public:
    /// `id`: unique in its store and its cache directory. `place`: its part of the budget of snapshots, given back when
    /// it is gone.
    Snapshot(std::uint64_t id, TokenPos position, CheckpointKind kind, Reservation place, double now_s);
    ~Snapshot();
    Snapshot(const Snapshot &) = delete;
    Snapshot &operator=(const Snapshot &) = delete;

    [[nodiscard]] std::uint64_t id() const noexcept { return id_; }
    [[nodiscard]] TokenPos position() const noexcept { return position_; }
    [[nodiscard]] CheckpointKind kind() const noexcept { return kind_; }
    [[nodiscard]] bool on_device() const noexcept { return !parked_.empty(); }
    [[nodiscard]] bool in_ram() const noexcept { return in_ram_; }
    [[nodiscard]] bool on_disk() const noexcept { return on_disk_; }
    [[nodiscard]] bool gone() const noexcept { return gone_; }
    [[nodiscard]] bool restorable() const noexcept { return on_device() || in_ram_ || on_disk_; }
    /// The fastest tier that holds all of it.
    [[nodiscard]] std::optional<Tier> tier() const noexcept;
    /// "device and ram", for messages.
    [[nodiscard]] std::string where() const;

    [[nodiscard]] const ParkedState &parked() const;  ///< checked: on_device()
    /// Rows over [0, position); empty where the model has none, or while the snapshot is on the device only.
    [[nodiscard]] const RowsRef &rows() const noexcept { return rows_; }
    [[nodiscard]] const RamBlock &boundary_block() const noexcept { return boundary_block_; }
    [[nodiscard]] const DiskFile *boundary_file() const noexcept { return boundary_file_.get(); }
    /// The model has boundaries, and this one's is in RAM or on disk.
    [[nodiscard]] bool has_boundary() const noexcept { return !boundary_block_.empty() || boundary_file_ != nullptr; }

    void put_on_device(ParkedState parked);
    /// `rows`: where it is on disk already, the rows it has.
    void put_in_ram(RowsRef rows, RamBlock boundary);
    void put_on_disk(RowsRef rows, DiskFilePtr boundary);
    void drop_device();
    void drop_ram();
    void drop_disk();

    [[nodiscard]] double last_use_s() const noexcept { return last_use_s_; }
    /// When it was made, on the clock of last_use_s().
    [[nodiscard]] double published_s() const noexcept { return published_s_; }
    [[nodiscard]] std::int64_t created_unix_s() const noexcept { return created_unix_s_; }
    [[nodiscard]] std::uint32_t hits() const noexcept { return hits_; }
    [[nodiscard]] bool leased() const noexcept { return leases_ != 0; }
    [[nodiscard]] std::uint32_t leases() const noexcept { return leases_; }
    /// Its row in the catalogue; 0 while it is not on disk.
    [[nodiscard]] std::uint64_t stored_id() const noexcept { return on_disk_ ? id_ : 0; }
    /// Somebody published the same prefix again.
    void refresh(double now_s) noexcept { last_use_s_ = now_s; }
    /// Its state has been restored.
    void count_hit(double now_s) noexcept;

private:
    friend class SnapshotLease;
    friend class SnapshotStore;
    void leave(Tier tier);

    static constexpr std::size_t kUntracked = static_cast<std::size_t>(-1);

    std::uint64_t id_;
    TokenPos position_;
    CheckpointKind kind_;
    bool in_ram_ = false;
    bool on_disk_ = false;
    bool gone_ = false;
    bool write_behind_failed_ = false;  // the store's: do not try to copy it to RAM again while idle
    Reservation place_;
    ParkedState parked_;
    RowsRef rows_;
    RamBlock boundary_block_;
    DiskFilePtr boundary_file_;
    double last_use_s_;
    double published_s_;
    double not_before_s_ = 0;  // the store's: when writing it to disk may be tried again; a hit: at once
    std::uint32_t hits_ = 0;
    std::uint32_t leases_ = 0;
    std::int64_t created_unix_s_ = 0;
    std::size_t tracked_at_ = kUntracked;  // the store's: index in its list
};

using SnapshotPtr = std::shared_ptr<Snapshot>;

}  // namespace cairn
