// SnapshotStore: keeps snapshots in two tiers, the device (parked sequences) and RAM (an arena), within budgets.
//
//     Result<SnapshotPtr> s = store.open(640, CheckpointKind::prompt_end);  // its place among max_snapshots is taken
//     store.park(**s, seq);                          // on the device, without a copy; or
//     store.capture(**s, seq, rows_known);           // in RAM: only the rows that `rows_known` lacks, and the boundary
//     store.track(*s);                               // complete: it may be published now
//     store.restore(SnapshotLease(*s, 640), other);  // from the fastest tier that has it
//
//          park                     capture              evict
//     ----------> device --demote--> RAM -----------------------> gone
//                      <--promote--       (least valuable first; leased ones never)
//
// Room is always taken before payloads exist: bytes by allocating from the arena, places by Budget, device bytes by the
// backend's park_cost. So no budget is exceeded at any instant. A capture reserves upper bounds, then gives back the
// rest.
//
// Ownership: borrows the backend and the advisor; shares snapshots with the index and with leases. When the store goes,
// all payloads go, and snapshots that somebody still holds are `gone`.
// Threads: the engine's thread only.
// Errors: capacity where making room would take what must stay; others are the backend's. A failed call leaves the
// snapshot as it was and frees what it took; it may have evicted others to make room.
// Cost: park, promote: no bytes move. capture, demote, restore from RAM: bytes move once. Making room: one pass over
// the snapshots per attempt.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "cairn/error.h"
#include "cairn/request.h"
#include "cairn/types.h"
#include "env/env.h"
#include "metrics/metrics.h"
#include "model/backend.h"
#include "store/device_tier.h"
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
    SnapshotStore(Backend &backend, const StoreBudgets &budgets, SnapshotAdvisor &advisor, Env &env, Metrics &metrics);
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
    /// Copies the state of `seq`, which stands at the snapshot's position, to RAM; rows up to `known.end` are there
    /// already and shared. Evicts others to make room.
    [[nodiscard]] Status capture(Snapshot &snapshot, SeqId seq, const RowsRef &known);
    /// From now on `snapshot` takes part in eviction. It has a payload.
    void track(SnapshotPtr snapshot);

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
    /// Demotes the least valuable parked snapshot where parked cells cost more than the limit allows.
    bool lower_cell_tax();
    /// Copies the most valuable snapshot that is on the device only to RAM, so that demoting it later costs nothing.
    /// Takes room only from less valuable ones. False when there is nothing to copy or no room.
    bool write_behind();
    /// Takes memory for captures to come from the machine, one step. False when there is enough.
    bool prepare_memory() { return arena_.commit_ahead(kMemoryAhead); }
    /// Drops all payloads of all snapshots, leased ones too.
    void clear();

    // -- facts -----------------------------------------------------------------------------------------------------
    [[nodiscard]] std::size_t snapshots() const noexcept { return live_.size(); }
    [[nodiscard]] std::size_t device_snapshots() const noexcept { return device_.parked(); }
    [[nodiscard]] std::size_t device_bytes() const { return device_.bytes(); }
    [[nodiscard]] std::size_t ram_bytes() const noexcept { return arena_.used(); }
    [[nodiscard]] std::size_t leases() const noexcept;
    [[nodiscard]] const RamArena &arena() const noexcept { return arena_; }
    /// Recounts everything between operations and aborts with context where a sum or a limit is wrong.
    void check_invariants() const;

private:
    static constexpr std::size_t kMemoryAhead = 64_MiB;

    template <class Source>
    [[nodiscard]] Result<RamPayload> capture_from(Source source, TokenPos position, const RowsRef &known,
                                                  std::optional<double> ceiling);
    template <class Source>
    [[nodiscard]] Result<RamPayload> copy_out(Source source, TokenPos position, const RowsRef &known, RamBlock rows,
                                              RamBlock boundary);
    /// Evicts until a block of `rows` and one of `boundary` bytes fit, or nothing at all.
    [[nodiscard]] Status make_room(std::size_t rows, std::size_t boundary, const RowsRef &pinned,
                                   std::optional<double> ceiling);
    [[nodiscard]] Status restore_parked(const SnapshotLease &lease, SeqId seq);
    [[nodiscard]] Status restore_ram(const SnapshotLease &lease, SeqId seq);
    /// Moves a parked snapshot to RAM, or gives it up where RAM refuses it.
    void demote(Snapshot &snapshot);
    [[nodiscard]] Snapshot *least_valuable_parked() const;
    [[nodiscard]] bool evict_one();
    void drop_device(Snapshot &snapshot);
    void drop_ram(Snapshot &snapshot);
    void untrack_if_gone(Snapshot &snapshot);
    [[nodiscard]] std::size_t full_bytes(const Snapshot &snapshot) const;
    void show() const;

    Backend &backend_;
    SnapshotAdvisor &advisor_;
    Env &env_;
    Metrics &metrics_;
    RamArena arena_;
    DeviceTier device_;
    Budget places_;
    std::vector<SnapshotPtr> live_;
};

}  // namespace cairn
