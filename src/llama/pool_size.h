// How large the pool of cells is, and how many sequences there are: a pure function of what was asked and measured.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "cairn/types.h"

namespace cairn {

/// What the user allows of the device's memory. Zero: no limit of that kind.
struct MemoryLimits {
    std::size_t budget_bytes = 0;    ///< for the states of all sequences
    std::size_t headroom_bytes = 0;  ///< to be left free of what is free now
    double utilization = 0;          ///< share of the device's memory, the model's weights and other programs' included
};

struct DeviceMemory {
    std::size_t free = 0;  ///< 0: not known
    std::size_t total = 0;
};

/// Bytes for states by the tightest of the limits; none where there is no limit, or the device does not say what it has
/// and no budget is given.
[[nodiscard]] std::optional<std::size_t> state_budget(const MemoryLimits &limits, const DeviceMemory &memory);

struct PoolFacts {
    TokenPos trained_context = 0;
    TokenPos asked_context = 0;  ///< 0: what the model was trained for, as far as memory reaches
    std::int32_t live_sequences = 1;
    std::int32_t parked_sequences = 0;  ///< asked for, at most
    std::size_t device_bytes = 0;       ///< budget of parked state
    std::size_t row_bytes = 0;
    std::size_t boundary_bytes = 0;
    std::size_t free_bytes = 0;  ///< of the memory that holds the pool; 0: not known
    std::int32_t most_sequences = 256;
    std::optional<std::size_t> state_bytes = {};  ///< cells and boundaries of all sequences take no more than this
    bool keep_context = false;  ///< the pool must not outgrow the context: the model computes differently then
};

struct PoolSize {
    TokenPos context = 0;  ///< most tokens of one sequence
    TokenPos cells = 0;    ///< context + room for parked cells; 0: `state_bytes` hold no sequence at all
    std::int32_t live_sequences = 1;
    std::int32_t parked_sequences = 0;
};

/// Without `state_bytes` the pool is the context and room for parked cells; with it, as much as these bytes hold and
/// all sequences can use: first the boundaries of live sequences (fewer sequences where these would take more than
/// half), then parked ones' with at most half of the rest, cells with what is left, and no context beyond them.
///
/// Parked sequences get as many boundaries as half the budget holds, their cells the rest, and no more than the context
/// has: what no conversation can fill is not worth its memory. A context that was not asked for is halved until the
/// pool fits half of the free memory.
[[nodiscard]] PoolSize size_pool(const PoolFacts &facts);

/// Least bytes of states for one sequence of libllama's smallest pool.
[[nodiscard]] std::size_t least_state_bytes(const PoolFacts &facts);

/// Of the device the pool will lie on: the first GPU if `gpu` and there is one, else RAM.
[[nodiscard]] DeviceMemory device_memory(bool gpu);

}  // namespace cairn
