// SqliteStatement: a compiled statement. SqliteRun: one run of it.
//
//     SqliteRun run = statement.run();
//     run.bind(12);                            // parameters in their order
//     run.bind("name");
//     for (;;) {
//         auto more = run.step();              // Result<bool>: is there a row?
//         if (!more) return fail(more.error());
//         if (!*more) break;
//         run.number(0), run.bytes(1);         // columns; views live until the next step
//     }
//
// Ownership: a run resets its statement when it goes; at most one run of a statement at a time. What is bound as text
// or bytes must live as long as the run. Threads: those of the database. Errors: those of SqliteDatabase.
#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <string_view>
#include <utility>

#include "base/bytes.h"
#include "cairn/error.h"

namespace cairn {

class SqliteDatabase;

class SqliteRun {
public:
    SqliteRun(const SqliteDatabase &database, sqlite3_stmt *statement) : database_(&database), statement_(statement) {}
    ~SqliteRun() {
        if (statement_ == nullptr) return;
        sqlite3_reset(statement_);
        sqlite3_clear_bindings(statement_);
    }
    SqliteRun(const SqliteRun &) = delete;
    SqliteRun &operator=(const SqliteRun &) = delete;
    SqliteRun(SqliteRun &&other) noexcept
        : database_(other.database_),
          statement_(std::exchange(other.statement_, nullptr)),
          bound_(other.bound_),
          code_(other.code_) {}
    SqliteRun &operator=(SqliteRun &&) = delete;

    void bind(std::int64_t value) { keep(sqlite3_bind_int64(statement_, ++bound_, value)); }
    void bind(std::string_view text) {
        // A view without data would be NULL.
        const char *data = text.data() == nullptr ? "" : text.data();
        keep(sqlite3_bind_text64(statement_, ++bound_, data, text.size(), SQLITE_STATIC, SQLITE_UTF8));
    }
    void bind(Bytes bytes) {
        const void *data = bytes.data() == nullptr ? static_cast<const void *>("") : bytes.data();
        keep(sqlite3_bind_blob64(statement_, ++bound_, data, bytes.size(), SQLITE_STATIC));
    }

    /// True: there is a row. False: the statement is done.
    [[nodiscard]] Result<bool> step();
    /// For statements that give no rows.
    [[nodiscard]] Status finish();

    /// Whatever the column holds, as a number.
    [[nodiscard]] std::int64_t number(int column) const { return sqlite3_column_int64(statement_, column); }
    /// Whatever the column holds, as bytes.
    [[nodiscard]] Bytes bytes(int column) const {
        const void *data = sqlite3_column_blob(statement_, column);  // before the size: it may convert
        const int size = sqlite3_column_bytes(statement_, column);
        return {static_cast<const std::byte *>(data), data == nullptr ? 0 : static_cast<std::size_t>(size)};
    }
    [[nodiscard]] std::string_view text(int column) const {
        const Bytes found = bytes(column);
        return {reinterpret_cast<const char *>(found.data()), found.size()};
    }

private:
    void keep(int code) noexcept {
        if (code_ == SQLITE_OK) code_ = code;
    }

    const SqliteDatabase *database_;
    sqlite3_stmt *statement_;
    int bound_ = 0;
    int code_ = SQLITE_OK;  ///< of the first bind that failed
};

class SqliteStatement {
public:
    SqliteStatement() = default;
    SqliteStatement(const SqliteDatabase &database, sqlite3_stmt *statement)
        : database_(&database), statement_(statement) {}
    ~SqliteStatement() { sqlite3_finalize(statement_); }
    SqliteStatement(const SqliteStatement &) = delete;
    SqliteStatement &operator=(const SqliteStatement &) = delete;
    SqliteStatement(SqliteStatement &&other) noexcept
        : database_(other.database_), statement_(std::exchange(other.statement_, nullptr)) {}
    SqliteStatement &operator=(SqliteStatement &&other) noexcept {
        std::swap(database_, other.database_);
        std::swap(statement_, other.statement_);
        return *this;
    }

    [[nodiscard]] SqliteRun run() const { return {*database_, statement_}; }

private:
    const SqliteDatabase *database_ = nullptr;
    sqlite3_stmt *statement_ = nullptr;
};

}  // namespace cairn
