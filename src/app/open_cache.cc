#include "app/open_cache.h"

#include <fmt/format.h>
#include <unistd.h>

#include <utility>

#include "app/admin_line.h"
#include "app/running_cache.h"
#include "store/stopped_cache.h"

namespace cairn {
namespace {

/// Opening makes what is missing, so a path that was mistyped would become a cache.
Status check_is_cache(FileSystem &files, const std::string &directory) {
    if (directory.empty()) {
        return fail(ErrorCode::invalid_argument, "no cache directory: name it with --cache-dir DIR");
    }
    const auto info = files.info(directory);
    if (!info && info.error().code != ErrorCode::not_found) return fail(info.error());
    if (!info || info->kind != FileKind::directory) {
        return fail(ErrorCode::not_found, "there is no cache directory {}: name another one with --cache-dir DIR",
                    directory);
    }
    if (files.info(join_path(directory, "catalogue.db")) || files.info(lock_path_of(directory))) return {};
    return fail(ErrorCode::not_found, "{} is no cache directory, it has no catalogue.db: name one with --cache-dir DIR",
                directory);
}

}  // namespace

Result<OpenCache> open_cache(Env &env, const std::string &directory, WhereMissing missing, double patience_s) {
    FileSystem &files = env.files();
    const Status there = check_is_cache(files, directory);
    if (!there && (missing == WhereMissing::fail || directory.empty())) return fail(there.error());
    auto opened = open_patiently(env, directory, fmt::format("pid {}, cairn cache\n", ::getpid()), patience_s);
    OpenCache cache;
    cache.directory = directory;
    if (opened) {
        cache.removed_files = opened->removed_files;
        cache.lost_something = opened->lost_something;
        cache.admin = std::make_unique<StoppedCache>(std::move(*opened), env);
        return cache;
    }
    if (opened.error().code != ErrorCode::capacity) return fail(opened.error());
    const std::string holder = holder_of(files, directory);
    auto server = parse_admin_line(holder);
    if (!server) return fail(opened.error());
    cache.admin = std::make_unique<RunningCache>(std::move(*server), directory, holder.substr(0, holder.find('\n')));
    cache.running = true;
    return cache;
}

}  // namespace cairn
