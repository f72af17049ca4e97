#include "store/sqlite_vfs.h"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <memory>
#include <vector>

#include "store/sqlite_database.h"
#include "tests/support/sim_file_system.h"

namespace cairn {
namespace {

constexpr int kMake = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;

/// One file through the VFS, as SQLite sees it.
class VfsTest : public ::testing::Test {
protected:
    VfsTest() {
        EXPECT_TRUE(disk_.make_directories("/cache").has_value());
        disk_.sync_all();
        raw_ = sqlite3_vfs_find(vfs_.name());
    }
    ~VfsTest() override { close(); }

    int open(const char *name, int flags) {
        close();
        memory_.resize(static_cast<std::size_t>(raw_->szOsFile));
        return raw_->xOpen(raw_, name, file(), flags, nullptr);
    }
    void close() {
        if (!memory_.empty() && file()->pMethods != nullptr) file()->pMethods->xClose(file());
        memory_.clear();
    }
    sqlite3_file *file() { return reinterpret_cast<sqlite3_file *>(memory_.data()); }
    const sqlite3_io_methods &call() { return *file()->pMethods; }
    int write(const std::string &text, sqlite3_int64 at) {
        return call().xWrite(file(), text.data(), static_cast<int>(text.size()), at);
    }
    int exists(const char *name) {
        int found = -1;
        EXPECT_EQ(raw_->xAccess(raw_, name, SQLITE_ACCESS_EXISTS, &found), SQLITE_OK);
        return found;
    }

