#include "store/write_aside.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/support/sim_file_system.h"
#include "tests/support/temp_folder.h"

namespace cairn {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Status say(File &file) {
    return write_all(file, 0, std::as_bytes(std::span("new", 3)));
}

class WriteForUser : public testing::Test {
protected:
    [[nodiscard]] Status write(const std::string &path, Existing existing = Existing::refuse) {
        return write_for_user(disk, path, existing, say);
    }
    void expect_refused(const std::string &path, Existing existing) {
        const Status done = write(path, existing);
        ASSERT_FALSE(done.has_value()) << path;
        EXPECT_EQ(done.error().code, ErrorCode::invalid_argument);
        EXPECT_THAT(done.error().what, HasSubstr(path));
    }

    SimFileSystem disk;
};

TEST_F(WriteForUser, AFreeNameIsTaken) {
    ASSERT_TRUE(write("/x").has_value());
    EXPECT_EQ(disk.content("/x"), "new");
    EXPECT_THAT(disk.files(), ElementsAre("/x"));
}

TEST_F(WriteForUser, AFileIsReplacedOnlyWhereThatIsAskedFor) {
    disk.set_content("/x", "old");
    expect_refused("/x", Existing::refuse);
    EXPECT_EQ(disk.content("/x"), "old");
    ASSERT_TRUE(write("/x", Existing::replace).has_value());
    EXPECT_EQ(disk.content("/x"), "new");
}

TEST_F(WriteForUser, AFolderOrAnEmptyNameIsRefused) {
    ASSERT_TRUE(disk.make_directories("/folder").has_value());
    expect_refused("/folder", Existing::replace);
    expect_refused("", Existing::replace);
}

TEST_F(WriteForUser, WhatLiesBesideItIsLeftAlone) {
    disk.set_content("/x.tmp", "somebody's");
    disk.set_content("/x.1.tmp", "somebody's, too");
    ASSERT_TRUE(write("/x").has_value());
    EXPECT_THAT(disk.files(), ElementsAre("/x", "/x.1.tmp", "/x.tmp"));
    EXPECT_EQ(disk.content("/x.tmp"), "somebody's");
}

TEST_F(WriteForUser, AFailureAnywhereLeavesTheOldFile) {
    for (std::uint64_t n = 1;; ++n) {
        disk.set_content("/x", "old");
        disk.fail_operation(n, ErrorCode::io);
        const Status done = write("/x", Existing::replace);
        disk.clear_faults();
        if (done) break;
        EXPECT_THAT(disk.content("/x"), testing::AnyOf("old", "new")) << n;
        EXPECT_THAT(disk.files(), ElementsAre("/x")) << n;
        ASSERT_LT(n, 20u);
    }
}

TEST(WriteForUserOnTheMachine, LinksPipesAndDevicesAreRefused) {
    const TempFolder folder;
    const std::string target = folder.path() + "/target", link = folder.path() + "/link";
    const std::string dangling = folder.path() + "/dangling", pipe = folder.path() + "/pipe";
    FileSystem &files = posix_file_system();
    ASSERT_TRUE(write_for_user(files, target, Existing::refuse, say).has_value());
    ASSERT_EQ(::symlink(target.c_str(), link.c_str()), 0);
    ASSERT_EQ(::symlink("nothing", dangling.c_str()), 0);
    ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
    for (const std::string &path : {link, dangling, pipe, std::string("/dev/full")}) {
        const Status done = write_for_user(files, path, Existing::replace, say);
        ASSERT_FALSE(done.has_value()) << path;
        EXPECT_EQ(done.error().code, ErrorCode::invalid_argument) << path;
        EXPECT_EQ(files.kind_of_name(path).value(), FileKind::other) << path;
    }
    EXPECT_EQ(files.list(folder.path()).value().size(), 4u);
}

}  // namespace
}  // namespace cairn
