// `cairn cache warm`: computes texts and keeps their states on disk, before anybody asks for them.
//
//     auto texts = read_texts(files, {"handbook.txt"});          // all of them, before a model is opened
//     auto done = warm_running(*cache.admin, *texts);
//     if (done && done->error) ...                               // the files before it are on disk all the same
//
// With a server on the cache directory it computes them; else a model is opened here, as `cairn serve` opens it.
// Threads: one. Errors: those of compose() and of CacheAdmin::warm; capacity where a state does not fit on disk.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cairn/error.h"
#include "config/config.h"
#include "env/file_system.h"
#include "store/cache_admin.h"

namespace cairn {

struct WarmText {
    std::string path;
    std::string text;
};

struct WarmedFile {
    std::string path;
    WarmReport report;
};

struct WarmOutcome {
    std::vector<WarmedFile> files;  ///< that are on disk now
    std::optional<Error> error;     ///< what ended it before the last file
};

/// Bytes that are no UTF-8 become U+FFFD, as in every prompt that a server takes.
[[nodiscard]] Result<std::vector<WarmText>> read_texts(FileSystem &files, const std::vector<std::string> &paths);
/// A server's.
[[nodiscard]] Result<WarmOutcome> warm_running(CacheAdmin &cache, const std::vector<WarmText> &texts);
/// `config`: what was asked for; the directory is in it.
[[nodiscard]] Result<WarmOutcome> warm_stopped(Config config, const std::string &directory,
                                               const std::vector<WarmText> &texts);

}  // namespace cairn
