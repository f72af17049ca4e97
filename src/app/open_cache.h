// open_cache: the cache in a directory, whether a server runs on it or not.
//
//     auto cache = open_cache(env, directory, WhereMissing::fail);
//     if (!cache) return report(cache.error());
//     auto listing = cache->admin->list();
//
// A lock that is held only for a moment, as by another `cairn cache`, is waited for.
//
// Threads: one. Errors: not_found where there is no cache directory; capacity where somebody holds it who cannot be
// asked; those of CacheDirectory::open.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "env/env.h"
#include "library/open_patiently.h"
#include "store/cache_admin.h"

namespace cairn {

struct OpenCache {
    std::unique_ptr<CacheAdmin> admin;
    std::string directory;
    bool running = false;           ///< a server's
    std::size_t removed_files = 0;  ///< that opening found unfinished or without a row
    bool lost_something = false;    ///< opening found that snapshots, rows or the catalogue are lost; notes say what
};

enum class WhereMissing : std::uint8_t { fail, make };

[[nodiscard]] Result<OpenCache> open_cache(Env &env, const std::string &directory, WhereMissing missing,
                                           double patience_s = kLockPatienceSeconds);

}  // namespace cairn
