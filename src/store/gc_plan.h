// What `cairn cache gc` removes: a listing and limits in, ids out. Pure.
//
// Only what is on disk counts and goes. Least recently used first; of equals the younger, as it builds on the older.
// Rows shared by several snapshots are freed with the last of them, so more may go than sizes say. Snapshots that need
// the rows of one that goes keep them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cairn/error.h"
#include "store/snapshot_listing.h"

namespace cairn {

struct GcLimits {
    std::optional<std::uint64_t> max_bytes{};    ///< of files, of the chosen models together
    std::optional<std::int64_t> older_than_s{};  ///< since their last use
    std::string model{};  ///< a name, or at least 4 digits of a fingerprint's beginning; empty: all
};

[[nodiscard]] std::vector<std::uint64_t> plan_gc(const SnapshotListing &listing, const GcLimits &limits);
[[nodiscard]] bool is_model(const ListedNamespace &ns, const std::string &name_or_fingerprint);
/// Of files, as budgets count them.
[[nodiscard]] std::uint64_t footprint_of(const std::vector<StoredPayload> &payloads);

}  // namespace cairn
