// SqliteDatabase: one connection to one database through a FileSystem, set up so that a damaged file can do no harm.
//
//     auto database = SqliteDatabase::open(files, "cache/catalogue.db");    // must exist
//     auto insert = (*database)->prepare("INSERT INTO numbers VALUES(?)");
//     (*database)->begin_operation("Storing a number");                     // what errors will say
//     auto done = (*database)->in_transaction([&] {
//         SqliteRun run = insert->run();
//         run.bind(7);
//         return run.finish();
//     });
//
// The log (WAL) stays as it is when a connection closes, as after a kill; after tidy() it goes.
//
// Ownership: statements must go before their database, runs before their statement. Threads: one at a time.
// Errors: capacity (the disk is full), no_memory, io, and corrupt for all that SQLite says of the file's content. The
// text of the FileSystem's own error is in the message. After an error no transaction is open.
#pragma once

#include <sqlite3.h>

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "cairn/error.h"
#include "store/sqlite_statement.h"
#include "store/sqlite_vfs.h"

namespace cairn {

class SqliteDatabase {
public:
    /// The largest row. Rows are tokens mostly: 16 million of them.
    static constexpr int kMaxRowBytes = 64 << 20;

    [[nodiscard]] static Result<std::unique_ptr<SqliteDatabase>> open(FileSystem &files, const std::string &path);
    ~SqliteDatabase();
    SqliteDatabase(const SqliteDatabase &) = delete;
    SqliteDatabase &operator=(const SqliteDatabase &) = delete;

    [[nodiscard]] const std::string &path() const noexcept { return vfs_.path(); }
    /// Names what is going on, for the messages of errors: "Storing a snapshot". A literal.
    void begin_operation(const char *doing) noexcept;
    [[nodiscard]] Result<SqliteStatement> prepare(std::string_view sql);
    /// Statements without parameters, whose rows are of no interest.
    [[nodiscard]] Status execute(const char *sql);
    /// The one number that a statement gives.
    [[nodiscard]] Result<std::int64_t> number(const char *sql);
    /// Runs `work`, which returns a Status, and commits where it is ok. Otherwise nothing of it remains.
    template <class Work>
    [[nodiscard]] Status in_transaction(Work &&work) {
        if (auto begun = begin(); !begun) return begun;
        Status done = work();
        if (done) done = commit();
        if (!done) roll_back();
        return done;
    }
    /// Moves the log into the database; its file goes with this object, unless more is written before.
    [[nodiscard]] Status tidy();

    /// The error of the last call to SQLite, which gave `code`.
    [[nodiscard]] Error error(int code) const;

private:
    SqliteDatabase(FileSystem &files, const std::string &path) : vfs_(files, path) {}
    [[nodiscard]] Status set_up();
    [[nodiscard]] Status begin();
    [[nodiscard]] Status commit();
    void roll_back() noexcept;
    void keep_log_on_close(bool keep) noexcept;

    SqliteVfs vfs_;
    sqlite3 *db_ = nullptr;
    const char *doing_ = "Opening the database";
};

}  // namespace cairn
