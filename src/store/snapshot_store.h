// SnapshotStore: keeps snapshots in three tiers, the device (parked sequences), RAM (an arena) and disk (files), within
// budgets.
//
//     Result<SnapshotPtr> s = store.open(640, CheckpointKind::prompt_end);  // its place among max_snapshots is taken
//     store.park(**s, seq);                          // on the device, without a copy; or
//     store.capture(**s, seq, tokens, rows_known);   // in RAM: only the rows that `rows_known` lacks, and the boundary
//     store.track(*s);                               // complete: it may be published now
//     store.restore(SnapshotLease(*s, 640), other);  // from the fastest tier that has it
//     store.tend_disk();                             // now and then: lets the writer have the next snapshot
//
//          park                     capture             write (off this thread)
//     ----------> device --demote--> RAM ---------------> RAM and disk --evict from RAM--> disk --evict--> gone
//                      <--promote--      <---------------promote (read)---------------------
//
// Room is always taken before payloads exist: bytes by allocating from the arena, places and disk bytes by Budget,
// device bytes by the backend's park_cost. So no budget is exceeded at any instant. A capture reserves upper bounds,
// then gives back the rest.
//
// What is evicted from RAM before it was written is gone: writing never holds anybody up. So snapshots are written
// early (tend_disk), while they are in RAM anyway, and those that are on disk leave RAM first, since they cost little.
//
// Ownership: borrows the backend and the advisor; shares snapshots with the index and with leases. When the store goes,
// all payloads in memory go, and snapshots that somebody still holds are `gone`; what is on disk stays there.
// Threads: the engine's thread only.
// Errors: capacity where making room would take what must stay; others are the backend's and the file system's. A
// failed call leaves the snapshot as it was and frees what it took; it may have evicted others to make room.
// Cost: park, promote: no bytes move. capture, demote, restore from RAM: bytes move once; from disk twice. Making room:
// one pass over the snapshots of the tier per attempt.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "cairn/error.h"
#include "cairn/request.h"
#include "cairn/types.h"
#include "env/env.h"
#include "metrics/metrics.h"
#include "model/backend.h"
#include "store/device_tier.h"
#include "store/disk_tier.h"
#include "store/lease.h"
#include "store/ram_arena.h"
#include "store/reservation.h"
#include "store/snapshot.h"
#include "store/snapshot_advisor.h"

namespace cairn {

struct StoreBudgets {
    std::size_t max_snapshots = 0;
    std::size_t ram_bytes = 0;
    DeviceLimits device;
};

class SnapshotStore {
public:
    /// `disk`: null for no disk tier.
    SnapshotStore(Backend &backend, const StoreBudgets &budgets, std::unique_ptr<DiskTier> disk,
                  SnapshotAdvisor &advisor, Env &env, Metrics &metrics);
    ~SnapshotStore();
    SnapshotStore(const SnapshotStore &) = delete;
    SnapshotStore &operator=(const SnapshotStore &) = delete;

    // -- new snapshots ---------------------------------------------------------------------------------------------
    /// A snapshot without payloads, for the first `position` tokens. Evicts where the number of snapshots is at its
    /// limit.
    [[nodiscard]] Result<SnapshotPtr> open(TokenPos position, CheckpointKind kind);
    /// True where park() could succeed once others have made room.
    [[nodiscard]] bool could_park(SeqId seq) const { return device_.could_hold(seq); }
    /// Parks `seq`, which stands at the snapshot's position. Demotes others to make room.
    [[nodiscard]] Status park(Snapshot &snapshot, SeqId seq);
    /// Copies the state of `seq`, which is that of `tokens` and the snapshot's, to RAM; rows up to `known.end` are
    /// there or on disk already and shared. Evicts others to make room.
    [[nodiscard]] Status capture(Snapshot &snapshot, SeqId seq, TokenView tokens, const RowsRef &known);
    /// From now on `snapshot` takes part in eviction. It has a payload.
    void track(SnapshotPtr snapshot);

