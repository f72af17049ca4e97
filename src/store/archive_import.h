// Taking an archive into a cache directory: new ids, files, and what the catalogue is told.
//
//     auto header = read_archive_header(files, "handbook.cairn");
//     verify_archive(files, "handbook.cairn", *header);                           // everything, before anything is
//     done CatalogueEntry entry = entry_for_import(*header, {.next_id = ..., ...}); extract_files(directory,
//     "handbook.cairn", *header, entry);                 // checked again on the way directory.catalogue.put(entry);
//
// Threads: one at a time. Errors: those of extract_payload.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "cairn/error.h"
#include "store/cache_directory.h"
#include "store/catalogue.h"
#include "store/snapshot_archive.h"

namespace cairn {

/// Where an imported snapshot goes.
struct ImportPlace {
    std::function<std::uint64_t()> next_id;
    std::uint64_t parent = 0;  ///< the deepest checkpoint of the directory on its path; 0: none
    TokenPos parent_position = 0;
    std::int64_t now_unix_s = 0;
};

/// Checked: the parent lies before the end.
[[nodiscard]] CatalogueEntry entry_for_import(const ArchiveHeader &header, const ImportPlace &place);
/// Writes the files of `entry`, or none.
[[nodiscard]] Status extract_files(const CacheDirectory &directory, const std::string &path,
                                   const ArchiveHeader &header, const CatalogueEntry &entry);
/// Bytes of the files of `entry`, as budgets count them.
[[nodiscard]] std::uint64_t footprint_of(const CatalogueEntry &entry);

}  // namespace cairn
