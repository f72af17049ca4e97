#include "app/machine.h"

#include <unistd.h>

namespace cairn {

MachineFacts machine_facts() {
    const long pages = sysconf(_SC_PHYS_PAGES);
    const long page_size = sysconf(_SC_PAGE_SIZE);
    if (pages <= 0 || page_size <= 0) return {};
    return {.ram_bytes = static_cast<std::size_t>(pages) * static_cast<std::size_t>(page_size)};
}

}  // namespace cairn
