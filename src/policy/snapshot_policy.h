// SnapshotPolicy: what may be kept, resolved once from the configuration into an owned value.
//
//     SnapshotPolicy policy = SnapshotPolicy::resolve(config.dynamic_batching, {.has_sliding_window = false});
//     if (!policy.enabled) log(policy.why_off);
//
// The defaults of the library (docs/configuration.md has the table):
//     no batching section                        no cache
//     section, prefix_caching unset              on; off for a target model with a sliding window
//                                                (a drafter with a window alone does not switch it off)
//     no storage policy                          at most one device-resident checkpoint, nothing else
//     max_snapshots: 0, or all-zero budgets      off
//
// A storage policy is given when at least one of snapshot_{device,ram,disk}_bytes is there, zero or not; those that are
// not there are then 0. max_snapshots is a limit and snapshot_disk_path a place: neither says how much to keep where,
// so neither makes a storage policy. With one, max_snapshots limits the count on top of the bytes.
// `cairn serve` passes explicit budgets, so a user gets device, RAM and disk without setting anything.
//
// Thread rule: a plain value.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>

#include "cairn/config.h"

namespace cairn {

/// What the policy needs to know of the models.
struct PolicyModelFacts {
    bool has_sliding_window = false;
    bool drafter_has_sliding_window = false;
};

struct SnapshotPolicy {
    static constexpr std::int32_t kUnlimited = std::numeric_limits<std::int32_t>::max();
    /// device_bytes without a storage policy: the count of one limits alone.
    static constexpr std::size_t kUnlimitedBytes = std::numeric_limits<std::size_t>::max();

    /// RAM that a disk tier has at least, whatever snapshot_ram_bytes says: states pass through it.
    static constexpr std::size_t kDiskStagingBytes = std::size_t{64} << 20;

    bool enabled = false;
    std::string why_off;                      ///< a sentence for the log; empty when enabled
    std::int32_t max_snapshots = kUnlimited;  ///< published snapshots in all tiers together
    std::int32_t max_device_snapshots = 0;    ///< parked at a time
    std::size_t device_bytes = 0;             ///< budget of parked state beyond what live sequences hold
    std::size_t ram_bytes = 0;
    std::size_t disk_bytes = 0;
    std::string disk_path;

    /// The tiers that are on and do not hold a state of so many bytes, with their options: "RAM (--cache-ram)". Empty
    /// where there is none.
    [[nodiscard]] std::string too_small_for(std::size_t state_bytes) const;

    [[nodiscard]] static SnapshotPolicy resolve(const std::optional<BatchingConfig> &batching,
                                                const PolicyModelFacts &model);
};

}  // namespace cairn
