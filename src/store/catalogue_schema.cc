#include "store/catalogue_schema.h"

#include <fmt/format.h>

#include <array>
#include <cstring>
#include <memory>
#include <optional>
#include <string_view>

#include "store/catalogue.h"
#include "store/write_aside.h"

namespace cairn {
namespace {

struct Table {
    const char *name;
    const char *sql;
};

// No indexes: everything is found by id, and what must be found otherwise is known in memory (store/catalogue_tree.h).
// So a row is the only place where its facts stand, and nothing can contradict it.
constexpr std::array<Table, 5> kTables{{
    {"facts",
     "CREATE TABLE facts(\n"
     "    name TEXT NOT NULL PRIMARY KEY,\n"
     "    value TEXT NOT NULL,\n"
     "    checksum INTEGER NOT NULL\n"
     ") STRICT, WITHOUT ROWID"},
    {"namespaces",
     "CREATE TABLE namespaces(\n"
     "    id INTEGER PRIMARY KEY,\n"
     "    fingerprint BLOB NOT NULL,\n"
     "    tenant TEXT NOT NULL,\n"
     "    model TEXT NOT NULL,\n"
     "    checksum INTEGER NOT NULL\n"
     ") STRICT"},
    {"payloads",
     "CREATE TABLE payloads(\n"
     "    id INTEGER PRIMARY KEY,\n"
     "    namespace INTEGER NOT NULL,\n"
     "    kind INTEGER NOT NULL,\n"
     "    parent INTEGER NOT NULL,\n"
     "    span_begin INTEGER NOT NULL,\n"
     "    span_end INTEGER NOT NULL,\n"
     "    bytes INTEGER NOT NULL,\n"
     "    file_bytes INTEGER NOT NULL,\n"
     "    checksum INTEGER NOT NULL\n"
     ") STRICT"},
    {"snapshots",
     "CREATE TABLE snapshots(\n"
     "    id INTEGER PRIMARY KEY,\n"
     "    namespace INTEGER NOT NULL,\n"
     "    parent INTEGER NOT NULL,\n"
     "    position INTEGER NOT NULL,\n"
     "    tokens BLOB NOT NULL,\n"
     "    kind INTEGER NOT NULL,\n"
     "    created_unix_s INTEGER NOT NULL,\n"
     "    text TEXT NOT NULL,\n"
     "    checksum INTEGER NOT NULL\n"
     ") STRICT"},
    {"states",
     "CREATE TABLE states(\n"
     "    id INTEGER PRIMARY KEY,\n"
     "    rows_payload INTEGER NOT NULL,\n"
     "    boundary_payload INTEGER NOT NULL,\n"
     "    last_use_unix_s INTEGER NOT NULL,\n"
     "    hits INTEGER NOT NULL,\n"
     "    checksum INTEGER NOT NULL\n"
     ") STRICT"},
}};

constexpr std::string_view kMagic{"SQLite format 3\0", 16};
constexpr std::size_t kHeaderBytes = 100;
constexpr std::size_t kWriteVersionAt = 18;  // 2: WAL
constexpr std::size_t kReadVersionAt = 19;   // likewise
constexpr std::size_t kUserVersionAt = 60;
constexpr std::size_t kApplicationIdAt = 68;

std::int64_t big_endian_i32(const std::byte *at) {
    std::uint32_t value = 0;
    for (int i = 0; i < 4; ++i)
        value = value << 8 | std::to_integer<std::uint32_t>(at[i]);
    return static_cast<std::int32_t>(value);
}

tl::unexpected<Error> is_no_catalogue(const std::string &path, std::string_view why) {
    return fail(ErrorCode::corrupt, "{} is no catalogue of cairn ({}): move it away to start with an empty one.", path,
                why);
}

struct SqliteCloser {
    void operator()(sqlite3 *db) const noexcept { sqlite3_close_v2(db); }
};
struct SqliteFreer {
    void operator()(unsigned char *memory) const noexcept { sqlite3_free(memory); }
};

/// The bytes of an empty database. In memory, so that SQLite opens no file.
Result<std::string> empty_database() {
    sqlite3 *raw = nullptr;
    const int opened = sqlite3_open_v2(":memory:", &raw, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, nullptr);
    const std::unique_ptr<sqlite3, SqliteCloser> db(raw);
    const std::string sql = fmt::format(
        "PRAGMA page_size=4096; PRAGMA encoding='UTF-8'; PRAGMA auto_vacuum=NONE; PRAGMA application_id={}; "
        "PRAGMA user_version={}; BEGIN; {} COMMIT;",
        kCatalogueApplicationId, Catalogue::kVersion, catalogue_schema_sql());
    if (opened != SQLITE_OK || sqlite3_exec(db.get(), sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) {
        return fail(ErrorCode::no_memory, "Composing an empty catalogue failed: SQLite says \"{}\".",
                    sqlite3_errmsg(db.get()));
    }
    sqlite3_int64 size = 0;
    const std::unique_ptr<unsigned char, SqliteFreer> image(sqlite3_serialize(db.get(), "main", &size, 0));
    if (image == nullptr) return fail(ErrorCode::no_memory, "No memory for an empty catalogue of {} bytes.", size);
    std::string bytes(reinterpret_cast<const char *>(image.get()), static_cast<std::size_t>(size));
    bytes[kWriteVersionAt] = 2;
    bytes[kReadVersionAt] = 2;
    return bytes;
}

Status remove_if_there(FileSystem &files, const std::string &path) {
    const auto gone = uninterrupted([&] { return files.remove(path); });
    if (!gone && gone.error().code != ErrorCode::not_found) return fail(gone.error());
    return {};
}

Status remove_logs(FileSystem &files, const std::string &path) {
    if (auto gone = remove_if_there(files, path + "-wal"); !gone) return gone;
    return remove_if_there(files, path + "-journal");
}

/// By the header of the file, which is only read; none where there is no file, or an empty one.
Result<std::optional<std::int64_t>> version_in_header(FileSystem &files, const std::string &path) {
    auto file = uninterrupted([&] { return files.open(path, OpenMode::read); });
    if (!file && file.error().code == ErrorCode::not_found) return std::nullopt;
    if (!file && file.error().code == ErrorCode::invalid_argument) return is_no_catalogue(path, "it is no file");
    if (!file) return fail(file.error());
    const auto size = uninterrupted([&] { return (*file)->size(); });
    if (!size) return fail(size.error());
    if (*size == 0) return std::nullopt;
    std::array<std::byte, kHeaderBytes> header;
    if (auto read = read_exactly(**file, 0, header); !read) {
        if (read.error().code == ErrorCode::corrupt) return is_no_catalogue(path, "it is too short");
        return fail(read.error());
    }
    if (std::memcmp(header.data(), kMagic.data(), kMagic.size()) != 0)
        return is_no_catalogue(path, "it is no database of SQLite");
    if (big_endian_i32(header.data() + kApplicationIdAt) != kCatalogueApplicationId)
        return is_no_catalogue(path, "it is another program's database");
    return big_endian_i32(header.data() + kUserVersionAt);
}

/// By SQLite, so that a log that is not yet in the database counts. Writes nothing.
Result<std::int64_t> version_of(SqliteDatabase &database) {
    const auto application = database.number("PRAGMA application_id");
    if (!application) return fail(application.error());
    if (*application != kCatalogueApplicationId)
        return is_no_catalogue(database.path(), "it is another program's database");
    return database.number("PRAGMA user_version");
}

/// ok where the tables are exactly ours.
Status check_schema(SqliteDatabase &database) {
    const auto statement = database.prepare("SELECT name, type, sql FROM sqlite_schema ORDER BY name");
    if (!statement) return fail(statement.error());
    SqliteRun run = statement->run();
    for (const Table &table : kTables) {
        const auto more = run.step();
        if (!more) return fail(more.error());
        if (!*more || run.text(0) != table.name || run.text(1) != "table" || run.text(2) != table.sql)
            return is_no_catalogue(database.path(), fmt::format("its table {} is missing or different", table.name));
    }
    const auto more = run.step();
    if (!more) return fail(more.error());
    if (*more) return is_no_catalogue(database.path(), "it has a table that is not ours");
    return {};
}

/// Makes an empty database in the place of whatever is there. A log that lies beside it goes first: it is another
/// database's, and SQLite would take it for this one's.
Status make_file(FileSystem &files, const std::string &path) {
    const auto bytes = empty_database();
    if (!bytes) return fail(bytes.error());
    if (auto gone = remove_logs(files, path); !gone) return gone;
    // The old log must be gone for good before there is a database that it could be taken for a part of.
    auto synced = uninterrupted([&] { return files.sync_directory(folder_of(path)); });
    if (!synced) return synced;
    return write_aside(files, path, [&](File &file) { return write_all(file, 0, std::as_bytes(std::span(*bytes))); });
}

tl::unexpected<Error> is_newer(const std::string &path, std::int64_t version) {
    return fail(ErrorCode::unsupported,
                "{} was written by a newer cairn (version {} of the catalogue, this one knows {}): use that cairn, or "
                "another cache directory.",
                path, version, Catalogue::kVersion);
}

/// A database of this version. `version` is the header's; a log beside the file may know better.
Result<std::unique_ptr<SqliteDatabase>> open_current(FileSystem &files, const std::string &path) {
    auto version = version_in_header(files, path);
    if (!version) return fail(version.error());
    for (bool fresh = false;; fresh = true) {
        if (version->value_or(0) > Catalogue::kVersion) return is_newer(path, **version);
        // Where older versions are to be brought up instead of dropped, this is the place.
        if (version->value_or(0) < Catalogue::kVersion) {
            if (auto made = make_file(files, path); !made) return fail(made.error());
            fresh = true;
        }
        auto database = SqliteDatabase::open(files, path);
        if (!database) return fail(database.error());
        const auto found = version_of(**database);
        if (!found) return fail(found.error());
        if (*found == Catalogue::kVersion) return database;
        if (fresh) return fail(ErrorCode::corrupt, "{} is new and says version {}.", path, *found);
        *version = *found;
    }
}

}  // namespace

std::string catalogue_schema_sql() {
    std::string sql;
    for (const Table &table : kTables)
        sql += fmt::format("{};\n", table.sql);
    return sql;
}

Result<std::unique_ptr<SqliteDatabase>> open_catalogue_file(FileSystem &files, const std::string &path) {
    auto database = open_current(files, path);
    if (!database) return database;
    if (auto ours = check_schema(**database); !ours) return fail(ours.error());
    // Ours is in WAL mode from its making; somebody's tools may have changed that.
    if (auto logged = (*database)->execute("PRAGMA journal_mode=WAL"); !logged) return fail(logged.error());
    return database;
}

}  // namespace cairn
