// SnapshotPolicy: what may be kept, resolved once from the configuration into an owned value.
//
//     SnapshotPolicy policy = SnapshotPolicy::resolve(config.dynamic_batching, {.has_sliding_window = false});
//     if (!policy.enabled) log(policy.why_off);
//
// The defaults of the library (docs/configuration.md has the table):
//     no batching section                        no cache
//     section, prefix_caching unset              on; off for a target model with a sliding window
//                                                (a drafter with a window alone does not switch it off)
//     no storage policy (none of the snapshot_*) at most one device-resident checkpoint, nothing else
//     max_snapshots: 0, or all budgets given and zero    off
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

    bool enabled = false;
    std::string why_off;                        ///< a sentence for the log; empty when enabled
    std::int32_t max_snapshots = kUnlimited;    ///< published snapshots in all tiers together
    std::int32_t max_device_snapshots = 0;      ///< parked at a time
    std::size_t device_bytes = 0;               ///< budget of parked state beyond what live sequences hold
    std::size_t ram_bytes = 0;
    std::size_t disk_bytes = 0;
    std::string disk_path;

    [[nodiscard]] static SnapshotPolicy resolve(const std::optional<BatchingConfig> &batching,
                                                const PolicyModelFacts &model);
};

}  // namespace cairn
