#include "app/machine.h"

#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <fstream>

namespace cairn {

namespace {

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

MachineFacts machine_facts() {
    const long pages = sysconf(_SC_PHYS_PAGES);
    const long page_size = sysconf(_SC_PAGE_SIZE);
    if (pages <= 0 || page_size <= 0) return {};
    return {.ram_bytes = control_group_limit(static_cast<std::size_t>(pages) * static_cast<std::size_t>(page_size))};
}

}  // namespace cairn
