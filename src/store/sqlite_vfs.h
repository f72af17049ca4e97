// SqliteVfs: SQLite's way to the files of one database, through a FileSystem and to nothing else.
//
//     SqliteVfs vfs(files, "cache/catalogue.db");
//     sqlite3_open_v2(SqliteVfs::kDatabase, &db, SQLITE_OPEN_READWRITE, vfs.name());
//     // SQLite's "db" is cache/catalogue.db, "db-wal" is cache/catalogue.db-wal, "db-journal" likewise
//
// SQLite never sees the path: a path that begins with "file:" or is ":memory:" means nothing special. Any other name,
// temporary files included, is refused.
//
// There is no shared memory: WAL needs PRAGMA locking_mode=EXCLUSIVE before the first statement that reads. Locks are
// no-ops, since whoever opens the database holds the lock of its folder. Interrupted calls are made again.
//
// Ownership: registered with SQLite from construction to destruction; every connection must be closed before, and the
// FileSystem must outlive it. Threads: one at a time. Errors: SQLite sees its own codes; what the FileSystem said last
// is kept in last_error().
#pragma once

#include <sqlite3.h>

#include <memory>
#include <optional>
#include <string>

#include "env/file_system.h"

namespace cairn {

/// Calls until it is not interrupted: for the operations of FileSystem and File that do not do so themselves.
template <class Call>
[[nodiscard]] auto uninterrupted(Call &&call) {
    for (;;) {
        auto result = call();
        if (result || result.error().code != ErrorCode::cancelled) return result;
    }
}

/// "a/b" -> "a"; "b" -> "."; "/b" -> "/".
[[nodiscard]] std::string folder_of(const std::string &path);

class SqliteVfs {
public:
    static constexpr const char *kDatabase = "db";

    SqliteVfs(FileSystem &files, std::string path);
    ~SqliteVfs();
    SqliteVfs(const SqliteVfs &) = delete;
    SqliteVfs &operator=(const SqliteVfs &) = delete;

    [[nodiscard]] const char *name() const noexcept { return name_.c_str(); }
    [[nodiscard]] const std::string &path() const noexcept { return path_; }
    [[nodiscard]] FileSystem &files() const noexcept { return files_; }
    /// The real path of one of SQLite's names; none where it is not one of this database's files.
    [[nodiscard]] std::optional<std::string> path_of(const char *sqlite_name) const;

    /// What the FileSystem said when it last failed, since forget_error().
    [[nodiscard]] const std::optional<Error> &last_error() const noexcept { return last_error_; }
    void forget_error() noexcept { last_error_.reset(); }
    /// Keeps `error` and gives the code for SQLite: `otherwise` where no code says it better.
    [[nodiscard]] int failed(const Error &error, int otherwise);

private:
    FileSystem &files_;
    std::string path_;
    std::string name_;
    std::optional<Error> last_error_;
    std::unique_ptr<sqlite3_vfs> vfs_;
};

}  // namespace cairn
