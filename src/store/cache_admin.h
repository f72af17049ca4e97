// CacheAdmin: what `cairn cache` does to a cache, whether that is a directory nobody uses or a running server's.
//
// Implementations: StoppedCache (store/stopped_cache.h), EngineCacheAdmin (server/engine_cache_admin.h), and
// RunningCache (app/running_cache.h), which asks the second one over HTTP.
//
// Threads: one call at a time, save stop(). Calls block.
// Errors: not_found names the ids that are unknown, and nothing is changed then; shutting_down; unsupported where an
// implementation cannot do it, with what can.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "cairn/error.h"
#include "cairn/types.h"
#include "store/snapshot_listing.h"

namespace cairn {

struct ImportOptions {
    bool any_model = false;       ///< take in what belongs to a model that this cache knows nothing of
    std::uint64_t max_bytes = 0;  ///< most bytes on disk afterwards; 0: no limit. A server has its own
};

struct ImportReport {
    std::uint64_t id = 0;
    bool was_there = false;  ///< the same prefix was kept already: nothing was written
};

struct WarmReport {
    std::uint64_t id = 0;
    TokenPos tokens = 0;         ///< of the text
    TokenPos cached_tokens = 0;  ///< that were not computed
};

class CacheAdmin {
public:
    virtual ~CacheAdmin() = default;
    [[nodiscard]] virtual Result<SnapshotListing> list() = 0;
    /// The whole prefix of a snapshot.
    [[nodiscard]] virtual Result<Tokens> tokens_of(std::uint64_t id) = 0;
    /// From all tiers. capacity: one is in use right now; those before it are gone.
    [[nodiscard]] virtual Status remove(std::span<const std::uint64_t> ids) = 0;
    /// Has it written to disk, whatever admission thinks of it, as soon as the writer comes to it.
    [[nodiscard]] virtual Status keep(std::uint64_t id) = 0;
    /// `path`: an archive (store/snapshot_archive.h) that this process or that of the server can read.
    [[nodiscard]] virtual Result<ImportReport> import_archive(const std::string &path,
                                                              const ImportOptions &options) = 0;
    /// Computes a text as a raw prompt and keeps its state, as keep() does.
    [[nodiscard]] virtual Result<WarmReport> warm(const std::string &text) = 0;
    /// From any thread: what blocks ends soon, and whatever is asked from now on is refused.
    virtual void stop() {}
};

}  // namespace cairn
