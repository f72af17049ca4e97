// How large the pool of cells is, and how many sequences there are: a pure function of what was asked and measured.
#pragma once

#include <cstddef>
#include <cstdint>

#include "cairn/types.h"

namespace cairn {

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
    bool keep_context = false;  ///< the pool must not outgrow the context: the model computes differently then
};

struct PoolSize {
    TokenPos context = 0;  ///< most tokens of one sequence
    TokenPos cells = 0;    ///< context + room for parked cells
    std::int32_t live_sequences = 1;
    std::int32_t parked_sequences = 0;
};

/// Parked sequences get as many boundaries as half the budget holds, their cells the rest, and no more than the context
/// has: what no conversation can fill is not worth its memory. A context that was not asked for is halved until the
/// pool fits half of the free memory.
[[nodiscard]] PoolSize size_pool(const PoolFacts &facts);

/// Free bytes of the device the pool will lie on: the first GPU if `gpu` and there is one, else RAM. 0: not known.
[[nodiscard]] std::size_t free_device_bytes(bool gpu);

}  // namespace cairn
