// What `cairn serve` gives a user who sets nothing: caching on, on the device, in RAM and on disk.
//
//     apply_serve_defaults(config, {.ram_bytes = machine.ram_bytes});
//
// The library's own defaults (policy/snapshot_policy.h) are shy because a library does not own the machine; a server
// does. Only what is unset is filled in, each key on its own, so a flag or a file always wins:
//
//     prefix_caching         true, also for models with a sliding window: their window is part of each snapshot, and
//                            the probe at load proves it
//     snapshot_ram_bytes     a quarter of the machine's memory, at least 256 MiB: beside it the model's weights, the
//                            context and the page cache must fit, and a user who runs other things is not surprised
//     snapshot_device_bytes  a sixteenth of the device's memory (a quarter of what RAM gets where both are the same
//                            memory), at least 64 MiB: parked state is reached without a copy, but each parked cell
//                            slows every step, so the device is the small, hot tier and RAM the large one
//     snapshot_disk_path     the user's cache directory
//     snapshot_disk_bytes    a tenth of its file system, at most 64 GiB: state is quick to make again, so it must not
//                            crowd out what is not. Of the whole rather than of what is free, since what the cache
//                            itself holds is not free: a budget that shrinks with each start would throw it out
//
// With prefix_caching false the budgets are left alone: they have nothing to limit.
// Thread rule: a free function without state.
#pragma once

#include <cstddef>
#include <string>

#include "config/config.h"

namespace cairn {

struct MachineFacts {
    std::size_t ram_bytes = 0;      ///< what this process may use of it; 0: unknown, the least is taken
    std::size_t device_bytes = 0;   ///< the device's own memory; 0: it computes in RAM
    std::string cache_directory{};  ///< where this user's programs keep what they can make again; empty: nowhere
    std::size_t disk_bytes = 0;     ///< of the whole file system it is on
};

void apply_serve_defaults(Config &config, const MachineFacts &machine);

}  // namespace cairn
