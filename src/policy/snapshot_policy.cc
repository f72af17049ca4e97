#include "policy/snapshot_policy.h"

#include <algorithm>

namespace cairn {

namespace {

SnapshotPolicy off(const char *why) {
    SnapshotPolicy policy;
    policy.max_snapshots = 0;
    policy.why_off = why;
    return policy;
}

/// Empty where the section leaves caching on.
const char *reason_to_be_off(const BatchingConfig &batching, const PolicyModelFacts &model) {
    if (batching.prefix_caching == false) return "The cache is off: prefix_caching is false.";
    if (!batching.prefix_caching && model.has_sliding_window) {
        return "The cache is off: the model has a sliding window, and prefix_caching is unset. Set it to true to "
               "cache.";
    }
    if (batching.max_snapshots && *batching.max_snapshots <= 0) return "The cache is off: max_snapshots is 0.";
    return "";
}

bool has_storage_policy(const BatchingConfig &batching) {
    return batching.snapshot_device_bytes || batching.snapshot_ram_bytes || batching.snapshot_disk_bytes;
}

}  // namespace

SnapshotPolicy SnapshotPolicy::resolve(const std::optional<BatchingConfig> &batching, const PolicyModelFacts &model) {
    if (!batching) return off("The cache is off: the configuration has no section engine.dynamic_batching.");
    if (const char *why = reason_to_be_off(*batching, model); *why != '\0') return off(why);

    SnapshotPolicy policy;
    policy.enabled = true;
    policy.max_snapshots = batching->max_snapshots.value_or(kUnlimited);
    if (!has_storage_policy(*batching)) {
        policy.max_snapshots = 1;
        policy.max_device_snapshots = 1;
        policy.device_bytes = kUnlimitedBytes;
        return policy;
    }
    policy.device_bytes = batching->snapshot_device_bytes.value_or(0);
    policy.ram_bytes = batching->snapshot_ram_bytes.value_or(0);
    policy.disk_bytes = batching->snapshot_disk_bytes.value_or(0);
    if (policy.device_bytes == 0 && policy.ram_bytes == 0 && policy.disk_bytes == 0) {
        return off(
            "The cache is off: all budgets (snapshot_device_bytes, snapshot_ram_bytes, snapshot_disk_bytes) are 0.");
    }
    // States pass through RAM on their way to the disk and back.
    if (policy.disk_bytes > 0) policy.ram_bytes = std::max(policy.ram_bytes, kDiskStagingBytes);
    policy.max_device_snapshots = policy.device_bytes > 0 ? policy.max_snapshots : 0;
    policy.disk_path = batching->snapshot_disk_path.value_or("");
    return policy;
}

std::string SnapshotPolicy::too_small_for(std::size_t state_bytes) const {
    std::string tiers;
    const auto judge = [&](const char *tier, std::size_t budget) {
        if (budget == 0 || budget >= state_bytes) return;
        if (!tiers.empty()) tiers += ", ";
        tiers += tier;
    };
    judge("device (--cache-device)", device_bytes);
    judge("RAM (--cache-ram)", ram_bytes);
    judge("disk (--cache-disk)", disk_bytes);
    return tiers;
}

}  // namespace cairn
