#include "library/machine.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <fstream>

#include "base/bytes.h"

namespace cairn {

namespace {

/// Of which a small part becomes the budget.
constexpr std::size_t kUnknownDiskBytes = 10_GiB;

/// The memory limit of the control group this process runs in (a container's), or `otherwise` where there is none.
std::size_t control_group_limit(std::size_t otherwise) {
    for (const char *path : {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"}) {
        std::ifstream file(path);
        std::uint64_t bytes = 0;
        if (file >> bytes && bytes > 0) return std::min<std::uint64_t>(bytes, otherwise);  // "max" reads as no number
    }
    return otherwise;
}

}  // namespace

std::string default_cache_directory() {
    if (const char *cache = std::getenv("XDG_CACHE_HOME"); cache != nullptr && *cache == '/') {
        return join_path(cache, "cairn");
    }
    const char *home = std::getenv("HOME");
    return home != nullptr && *home == '/' ? join_path(home, ".cache/cairn") : "";
}

Result<SpaceInfo> space_around(FileSystem &files, std::string path) {
    auto space = files.space(path);
    while (!space && space.error().code == ErrorCode::not_found && path.size() > 1) {
        const std::size_t slash = path.find_last_of('/', path.size() - 2);
        path = slash == std::string::npos ? "." : slash == 0 ? "/" : path.substr(0, slash);
        space = files.space(path);
        if (path == ".") break;
    }
    return space;
}

MachineFacts machine_facts(const std::string &cache_directory) {
    MachineFacts facts;
    const long pages = sysconf(_SC_PHYS_PAGES);
    const long page_size = sysconf(_SC_PAGE_SIZE);
    if (pages > 0 && page_size > 0) {
        facts.ram_bytes = control_group_limit(static_cast<std::size_t>(pages) * static_cast<std::size_t>(page_size));
    }
    facts.cache_directory = cache_directory.empty() ? default_cache_directory() : cache_directory;
    if (!facts.cache_directory.empty()) {
        const auto space = space_around(posix_file_system(), facts.cache_directory);
        // Some file systems have no size (/proc, some network ones). That must not turn the disk tier off without a
        // word: whether the directory can be used shows when it is opened.
        facts.disk_bytes = space && space->total > 0 ? static_cast<std::size_t>(space->total) : kUnknownDiskBytes;
    }
    return facts;
}

std::size_t raise_file_limit(std::size_t wanted) {
    rlimit limit{};
    if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return wanted;
    if (limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur >= wanted) return wanted;
    limit.rlim_cur = limit.rlim_max == RLIM_INFINITY ? wanted : std::min<rlim_t>(wanted, limit.rlim_max);
    (void)::setrlimit(RLIMIT_NOFILE, &limit);
    return ::getrlimit(RLIMIT_NOFILE, &limit) == 0 ? static_cast<std::size_t>(limit.rlim_cur) : wanted;
}

}  // namespace cairn
