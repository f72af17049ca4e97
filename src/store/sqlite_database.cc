#include "store/sqlite_database.h"

#include <fmt/format.h>

namespace cairn {
namespace {

/// Order matters: locking_mode comes before anything that reads, since the log of a database that is not locked
/// exclusively would need shared memory.
///
/// synchronous=NORMAL: a commit is in the log, but not flushed. What was committed survives the end of the process
/// however violent. A power cut may take the last transactions away, never a part of one: frames of the log carry a
/// running checksum, and the log is flushed before any of it goes into the database. For a cache that is enough, and a
/// flush for each snapshot (FULL) would cost milliseconds.
///
/// secure_delete=FAST: what is deleted is overwritten where that costs no further page. Explicit, since builds of
/// SQLite differ in it.
constexpr const char *kSettings =
    "PRAGMA locking_mode=EXCLUSIVE;"
    "PRAGMA trusted_schema=OFF;"
    "PRAGMA cell_size_check=ON;"
    "PRAGMA temp_store=MEMORY;"
    "PRAGMA cache_size=-8192;"
    "PRAGMA foreign_keys=OFF;"
    "PRAGMA synchronous=NORMAL;"
    "PRAGMA secure_delete=FAST;"
    "PRAGMA journal_size_limit=16777216;";

struct Limit {
    int id;
    int value;
};
constexpr Limit kLimits[] = {
    {SQLITE_LIMIT_LENGTH, SqliteDatabase::kMaxRowBytes},
    {SQLITE_LIMIT_SQL_LENGTH, 16384},
    {SQLITE_LIMIT_COLUMN, 64},
    {SQLITE_LIMIT_EXPR_DEPTH, 32},
    {SQLITE_LIMIT_COMPOUND_SELECT, 4},
    {SQLITE_LIMIT_VDBE_OP, 25000},
    {SQLITE_LIMIT_FUNCTION_ARG, 16},
    {SQLITE_LIMIT_ATTACHED, 0},
    {SQLITE_LIMIT_TRIGGER_DEPTH, 1},
    {SQLITE_LIMIT_WORKER_THREADS, 0},
};

struct Switch {
    int id;
    int on;
};
constexpr Switch kSwitches[] = {
    {SQLITE_DBCONFIG_DEFENSIVE, 1},
    {SQLITE_DBCONFIG_ENABLE_TRIGGER, 0},
    {SQLITE_DBCONFIG_ENABLE_VIEW, 0},
    {SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0},
    {SQLITE_DBCONFIG_DQS_DDL, 0},
    {SQLITE_DBCONFIG_DQS_DML, 0},
    // A connection that only looked (at a newer version, at a damaged file) must not write when it closes.
    {SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1},
};

/// What SQLite's code means where the FileSystem said nothing.
ErrorCode code_of(int sqlite_code) {
    if (sqlite_code == SQLITE_IOERR_NOMEM) return ErrorCode::no_memory;
    switch (sqlite_code & 0xff) {
        case SQLITE_NOMEM: return ErrorCode::no_memory;
        case SQLITE_FULL: return ErrorCode::capacity;
        case SQLITE_IOERR:
        case SQLITE_CANTOPEN:
        case SQLITE_BUSY:
        case SQLITE_LOCKED:
        case SQLITE_PROTOCOL: return ErrorCode::io;
        case SQLITE_CONSTRAINT: return ErrorCode::invalid_argument;
        case SQLITE_MISUSE:
        case SQLITE_RANGE: return ErrorCode::internal;
        // CORRUPT and NOTADB, and the rest: our statements are fixed, so that what else SQLite says against them comes
        // from the file, too (a format it does not know, a row that is too long, a file that may only be read).
        default: return ErrorCode::corrupt;
    }
}

/// Of an error of the FileSystem, for callers of the catalogue.
ErrorCode code_of(const Error &error) {
    return error.code == ErrorCode::capacity || error.code == ErrorCode::no_memory ? error.code : ErrorCode::io;
}

}  // namespace

Result<bool> SqliteRun::step() {
    if (code_ != SQLITE_OK) return fail(database_->error(code_));
    const int code = sqlite3_step(statement_);
    if (code == SQLITE_ROW) return true;
    if (code == SQLITE_DONE) return false;
    return fail(database_->error(code));
}

Status SqliteRun::finish() {
    const auto more = step();
    if (!more) return fail(more.error());
    return {};
}

Result<std::unique_ptr<SqliteDatabase>> SqliteDatabase::open(FileSystem &files, const std::string &path) {
    std::unique_ptr<SqliteDatabase> database(new SqliteDatabase(files, path));
    constexpr int kFlags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
    const int code = sqlite3_open_v2(SqliteVfs::kDatabase, &database->db_, kFlags, database->vfs_.name());
    if (code != SQLITE_OK) return fail(database->error(code));
    if (auto ready = database->set_up(); !ready) return fail(ready.error());
    return database;
}

SqliteDatabase::~SqliteDatabase() {
    sqlite3_close_v2(db_);
}

Status SqliteDatabase::set_up() {
    for (const Limit &limit : kLimits)
        sqlite3_limit(db_, limit.id, limit.value);
    for (const Switch &one : kSwitches) {
        const int code = sqlite3_db_config(db_, one.id, one.on, nullptr);
        if (code != SQLITE_OK) return fail(error(code));
    }
    return execute(kSettings);
}

void SqliteDatabase::begin_operation(const char *doing) noexcept {
    doing_ = doing;
    vfs_.forget_error();
}

Result<SqliteStatement> SqliteDatabase::prepare(std::string_view sql) {
    sqlite3_stmt *statement = nullptr;
    const int code = sqlite3_prepare_v3(db_, sql.data(), static_cast<int>(sql.size()), SQLITE_PREPARE_PERSISTENT,
                                        &statement, nullptr);
    if (code != SQLITE_OK) return fail(error(code));
    return SqliteStatement(*this, statement);
}

Status SqliteDatabase::execute(const char *sql) {
    const int code = sqlite3_exec(db_, sql, nullptr, nullptr, nullptr);
    if (code != SQLITE_OK) return fail(error(code));
    return {};
}

Result<std::int64_t> SqliteDatabase::number(const char *sql) {
    const auto statement = prepare(sql);
    if (!statement) return fail(statement.error());
    SqliteRun run = statement->run();
    const auto more = run.step();
    if (!more) return fail(more.error());
    if (!*more) return fail(ErrorCode::corrupt, "{} of {}: {} gives nothing.", doing_, path(), sql);
    return run.number(0);
}

Status SqliteDatabase::begin() {
    keep_log_on_close(true);
    return execute("BEGIN IMMEDIATE");
}

Status SqliteDatabase::commit() {
    return execute("COMMIT");
}

void SqliteDatabase::roll_back() noexcept {
    // Some errors roll back by themselves. In WAL mode it writes nothing, so that it works on a full disk as well.
    if (sqlite3_get_autocommit(db_) == 0) sqlite3_exec(db_, "ROLLBACK", nullptr, nullptr, nullptr);
}

Status SqliteDatabase::tidy() {
    const int code = sqlite3_wal_checkpoint_v2(db_, "main", SQLITE_CHECKPOINT_TRUNCATE, nullptr, nullptr);
    if (code != SQLITE_OK) return fail(error(code));
    keep_log_on_close(false);
    return {};
}

void SqliteDatabase::keep_log_on_close(bool keep) noexcept {
    sqlite3_db_config(db_, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, keep ? 1 : 0, nullptr);
}

Error SqliteDatabase::error(int code) const {
    const int primary = code & 0xff;
    const bool of_files = primary == SQLITE_IOERR || primary == SQLITE_FULL || primary == SQLITE_CANTOPEN;
    const std::optional<Error> &files = vfs_.last_error();
    if (of_files && files) return {code_of(*files), fmt::format("{} failed: {}", doing_, files->what)};
    const char *said = db_ == nullptr ? sqlite3_errstr(code) : sqlite3_errmsg(db_);
    return {code_of(code), fmt::format("{} failed: {}: SQLite says \"{}\" ({}).", doing_, path(), said, code)};
}

}  // namespace cairn
