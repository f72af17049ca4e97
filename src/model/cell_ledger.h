// CellLedger: who holds which cells of the pool, as pure arithmetic. Sequences, live or parked, share cells; each cell
// counts once.
//
//     CellLedger ledger(4, 16);                             // 4 live and 16 parked holders
//     const HolderId seq = ledger.live(0), kept = ledger.parked(0);
//     ledger.append(seq, 100);                              // ran 100 tokens
//     ledger.share(seq, kept);                              // park: cells_used() is 100 still
//     ledger.append(seq, 20);                               // goes on: 120 cells, 100 of them parked too
//     ledger.clear(seq);                                    // 100 cells, all of them only parked
//
// A holder's cells are a list of segments, each used from its start up to some length:
//
//     seq    |====== segment a, 100 ======|== segment b, 20 ==|
//     kept   |====== segment a, 100 ======|
//     other  |=== a, 60 ==|==== segment c, 70 ====|              shared and cut, then went its own way
//
// A segment takes as many cells as its longest use. A segment that others use too never grows: what comes behind it
// starts a new one. Cells that no holder uses are free at once, as in the backends.
//
// Ownership: plain value. Threads: none of its own; the backend's thread. Errors: none; wrong ids, lengths below zero
// and sharing into a holder that has cells already are broken invariants.
// Cost: append and the sums are O(1); share, cut and clear are O(segments of the holder x users of a segment).
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "cairn/strong_id.h"
#include "cairn/types.h"

namespace cairn {

using HolderId = StrongId<struct HolderTag, std::int32_t>;

class CellLedger {
public:
    CellLedger(std::int32_t live_holders, std::int32_t parked_holders);
    CellLedger(const CellLedger &) = delete;
    CellLedger &operator=(const CellLedger &) = delete;

    [[nodiscard]] HolderId live(std::int32_t index) const;
    [[nodiscard]] HolderId parked(std::int32_t index) const;

    /// `cells` new cells behind those that `holder` has: run() and restore().
    void append(HolderId holder, TokenPos cells);
    /// The empty holder `to` uses all cells of `from`: fork, park, adopt.
    void share(HolderId from, HolderId to);
    /// `holder` keeps its first `length` cells: rewind, and adopt at a shorter length.
    void cut(HolderId holder, TokenPos length);
    void clear(HolderId holder);

    [[nodiscard]] TokenPos length(HolderId holder) const;
    /// Cells that anyone holds.
    [[nodiscard]] TokenPos cells_used() const noexcept { return totals_.used; }
    /// Cells that any parked holder holds.
    [[nodiscard]] TokenPos cells_parked() const noexcept { return totals_.parked; }
    /// Cells that clearing every parked holder would free.
    [[nodiscard]] TokenPos cells_only_parked() const noexcept { return totals_.used - totals_.live; }
    /// Cells that a new parked holder with the content of `holder` would add to cells_parked().
    [[nodiscard]] TokenPos cells_to_park(HolderId holder) const;

private:
    struct Use {
        HolderId holder;
        TokenPos cells = 0;
    };
    /// Longest use by holders of each kind. The segment takes max(live, parked) cells.
    struct Extent {
        TokenPos live = 0;
        TokenPos parked = 0;
    };
    struct Segment {
        std::vector<Use> uses;  // at most one per holder
        Extent extent;
    };
    struct Piece {
        std::shared_ptr<Segment> segment;
        TokenPos cells = 0;
    };
    struct Holder {
        std::vector<Piece> pieces;
        TokenPos length = 0;
    };
    struct Totals {
        TokenPos used = 0;
        TokenPos live = 0;
        TokenPos parked = 0;
    };

    [[nodiscard]] Holder &at(HolderId holder);
    [[nodiscard]] const Holder &at(HolderId holder) const;
    [[nodiscard]] bool is_parked(HolderId holder) const noexcept { return holder.value() >= live_holders_; }
    /// Sets how much of `segment` `holder` uses (0: not at all any more) and keeps extents and totals true.
    void set_use(Segment &segment, HolderId holder, TokenPos cells);
    void set_extent(Segment &segment, Extent extent);

    std::int32_t live_holders_;
    std::vector<Holder> holders_;
    Totals totals_;
};

}  // namespace cairn
