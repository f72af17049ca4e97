// `cairn cache warm`: computes texts and keeps their states on disk, before anybody asks for them.
//
// With a server on the cache directory it computes them; else a model is opened here, as `cairn serve` opens it.
// Threads: one. Errors: those of compose() and of CacheAdmin::warm; capacity where a state does not fit on disk.
#pragma once

#include <string>
#include <vector>

#include "cairn/error.h"
#include "config/config.h"
#include "store/cache_admin.h"

namespace cairn {

struct WarmedFile {
    std::string path;
    WarmReport report;
};

/// A server's.
[[nodiscard]] Result<std::vector<WarmedFile>> warm_running(CacheAdmin &cache, const std::vector<std::string> &paths);
/// `config`: what was asked for; the directory is in it.
[[nodiscard]] Result<std::vector<WarmedFile>> warm_stopped(Config config, const std::string &directory,
                                                           const std::vector<std::string> &paths);

}  // namespace cairn
