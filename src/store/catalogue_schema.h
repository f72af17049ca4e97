// The catalogue's database as a file: its schema, how a new one is made, and how one is told from anything else.
// Format: docs/formats/catalogue.md.
//
// A new database is composed in memory, written aside, flushed and renamed, so that no kill leaves half of one; it is
// in WAL mode from its first byte. What is read of an existing one before SQLite may touch it is its header.
//
// Threads: one at a time for each path. Errors: those of FileSystem; corrupt; unsupported.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "env/file_system.h"
#include "store/sqlite_database.h"

namespace cairn {

/// "crnC": in the header of the file, so that `file` and we know whose it is.
inline constexpr std::int64_t kCatalogueApplicationId = 0x63726e43;

/// The statements that make the tables, in the order of their names.
[[nodiscard]] std::string catalogue_schema_sql();

/// The database at `path`, of this version and with exactly these tables. It is made where there is none, or an older
/// one; an older one's content is dropped. unsupported: a newer one. corrupt: something else. Neither is written to.
[[nodiscard]] Result<std::unique_ptr<SqliteDatabase>> open_catalogue_file(FileSystem &files, const std::string &path);

}  // namespace cairn
