// How much state is worth keeping on the device: the cells and bytes that only parked snapshots hold.
//
//     auto limit = device_residency(policy, backend.parked_cell_tax(), layout.row_bytes);
//     while (backend.cells_only_parked() > limit.max_cells) demote the least valuable;
//
// Parking copies nothing and adopting copies nothing, but attention scans the pool up to its highest used cell, so each
// parked cell slows every step of everybody. Measured: 8,192 parked cells cost a 0.8B hybrid 1 % of decode speed and a
// 0.35B dense model 16 %. So:
//     max_cells  = tolerated_slowdown / parked_cell_tax, and never more than the budget holds
//     max_bytes  = the budget; 0 where not even one cell is tolerated
//     max_steps  = decode steps after which a parked row has cost more than reading it back from RAM would:
//                  row_bytes * restore_s_per_byte / (parked_cell_tax * decode_step_s)
// A tax of 0 is one too small to be measured: the budget alone limits, and a row may stay for ever.
//
// Thread rule: a free function without state. Never fails: facts that make no sense (negative, not a number) count as
// not measured.
#pragma once

#include <cstddef>

#include "cairn/types.h"
#include "policy/snapshot_policy.h"

namespace cairn {

struct DeviceResidencyFacts {
    double parked_cell_tax = 0;  ///< relative slowdown of a decode step per parked cell; 0: not measurable
    double tolerated_slowdown =
        0.02;                   ///< of a decode step, by all parked cells together; two in a hundred go unnoticed
    std::size_t row_bytes = 0;  ///< of rows per token; 0: the model has none, cells are then limited by the tax
    std::size_t device_budget_bytes = 0;
    double restore_s_per_byte = 0;  ///< from RAM, as measured; 0: there is no RAM tier to restore from
    double decode_step_s = 0;       ///< of a step without parked cells; 0: not measured
};

struct DeviceResidency {
    TokenPos max_cells = 0;     ///< that only parked sequences hold
    std::size_t max_bytes = 0;  ///< of parked state, boundaries included
    double max_steps = 0;       ///< infinity: parking never loses against RAM
};

[[nodiscard]] DeviceResidency device_residency(const DeviceResidencyFacts &facts) noexcept;

/// The same for a cache with these budgets. Without RAM below it the device may cost others more: what does not stay
/// there has to be computed again.
[[nodiscard]] DeviceResidency device_residency(const SnapshotPolicy &policy, double parked_cell_tax,
                                               std::size_t row_bytes) noexcept;

}  // namespace cairn
