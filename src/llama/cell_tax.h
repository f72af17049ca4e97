// The tax of a parked cell: what state that is kept on the device costs everyone else.
//
// Attention scans the pool up to its highest used cell, so cells that nobody computes with slow every step down. How
// much depends on the model: little where few layers attend, a lot for a small dense model. Measured once at load.
#pragma once

#include <llama.h>

#include "state/layout.h"

namespace cairn {

/// The relative slowdown of one decode step per parked cell, measured in `context` by filling its pool with copies of a
/// few rows; 0 where it cannot be told from noise. All sequences must be empty, and are so afterwards.
/// Cost: one prompt of 64 tokens and some twelve decode steps,
/// and 256 MiB of rows that are copied into the pool.
[[nodiscard]] double measure_cell_tax(llama_context *context, const StateLayout &layout, llama_seq_id sequences);

}  // namespace cairn
