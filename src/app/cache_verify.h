// Reading every payload file of a cache with all its checksums.
//
//     VerifyReport report = verify_payloads(files, listing, [](done, all) { ... });
//     for (const DamagedPayload &damaged : report.damaged) ... damaged.snapshots can not be restored from disk
//
// Files are immutable and complete under their names, so those of a running server are read like any others; one that
// is gone by now was evicted meanwhile.
// Threads: one. Cost: reads everything; memory for one chunk.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "env/file_system.h"
#include "store/snapshot_listing.h"

namespace cairn {

struct DamagedPayload {
    std::uint64_t payload = 0;
    std::string path;
    Error error;
    std::vector<std::uint64_t> snapshots;  ///< that need it
};

struct VerifyReport {
    std::size_t checked = 0;  ///< files
    std::uint64_t bytes = 0;
    std::size_t gone = 0;  ///< evicted meanwhile
    std::vector<DamagedPayload> damaged;
};

using VerifyProgress = std::function<void(std::uint64_t done_bytes, std::uint64_t all_bytes)>;

[[nodiscard]] VerifyReport verify_payloads(FileSystem &files, const SnapshotListing &listing,
                                           const VerifyProgress &progress);
/// Of what is damaged, not what could not be read: the file may be whole.
[[nodiscard]] std::vector<std::uint64_t> damaged_snapshots(const VerifyReport &report);
/// `notes`: what was found when the directory was opened (SnapshotListing::notes). `lost`: something was lost then, so
/// that what is left is not all, whole though it is.
[[nodiscard]] std::string verify_text(const VerifyReport &report, const std::vector<std::string> &notes = {},
                                      bool lost = false);
[[nodiscard]] std::string verify_json(const VerifyReport &report, const std::vector<std::uint64_t> &removed,
                                      const std::vector<std::string> &notes = {}, bool lost = false);

}  // namespace cairn