    SimFileSystem disk_;
    SqliteVfs vfs_{disk_, "/cache/x.db"};
    sqlite3_vfs *raw_ = nullptr;
    std::vector<std::byte> memory_;
};

TEST_F(VfsTest, GivesSqliteTheFilesOfOneDatabaseAndNoOthers) {
    EXPECT_EQ(open("db", kMake | SQLITE_OPEN_MAIN_DB), SQLITE_OK);
    EXPECT_EQ(open("db-wal", kMake | SQLITE_OPEN_WAL), SQLITE_OK);
    EXPECT_EQ(open("db-journal", kMake | SQLITE_OPEN_MAIN_JOURNAL), SQLITE_OK);
    EXPECT_EQ(disk_.files(), (std::vector<std::string>{"/cache/x.db", "/cache/x.db-journal", "/cache/x.db-wal"}));
    EXPECT_EQ(open(nullptr, kMake | SQLITE_OPEN_DELETEONCLOSE | SQLITE_OPEN_TEMP_DB), SQLITE_CANTOPEN);
    for (const char *name : {"", "x", "db-shm", "db-mj123", "/cache/x.db", "dbx"}) {
        EXPECT_EQ(open(name, kMake), SQLITE_CANTOPEN) << name;
        EXPECT_EQ(exists(name), 0) << name;
        EXPECT_EQ(raw_->xDelete(raw_, name, 0), SQLITE_IOERR_DELETE) << name;
    }
    EXPECT_EQ(disk_.files().size(), 3u);
}

TEST_F(VfsTest, OpensAsItIsTold) {
    EXPECT_EQ(open("db", SQLITE_OPEN_READWRITE), SQLITE_CANTOPEN);
    ASSERT_TRUE(vfs_.last_error().has_value());
    EXPECT_EQ(vfs_.last_error()->code, ErrorCode::not_found);
    vfs_.forget_error();
    EXPECT_FALSE(vfs_.last_error().has_value());
    EXPECT_EQ(open("db", kMake), SQLITE_OK);
    EXPECT_EQ(write("abc", 0), SQLITE_OK);
    EXPECT_EQ(open("db", kMake | SQLITE_OPEN_EXCLUSIVE), SQLITE_CANTOPEN);
    EXPECT_EQ(open("db", SQLITE_OPEN_READONLY), SQLITE_OK);
    EXPECT_NE(write("abc", 0), SQLITE_OK);
}

TEST_F(VfsTest, AShortReadFillsTheRestWithZeros) {
    ASSERT_EQ(open("db", kMake), SQLITE_OK);
    ASSERT_EQ(write("abcdef", 0), SQLITE_OK);
    std::array<char, 8> to;
    to.fill('x');
    EXPECT_EQ(call().xRead(file(), to.data(), 4, 1), SQLITE_OK);
    EXPECT_EQ(std::string(to.data(), 5), "bcdex");
    to.fill('x');
    EXPECT_EQ(call().xRead(file(), to.data(), 7, 2), SQLITE_IOERR_SHORT_READ);
    EXPECT_EQ(std::string(to.data(), 8), std::string("cdef\0\0\0x", 8));
    to.fill('x');
    EXPECT_EQ(call().xRead(file(), to.data(), 2, 100), SQLITE_IOERR_SHORT_READ);
    EXPECT_EQ(std::string(to.data(), 3), std::string("\0\0x", 3));
    EXPECT_FALSE(vfs_.last_error().has_value());
}

TEST_F(VfsTest, FilesGrowAndShrink) {
    ASSERT_EQ(open("db", kMake), SQLITE_OK);
    sqlite3_int64 size = -1;
    ASSERT_EQ(write("abc", 5), SQLITE_OK);
    EXPECT_EQ(call().xFileSize(file(), &size), SQLITE_OK);
    EXPECT_EQ(size, 8);
    EXPECT_EQ(call().xTruncate(file(), 6), SQLITE_OK);
    EXPECT_EQ(disk_.content("/cache/x.db"), std::string("\0\0\0\0\0a", 6));
}

TEST_F(VfsTest, EmptyFilesCountAsNone) {
    EXPECT_EQ(exists("db-wal"), 0);
    ASSERT_EQ(open("db-wal", kMake | SQLITE_OPEN_WAL), SQLITE_OK);
    EXPECT_EQ(exists("db-wal"), 0);
    ASSERT_EQ(write("a", 0), SQLITE_OK);
    EXPECT_EQ(exists("db-wal"), 1);
}

TEST_F(VfsTest, DeletingWhatIsNotThereSaysSo) {
    EXPECT_EQ(raw_->xDelete(raw_, "db-wal", 1), SQLITE_IOERR_DELETE_NOENT);
    ASSERT_EQ(open("db-wal", kMake | SQLITE_OPEN_WAL), SQLITE_OK);
    EXPECT_EQ(raw_->xDelete(raw_, "db-wal", 1), SQLITE_OK);
    EXPECT_TRUE(disk_.files().empty());
}

TEST_F(VfsTest, EachFailureHasItsCodeAndItsTextIsKept) {
    ASSERT_EQ(open("db", kMake), SQLITE_OK);
    const auto failing = [&](ErrorCode code, auto &&operation) {
        vfs_.forget_error();
        disk_.fail_operation(1, code);
        const int got = operation();
        EXPECT_TRUE(vfs_.last_error().has_value() && vfs_.last_error()->code == code);
        EXPECT_TRUE(vfs_.last_error()->what.find("/cache") != std::string::npos) << vfs_.last_error()->what;
        return got;
    };
    char byte = 0;
    int found = 0;
    sqlite3_int64 size = 0;
    const auto write_one = [&] { return write("a", 0); };
    EXPECT_EQ(failing(ErrorCode::io, write_one), SQLITE_IOERR_WRITE);
    EXPECT_EQ(failing(ErrorCode::capacity, write_one), SQLITE_FULL);
    EXPECT_EQ(failing(ErrorCode::no_memory, write_one), SQLITE_IOERR_NOMEM);
    EXPECT_EQ(failing(ErrorCode::io, [&] { return call().xRead(file(), &byte, 1, 0); }), SQLITE_IOERR_READ);
    EXPECT_EQ(failing(ErrorCode::io, [&] { return call().xTruncate(file(), 0); }), SQLITE_IOERR_TRUNCATE);
    EXPECT_EQ(failing(ErrorCode::io, [&] { return call().xFileSize(file(), &size); }), SQLITE_IOERR_FSTAT);
    EXPECT_EQ(failing(ErrorCode::io, [&] { return call().xSync(file(), SQLITE_SYNC_NORMAL); }), SQLITE_IOERR_FSYNC);
    EXPECT_EQ(failing(ErrorCode::io, [&] { return raw_->xDelete(raw_, "db", 1); }), SQLITE_IOERR_DELETE);
    EXPECT_EQ(failing(ErrorCode::io, [&] { return raw_->xAccess(raw_, "db", 0, &found); }), SQLITE_IOERR_ACCESS);
}

TEST_F(VfsTest, InterruptedCallsAreMadeAgain) {
    ASSERT_EQ(open("db", kMake), SQLITE_OK);
    disk_.fail_operation(1, ErrorCode::cancelled);
    EXPECT_EQ(write("abc", 0), SQLITE_OK);
    disk_.fail_operation(1, ErrorCode::cancelled);
    std::array<char, 3> to{};
    EXPECT_EQ(call().xRead(file(), to.data(), 3, 0), SQLITE_OK);
    EXPECT_EQ(std::string(to.data(), 3), "abc");
    disk_.fail_operation(1, ErrorCode::cancelled);
    EXPECT_EQ(call().xSync(file(), SQLITE_SYNC_NORMAL), SQLITE_OK);
    EXPECT_FALSE(vfs_.last_error().has_value());
}

TEST_F(VfsTest, SyncingANewFileKeepsItsNameToo) {
    ASSERT_EQ(open("db", kMake), SQLITE_OK);
    ASSERT_EQ(write("abc", 0), SQLITE_OK);
    ASSERT_EQ(call().xSync(file(), SQLITE_SYNC_NORMAL), SQLITE_OK);
    for (std::uint64_t seed = 1; seed <= 50; ++seed) {
        const auto disk = disk_.clone();
        disk->crash(seed);
        ASSERT_EQ(disk->files(), std::vector<std::string>{"/cache/x.db"}) << seed;
        ASSERT_EQ(disk->content("/cache/x.db"), "abc") << seed;
    }
    EXPECT_EQ(raw_->xDelete(raw_, "db", 1), SQLITE_OK);
    for (std::uint64_t seed = 1; seed <= 50; ++seed) {
        const auto disk = disk_.clone();
        disk->crash(seed);
        ASSERT_TRUE(disk->files().empty()) << seed;
    }
}

TEST(SqliteVfs, IsKnownToSqliteForAsLongAsItLivesAndNeverTheDefault) {
    SimFileSystem disk;
    std::string name;
    {
        const SqliteVfs first(disk, "/a");
        const SqliteVfs second(disk, "/a");
        name = first.name();
        EXPECT_NE(name, second.name());
        EXPECT_NE(sqlite3_vfs_find(first.name()), nullptr);
        EXPECT_NE(sqlite3_vfs_find(first.name()), sqlite3_vfs_find(second.name()));
        EXPECT_NE(sqlite3_vfs_find(nullptr), sqlite3_vfs_find(first.name()));
        EXPECT_NE(sqlite3_vfs_find(nullptr), sqlite3_vfs_find(second.name()));
    }
    EXPECT_EQ(sqlite3_vfs_find(name.c_str()), nullptr);
}

TEST(SqliteVfs, FindsTheFolderOfAPath) {
    EXPECT_EQ(folder_of("a/b/c"), "a/b");
    EXPECT_EQ(folder_of("/c"), "/");
    EXPECT_EQ(folder_of("c"), ".");
}

// -- the connection on it --------------------------------------------------------------------------------------------

class DatabaseTest : public ::testing::Test {
protected:
    DatabaseTest() {
        disk_.set_content("/x.db", "");
        auto opened = SqliteDatabase::open(disk_, "/x.db");
        EXPECT_TRUE(opened.has_value());
        database_ = std::move(*opened);
        run("PRAGMA journal_mode=WAL");
        run("CREATE TABLE t(id INTEGER PRIMARY KEY, x)");
    }
    void run(const char *sql) {
        const Status done = database_->execute(sql);
        EXPECT_TRUE(done.has_value()) << sql << ": " << done.error().what;
    }
    std::int64_t count() { return database_->number("SELECT count(*) FROM t").value_or(-1); }

