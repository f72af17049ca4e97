// Opening a cache directory that others have been at: what is lost, what is left alone, what stops the opening.
#include "store/cache_directory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "tests/store/stopped_directory.h"
#include "tests/support/temp_folder.h"

namespace cairn {
namespace {

using test::StoppedDirectory;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr const char *kPath = StoppedDirectory::kPath;

class CacheDirectoryTest : public testing::Test {
protected:
    CacheDirectoryTest() {
        made.add(10);  // rows 11, boundary 12
        made.add(20);
        made.add(30);
    }
    [[nodiscard]] Result<CacheDirectory> open() { return CacheDirectory::open(disk, kPath, "a test"); }
    [[nodiscard]] static std::size_t live_in(const CacheDirectory &directory) {
        std::size_t count = 0;
        for (const StoredNamespace &ns : directory.content.namespaces)
            count += static_cast<std::size_t>(std::count_if(ns.snapshots.begin(), ns.snapshots.end(),
                                                            [](const StoredSnapshot &row) { return row.live; }));
        return count;
    }
    void expect_refused_naming(const std::string &path) {
        const auto opened = open();
        ASSERT_FALSE(opened.has_value());
        EXPECT_THAT(opened.error().what, HasSubstr(path));
        EXPECT_THAT(opened.error().what, HasSubstr("--cache-dir"));
    }