    // -- what was on disk before --------------------------------------------------------------------------------------
    /// Takes over what the directory held: snapshots on disk, tracked, for the caller to publish those of its model.
    /// Those of other models take room, and part in eviction.
    struct Found {
        SnapshotPtr snapshot;
        const StoredNamespace *ns;
        const StoredSnapshot *row;
    };
    [[nodiscard]] std::vector<Found> adopt_directory(const CatalogueContent &content);
    /// Takes in a snapshot of this model from elsewhere: `write` makes the files of `entry`, whose ids are new. Evicts
    /// from the disk to make room. Tracked, for the caller to publish. Blocks while the files are written. Needs a disk
    /// tier.
    [[nodiscard]] Result<SnapshotPtr> take_in(const CatalogueEntry &entry,
                                              std::function<Status(const CacheDirectory &)> write);
    /// Null: no disk tier.
    [[nodiscard]] DiskTier *disk() const noexcept { return disk_.get(); }

    // -- using them ------------------------------------------------------------------------------------------------
    /// Puts the first lease.length() tokens into the empty sequence `seq`, and counts a hit. On an error `seq` is
    /// empty. A payload that cannot be restored is dropped; capacity and device errors say nothing about the payload.
    [[nodiscard]] Result<Tier> restore(const SnapshotLease &lease, SeqId seq);
    /// Parks the state that restore() has just put into `seq`, if that needs no room of others.
    void promote(Snapshot &snapshot, SeqId seq);

    // -- giving up -------------------------------------------------------------------------------------------------
    /// Demotes or drops parked snapshots until `cells` more cells of the pool are free, least valuable first. Returns
    /// the number really freed.
    TokenPos free_cells(TokenPos cells);
    /// Takes a snapshot from the device, once it has a copy elsewhere; others make room for that in RAM. False where
    /// there is none to be had: it stays.
    bool move_off_device(Snapshot &snapshot);
    /// Demotes the least valuable parked snapshot where parked cells cost more than the limit allows.
    bool lower_cell_tax();
    /// Copies the most valuable snapshot that is on the device only to RAM, so that demoting it later costs nothing.
    /// Takes room only from less valuable ones. False when there is nothing to copy or no room.
    bool write_behind();
    /// A bounded slice of the disk's work: takes in what the writer has done and gives it the next snapshot.
    void tend_disk();
    /// When tend_disk() will have something to do though nothing else happens; unit: seconds from now. None: never.
    [[nodiscard]] std::optional<double> disk_wakes_in() const;
    /// Writes what is worth keeping over the end of the program, most valuable first, until now_s() passes
    /// `deadline_s`.
    void save(double deadline_s);
    /// Gives up one snapshot in all tiers. False where it is leased.
    bool remove(Snapshot &snapshot);
    /// Takes memory for captures to come from the machine, one step. False when there is enough.
    bool prepare_memory() { return arena_.commit_ahead(kMemoryAhead); }
    /// Drops all payloads of all snapshots, leased ones too, on disk as well.
    void clear();

    // -- facts -----------------------------------------------------------------------------------------------------
    [[nodiscard]] std::size_t device_snapshots() const noexcept { return device_.parked(); }
    [[nodiscard]] std::size_t device_bytes() const { return device_.bytes(); }
    [[nodiscard]] std::size_t ram_bytes() const noexcept { return arena_.used(); }
    [[nodiscard]] std::size_t disk_bytes() const noexcept { return disk_ == nullptr ? 0 : disk_->used(); }
    [[nodiscard]] std::span<const SnapshotPtr> live() const noexcept { return live_; }
    /// What restoring `snapshot` would read from disk.
    [[nodiscard]] std::size_t bytes_to_read(const Snapshot &snapshot) const;
    /// What its state takes, all of it.
    [[nodiscard]] std::size_t full_bytes(const Snapshot &snapshot) const;
    [[nodiscard]] std::size_t leases() const noexcept;
    [[nodiscard]] const RamArena &arena() const noexcept { return arena_; }
    /// Recounts everything between operations and aborts with context where a sum or a limit is wrong.
    void check_invariants() const;

private:
    static constexpr std::size_t kMemoryAhead = 64_MiB;

    /// Rows and boundary as capture leaves them.
    struct Captured {
        RowsRef rows;
        RamBlock boundary;
    };
    /// What the writer's thread reads right now.
    struct PendingWrite {
        SnapshotLease lease;
        RowsUse rows;  // on disk: no file of them leaves while others are written
        std::vector<StoredPayload> payloads =
            {};  // those that are not on disk yet: rows from the root on, boundary last
        std::vector<RowSegmentPtr> segments = {};  // of the payloads, without the boundary
        std::vector<Reservation> space = {};
        std::vector<RamPin> pins = {};
        std::uint64_t last_rows = 0;  // payload that covers the end, on disk already or not
        std::uint64_t boundary = 0;
    };
    /// Pieces of a snapshot that are read from disk into memory.
    class Loading;