    SimFileSystem disk_;
    std::unique_ptr<SqliteDatabase> database_;
};

TEST_F(DatabaseTest, ATransactionThatFailsLeavesNothing) {
    const auto insert = database_->prepare("INSERT INTO t(x) VALUES(?)");
    ASSERT_TRUE(insert.has_value());
    const auto add = [&]() -> Status {
        SqliteRun run = insert->run();
        run.bind(std::string_view("text"));
        return run.finish();
    };
    EXPECT_TRUE(database_->in_transaction(add).has_value());
    const Status failed = database_->in_transaction([&]() -> Status {
        if (auto done = add(); !done) return done;
        return fail(ErrorCode::internal, "changed its mind");
    });
    ASSERT_FALSE(failed.has_value());
    EXPECT_EQ(failed.error().what, "changed its mind");
    EXPECT_EQ(count(), 1);
    EXPECT_TRUE(database_->in_transaction(add).has_value());
    EXPECT_EQ(count(), 2);
}

TEST_F(DatabaseTest, ErrorsSayWhatWasGoingOnAndWhatTheDiskSaid) {
    database_->begin_operation("Testing");
    disk_.set_space(1 << 20, 0);
    const Status full = database_->in_transaction([&] { return database_->execute("INSERT INTO t(x) VALUES(1)"); });
    ASSERT_FALSE(full.has_value());
    EXPECT_EQ(full.error().code, ErrorCode::capacity);
    EXPECT_EQ(full.error().what.find("Testing failed: "), 0u) << full.error().what;
    EXPECT_NE(full.error().what.find("/x.db-wal"), std::string::npos) << full.error().what;
    const Status wrong = database_->execute("INSERT INTO t(id) VALUES('x')");
    ASSERT_FALSE(wrong.has_value());
    EXPECT_NE(wrong.error().what.find("/x.db"), std::string::npos) << wrong.error().what;
}

TEST_F(DatabaseTest, UsesTheLogAndNoOtherFile) {
    run("INSERT INTO t(x) VALUES(zeroblob(3000000))");
    run("CREATE TEMP TABLE sorted AS SELECT * FROM t ORDER BY x");
    run("UPDATE t SET id = id + 1");
    EXPECT_EQ(disk_.files(), (std::vector<std::string>{"/x.db", "/x.db-wal"}));
    EXPECT_EQ(database_->number("PRAGMA synchronous").value(), 1);
}

TEST_F(DatabaseTest, KeepsAwayWhatADamagedSchemaCouldDo) {
    EXPECT_FALSE(database_->execute("ATTACH ':memory:' AS other").has_value());
    EXPECT_FALSE(database_->execute("SELECT load_extension('x')").has_value());
    EXPECT_FALSE(database_->execute("INSERT INTO t(x) VALUES(zeroblob(100000000))").has_value());
    EXPECT_FALSE(database_->execute("PRAGMA writable_schema=ON; UPDATE sqlite_schema SET sql = 'x'").has_value());
    run("CREATE VIEW v AS SELECT 1 AS one");
    EXPECT_FALSE(database_->execute("SELECT one FROM v").has_value());
    run("CREATE TRIGGER g AFTER INSERT ON t BEGIN DELETE FROM t; END");
    run("INSERT INTO t(x) VALUES(1)");
    EXPECT_EQ(count(), 1);
}

}  // namespace
}  // namespace cairn
