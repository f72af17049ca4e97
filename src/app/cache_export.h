// Writing one snapshot of a cache as an archive (store/snapshot_archive.h).
//
//     auto bytes = export_snapshot(env.files(), *cache.admin, 12, "handbook.cairn");
//
// The payload files are read directly, those of a running server too. What a server has in memory only is written to
// disk first. A file that is there is replaced only where that is asked for, anything else never (store/write_aside.h).
// Threads: one. Errors: not_found for an unknown id, or a file that was evicted meanwhile; capacity where the server
// did not write it in time; those of write_archive.
#pragma once

#include <cstdint>
#include <string>

#include "cairn/error.h"
#include "env/file_system.h"
#include "store/cache_admin.h"
#include "store/snapshot_archive.h"

namespace cairn {

/// Returns the size of the archive.
[[nodiscard]] Result<std::uint64_t> export_snapshot(FileSystem &files, CacheAdmin &cache, std::uint64_t id,
                                                    const std::string &path, Existing existing = Existing::refuse);
/// What an archive of a listed snapshot says.
[[nodiscard]] ArchiveHeader archive_header_of(const SnapshotListing &listing, const ListedPlace &place, Tokens tokens);
/// Waits until a server has written snapshots to disk, for at most `seconds`: the listing then. capacity: it has not.
[[nodiscard]] Result<SnapshotListing> wait_until_on_disk(CacheAdmin &cache, std::span<const std::uint64_t> ids,
                                                         double seconds);

}  // namespace cairn
