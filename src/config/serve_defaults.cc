#include "config/serve_defaults.h"

#include <algorithm>

#include "base/bytes.h"

namespace cairn {

void apply_serve_defaults(Config &config, const MachineFacts &machine) {
    auto &section = config.engine.dynamic_batching;
    if (!section) section.emplace();
    if (!section->prefix_caching) section->prefix_caching = true;
    if (!*section->prefix_caching) return;
    if (!section->snapshot_ram_bytes) section->snapshot_ram_bytes = std::max(machine.ram_bytes / 4, 256_MiB);
    if (!section->snapshot_device_bytes) {
        const auto memory = machine.device_bytes > 0 ? machine.device_bytes : machine.ram_bytes;
        section->snapshot_device_bytes = std::max(memory / 16, 64_MiB);
    }
    if (!section->snapshot_disk_path) section->snapshot_disk_path = machine.cache_directory;
    if (!section->snapshot_disk_bytes) {
        section->snapshot_disk_bytes =
            section->snapshot_disk_path->empty() ? 0 : std::min(machine.disk_bytes / 10, 64_GiB);
    }
}

}  // namespace cairn