    template <class Source>
    [[nodiscard]] Result<Captured> capture_from(Source source, TokenView tokens, const RowsRef &known,
                                                std::optional<double> ceiling);
    template <class Source>
    [[nodiscard]] Result<Captured> copy_out(Source source, TokenView tokens, const RowsRef &known, RamBlock rows,
                                            RamBlock boundary);
    /// Evicts until a block of `rows` and one of `boundary` bytes fit, or nothing at all.
    [[nodiscard]] Status make_room(std::size_t rows, std::size_t boundary, const RowsRef &pinned,
                                   std::optional<double> ceiling);
    [[nodiscard]] Status restore_parked(const SnapshotLease &lease, SeqId seq);
    [[nodiscard]] Status restore_bytes(const SnapshotLease &lease, SeqId seq);
    /// Errors that say nothing about the payload: it stays.
    [[nodiscard]] static bool payload_is_innocent(ErrorCode code) noexcept {
        return code == ErrorCode::capacity || code == ErrorCode::device;
    }
    void drop_after_failure(Snapshot &snapshot, Tier tier);
    /// Moves a parked snapshot to RAM, or gives it up where RAM refuses it and the disk lacks it.
    void demote(Snapshot &snapshot);
    [[nodiscard]] bool copy_to_ram(Snapshot &snapshot, std::optional<double> ceiling);
    [[nodiscard]] Snapshot *least_valuable_parked() const;
    [[nodiscard]] bool evict_one();

    void finish_write(const WriteOutcome &outcome);
    [[nodiscard]] Snapshot *next_to_write(bool leaving);
    [[nodiscard]] Status start_write(Snapshot &snapshot);
    [[nodiscard]] PendingWrite plan_write(Snapshot &snapshot);
    [[nodiscard]] WriteOrder order_of(const PendingWrite &write);
    [[nodiscard]] std::size_t bytes_to_write(const Snapshot &snapshot) const;
    [[nodiscard]] Status reserve_disk(PendingWrite &write);
    [[nodiscard]] bool make_disk_room(std::size_t bytes, std::optional<double> ceiling);
    void finish_pending();
    void note_uses();
    [[nodiscard]] bool fits_layout(const NamespaceKey &ns, const RowsRef &rows, const DiskFile *boundary,
                                   const StoredSnapshot &row) const;
    void fit_budgets();
    /// Rows that cannot be read: all snapshots that need them lose them.
    void lose_rows(const RowSegment &segment);

    void drop_device(Snapshot &snapshot);
    void drop_ram(Snapshot &snapshot);
    void drop_disk(Snapshot &snapshot);
    void drop_everywhere(Snapshot &snapshot);
    void settle_place(Snapshot &snapshot);
    void move_to(std::size_t to, Snapshot &snapshot);
    /// Those in RAM or on the device.
    [[nodiscard]] std::span<const SnapshotPtr> near() const noexcept { return std::span(live_).first(near_); }
    [[nodiscard]] std::uint64_t next_id() noexcept { return disk_ != nullptr ? disk_->next_id() : ++last_id_; }
    void show() const;
    void check_snapshot(const Snapshot &snapshot, std::size_t at) const;

    Backend &backend_;
    SnapshotAdvisor &advisor_;
    Env &env_;
    Metrics &metrics_;
    RamArena arena_;
    DeviceTier device_;
    Budget places_;
    std::unique_ptr<DiskTier> disk_;
    std::vector<SnapshotPtr> live_;  // those in RAM or on the device first
    std::size_t near_ = 0;           // how many those are
    std::uint64_t last_id_ = 0;      // without a disk tier, which numbers them otherwise
    std::optional<PendingWrite> pending_;
    std::vector<SnapshotPtr> used_;  // restored since the catalogue was told of uses
    double next_scan_s_ = 0;         // when to look for something to write again
    double write_again_s_ = 0;       // not before, after failures
    std::size_t failed_writes_ = 0;  // in a row
    bool closing_ = false;           // what is on disk stays there
};

}  // namespace cairn
