// What goes on in an engine right now. Thread rule: a plain value.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "cairn/types.h"

namespace cairn {

struct EngineStats {
    std::int32_t waiting = 0;
    std::int32_t running = 0;
    std::int32_t live_sequences = 0;  ///< effective number of slots
    TokenPos context = 0;
    TokenPos pool_cells = 0;
    TokenPos cells_used = 0;
    TokenPos scheduled_tokens = 0;   ///< most of one step
    std::int32_t waiting_limit = 0;  ///< further requests are refused
    /// From one request that ends to the next, lately, and no less than since the last one ended: when a place in a
    /// full queue is expected. None: nothing was asked yet.
    std::optional<double> seconds_per_request = {};
    std::size_t device_bytes = 0;  ///< of parked snapshots
    std::size_t ram_bytes = 0;     ///< of snapshots in RAM
    std::size_t disk_bytes = 0;    ///< of files of the disk tier
    std::size_t snapshots = 0;     ///< that a lookup may find
};

}  // namespace cairn
