// What stands on top of every FileSystem: read_exactly, write_all, sync, read_text, join_path.
#include "env/file_system.h"

#include <gtest/gtest.h>

#include <random>

#include "tests/support/sim_file_system.h"

namespace cairn {
namespace {

std::string random_text(std::size_t size, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    std::string text(size, '\0');
    for (char &c : text)
        c = static_cast<char>(random());
    return text;
}

TEST(ShortInputAndOutput, IsMadeWhole) {
    for (std::uint64_t seed = 1; seed <= 50; ++seed) {
        SimFileSystem disk;
        disk.set_short_io(seed);
        const std::string text = random_text(20'000, seed);
        const auto file = disk.open("a", OpenMode::create);
        ASSERT_TRUE(file);
        ASSERT_TRUE(write_all(**file, 100, std::as_bytes(std::span(text))));
        ASSERT_TRUE(sync(**file));
        std::string read(text.size(), '\0');
        ASSERT_TRUE(read_exactly(**file, 100, std::as_writable_bytes(std::span(read))));
        EXPECT_EQ(read, text);
        EXPECT_EQ(read_text(disk, "a").value(), std::string(100, '\0') + text);
    }
}

TEST(ShortInputAndOutput, ReallyHappens) {
    SimFileSystem disk;
    disk.set_content("a", std::string(1000, 'x'));
    disk.set_short_io(1);
    const auto file = disk.open("a", OpenMode::read_write);
    ASSERT_TRUE(file);
    int fewer = 0;
    int interrupted = 0;
    int interrupted_syncs = 0;
    std::string buffer(1000, 'y');
    for (int i = 0; i < 100; ++i) {
        for (const auto &done : {(*file)->read_some(0, std::as_writable_bytes(std::span(buffer))),
                                 (*file)->write_some(0, std::as_bytes(std::span(buffer)))}) {
            fewer += done && *done < 1000;
            interrupted += !done && done.error().code == ErrorCode::cancelled;
            EXPECT_TRUE(!done || *done > 0);
        }
        interrupted_syncs += !(*file)->sync_some();
    }
    EXPECT_GT(fewer, 50);
    EXPECT_GT(interrupted, 20);
    EXPECT_GT(interrupted_syncs, 10);
}

TEST(Interruptions, AreTriedAgainAndOtherErrorsAreNot) {
    SimFileSystem disk;
    disk.set_content("a", "hello");
    const auto file = disk.open("a", OpenMode::read_write);
    ASSERT_TRUE(file);
    std::string buffer(5, '\0');
    const auto bytes = std::as_writable_bytes(std::span(buffer));
    const auto all = {ErrorCode::cancelled, ErrorCode::io, ErrorCode::capacity};
    for (const ErrorCode code : all) {
        const auto expected = [&](const Status &status) {
            return code == ErrorCode::cancelled ? status.has_value() : !status && status.error().code == code;
        };
        disk.fail_operation(1, code);
        EXPECT_TRUE(expected(read_exactly(**file, 0, bytes)));
        disk.clear_faults();
        disk.fail_operation(1, code);
        EXPECT_TRUE(expected(write_all(**file, 0, bytes)));
        disk.clear_faults();
        disk.fail_operation(1, code);
        EXPECT_TRUE(expected(sync(**file)));
        disk.clear_faults();
        disk.fail_operation(2, code);
        EXPECT_TRUE(expected(read_text(disk, "a").map([](const std::string &) {})));
        disk.clear_faults();
    }
}

TEST(WriteAll, WritesWhatFitsBeforeTheDiskIsFull) {
    SimFileSystem disk;
    disk.set_space(1000, 10);
    const auto file = disk.open("a", OpenMode::create);
    ASSERT_TRUE(file);
    const auto done = write_all(**file, 0, std::as_bytes(std::span("0123456789abc", 13)));
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().code, ErrorCode::capacity);
    EXPECT_EQ(disk.content("a"), "0123456789");
}

TEST(JoinPath, PutsOneSlashBetween) {
    EXPECT_EQ(join_path("a", "b"), "a/b");
    EXPECT_EQ(join_path("a/", "b"), "a/b");
    EXPECT_EQ(join_path("a//", "b"), "a/b");
    EXPECT_EQ(join_path("/", "b"), "/b");
    EXPECT_EQ(join_path("", "b"), "b");
    EXPECT_EQ(join_path("/a/c", "b.tmp"), "/a/c/b.tmp");
}

}  // namespace
}  // namespace cairn