    StoppedDirectory made;
    SimFileSystem &disk = dynamic_cast<SimFileSystem &>(made.env.files());
};

TEST_F(CacheDirectoryTest, AFolderThatCannotBeReadFailsTheOpeningAndLosesNothing) {
    for (const std::string folder : {"/cache/payloads/0b", "/cache/payloads"}) {
        SCOPED_TRACE(folder);
        const auto files = disk.files();
        disk.set_unreadable(folder, true);
        expect_refused_naming(folder);
        EXPECT_EQ(disk.files(), files);
        disk.set_unreadable(folder, false);
        const auto opened = open();
        ASSERT_TRUE(opened.has_value()) << opened.error().what;
        EXPECT_EQ(live_in(*opened), 3u);
        EXPECT_FALSE(opened->lost_something);
    }
}

TEST_F(CacheDirectoryTest, AFolderThatIsAFileFailsTheOpening) {
    ASSERT_TRUE(disk.remove(payload_path_of(kPath, 11)).has_value());
    ASSERT_TRUE(disk.remove("/cache/payloads/0b").has_value());
    disk.set_content("/cache/payloads/0b", "x");
    expect_refused_naming("/cache/payloads/0b");
}

TEST_F(CacheDirectoryTest, AFolderThatIsMissingLosesItsSnapshotsAndSaysSo) {
    ASSERT_TRUE(disk.remove(payload_path_of(kPath, 11)).has_value());
    ASSERT_TRUE(disk.remove("/cache/payloads/0b").has_value());
    const auto opened = open();
    ASSERT_TRUE(opened.has_value()) << opened.error().what;
    EXPECT_EQ(live_in(*opened), 2u);
    EXPECT_TRUE(opened->lost_something);
    EXPECT_THAT(opened->notes, testing::ElementsAre(HasSubstr("1 snapshot in /cache had lost its files")));
}

TEST_F(CacheDirectoryTest, RemovingTheLockFileLetsNobodyIn) {
    const auto held = open();
    ASSERT_TRUE(held.has_value());
    ASSERT_TRUE(disk.remove(lock_path_of(kPath)).has_value());
    const auto second = open();
    ASSERT_FALSE(second.has_value());
    EXPECT_EQ(second.error().code, ErrorCode::capacity);
    EXPECT_THAT(second.error().what, HasSubstr("in use by another process"));
}

TEST_F(CacheDirectoryTest, WhatIsNoFileIsMovedOutOfTheCataloguesWay) {
    for (const char *suffix : {"-wal", "-journal", ".tmp", ".damaged"}) {
        SCOPED_TRACE(suffix);
        const std::string path = std::string("/cache/catalogue.db") + suffix;
        ASSERT_TRUE(open()->catalogue.tidy().has_value());  // the log's rows are in the database now
        disk.replace_with_directory(path);
        disk.set_content(path + "/inside", "x");
        {
            const auto opened = open();
            ASSERT_TRUE(opened.has_value()) << opened.error().what;
            EXPECT_EQ(live_in(*opened), 3u);
            EXPECT_FALSE(opened->lost_something);
            EXPECT_THAT(opened->notes, testing::ElementsAre(HasSubstr(path)));
        }
        EXPECT_EQ(disk.content(path + ".moved/inside"), "x");
        disk.replace_with_directory(path);
        expect_refused_naming(path);  // its place aside is taken
        ASSERT_TRUE(disk.remove(path).has_value());
    }
}

TEST_F(CacheDirectoryTest, ACatalogueThatIsGoneOrEmptyIsSaid) {
    const std::string database = "/cache/catalogue.db";
    for (const bool gone : {true, false}) {
        SCOPED_TRACE(gone);
        if (gone) {
            ASSERT_TRUE(disk.remove(database).has_value());
            (void)disk.remove(database + "-wal");
            disk.set_content("/cache/payloads/20/0000000000000020.state", "x");
        } else {
            disk.set_content("/cache/payloads/20/0000000000000020.state", "x");
            disk.set_content(database, "");
        }
        const auto opened = open();
        ASSERT_TRUE(opened.has_value()) << opened.error().what;
        EXPECT_EQ(live_in(*opened), 0u);
        EXPECT_THAT(opened->notes, testing::ElementsAre(HasSubstr("names nothing")));
    }
    const auto again = open();
    ASSERT_TRUE(again.has_value()) << again.error().what;
    EXPECT_THAT(again->notes, testing::IsEmpty());
}

TEST_F(CacheDirectoryTest, AFileInTheDirectorysPlaceIsNamed) {
    disk.set_content("/plain", "x");
    const auto plain = CacheDirectory::open(disk, "/plain", "a test");
    ASSERT_FALSE(plain.has_value());
    EXPECT_THAT(plain.error().what, HasSubstr("/plain"));
    EXPECT_THAT(plain.error().what, HasSubstr("--cache-dir"));
    disk.set_content("/other/payloads", "x");
    const auto payloads = CacheDirectory::open(disk, "/other", "a test");
    ASSERT_FALSE(payloads.has_value());
    EXPECT_THAT(payloads.error().what, HasSubstr("/other/payloads"));
    EXPECT_THAT(payloads.error().what, HasSubstr("--cache-dir"));
}

TEST_F(CacheDirectoryTest, AnIdBeyondAllIdsIsForeignAndLeftAlone) {
    const std::string foreign = "/cache/payloads/ff/7fffffffffffffff.state";
    const std::string unfinished = "/cache/payloads/fe/fffffffffffffffe.state.tmp";
    disk.set_content(foreign, "x");
    disk.set_content(unfinished, "x");
    const auto opened = open();
    ASSERT_TRUE(opened.has_value()) << opened.error().what;
    EXPECT_EQ(opened->content.last_id, 32u);
    EXPECT_EQ(opened->removed_files, 0u);
    EXPECT_EQ(disk.content(foreign), "x");
    EXPECT_EQ(disk.content(unfinished), "x");
}

TEST(CacheDirectoryOnTheMachine, LinksAndPipesInTheWayAreNamed) {
    const TempFolder folder;
    FileSystem &files = posix_file_system();
    const std::string path = folder.path() + "/cache";
    ASSERT_TRUE(CacheDirectory::open(files, path, "a test").has_value());
    const auto said = [&] {
        const auto opened = CacheDirectory::open(files, path, "a test");
        return opened ? std::string("opened") : opened.error().what;
    };
    ASSERT_EQ(::unlink((path + "/LOCK").c_str()), 0);
    ASSERT_EQ(::symlink("elsewhere", (path + "/LOCK").c_str()), 0);
    EXPECT_THAT(said(), testing::AllOf(HasSubstr(path + "/LOCK"), HasSubstr("Remove it")));
    ASSERT_EQ(::unlink((path + "/LOCK").c_str()), 0);
    ASSERT_EQ(::mkfifo((path + "/LOCK").c_str(), 0600), 0);
    EXPECT_THAT(said(), testing::AllOf(HasSubstr(path + "/LOCK"), HasSubstr("Remove it")));
    ASSERT_EQ(::unlink((path + "/LOCK").c_str()), 0);

    (void)::unlink((path + "/catalogue.db-wal").c_str());
    ASSERT_EQ(::mkfifo((path + "/catalogue.db-wal").c_str(), 0600), 0);
    EXPECT_EQ(said(), "opened");
    EXPECT_EQ(files.kind_of_name(path + "/catalogue.db-wal.moved").value(), FileKind::other);

    ASSERT_EQ(::unlink((path + "/catalogue.db").c_str()), 0);
    ASSERT_EQ(::symlink("catalogue.db", (path + "/catalogue.db").c_str()), 0);
    EXPECT_THAT(said(), testing::AllOf(HasSubstr(path + "/catalogue.db is not a file"), HasSubstr("Remove it")));
}

}  // namespace
}  // namespace cairn
