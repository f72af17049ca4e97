// Faults, free space and clones of the simulated disk. Losses of power: sim_power_loss_test.cc.
#include <array>
#include <functional>
#include <thread>

#include "tests/env/lying_disk.h"

namespace cairn {
namespace {

TEST_F(LyingDisk, OpenFilesAndLocksDieWithTheirProcess) {
    const auto end_process = [](SimFileSystem &disk) { disk.kill(); };
    const auto lose_power = [](SimFileSystem &disk) { disk.crash(1); };
    for (const auto &end : {std::function<void(SimFileSystem &)>(end_process), {lose_power}}) {
        disk_.set_content("a", "hello");
        const auto file = open("a");
        auto lock = disk_.lock("lock");
        ASSERT_TRUE(lock);
        end(disk_);
        std::array<std::byte, 1> byte{};
        EXPECT_EQ(code_of(file->read_some(0, byte)), ErrorCode::io);
        EXPECT_EQ(code_of(file->write_some(0, byte)), ErrorCode::io);
        EXPECT_EQ(code_of(file->truncate(0)), ErrorCode::io);
        EXPECT_EQ(code_of(file->size()), ErrorCode::io);
        EXPECT_EQ(code_of(file->sync_some()), ErrorCode::io);
        EXPECT_EQ(code_of((*lock)->describe("x")), ErrorCode::io);
        EXPECT_EQ(disk_.content("a"), "hello");
        const auto next = disk_.lock("lock");
        ASSERT_TRUE(next);
        lock->reset();  // the dead lock does not free the living one
        EXPECT_EQ(code_of(disk_.lock("lock")), ErrorCode::capacity);
    }
}

TEST_F(LyingDisk, EveryOperationCountsAndEveryOperationCanFail) {
    ASSERT_TRUE(disk_.make_directories("d"));
    std::array<std::byte, 4> bytes{};
    const auto file = open("a");
    const auto lock = disk_.lock("lock");
    ASSERT_TRUE(lock);
    const std::vector<std::function<Status()>> operations{
        [&] { return disk_.open("a", OpenMode::read).map([](const auto &) {}); },
        [&] { return disk_.info("a").map([](const auto &) {}); },
        [&] { return disk_.kind_of_name("a").map([](const auto &) {}); },
        [&] { return disk_.list("d").map([](const auto &) {}); },
        [&] { return disk_.lock_directory("d").map([](const auto &) {}); },
        [&] { return disk_.make_directories("d/e"); },
        [&] { return disk_.rename("d/e", "d/f"); },
        [&] { return disk_.remove("d/f"); },
        [&] { return disk_.sync_directory("d"); },
        [&] { return disk_.space("/").map([](const auto &) {}); },
        [&] { return disk_.lock("other").map([](const auto &) {}); },
        [&] { return (*lock)->describe("me"); },
        [&] { return file->write_some(0, bytes).map([](std::size_t) {}); },
        [&] { return file->read_some(0, bytes).map([](std::size_t) {}); },
        [&] { return file->truncate(2); },
        [&] { return file->size().map([](std::uint64_t) {}); },
        [&] { return file->sync_some(); },
    };
    const std::uint64_t before = disk_.operations();
    for (const auto &operation : operations)
        EXPECT_TRUE(operation());
    EXPECT_EQ(disk_.operations(), before + operations.size());
    for (std::size_t failing = 0; failing < operations.size(); ++failing) {
        for (std::size_t i = 0; i < failing; ++i)
            (void)operations[i]();
        disk_.fail_operation(1, ErrorCode::capacity);
        EXPECT_EQ(code_of(operations[failing]()), ErrorCode::capacity) << failing;
        for (std::size_t i = failing; i < operations.size(); ++i)
            EXPECT_TRUE(operations[i]()) << i;
    }
    disk_.fail_operation(operations.size(), ErrorCode::io);
    for (std::size_t i = 0; i < operations.size(); ++i)
        EXPECT_EQ(operations[i]().has_value(), i + 1 < operations.size()) << i;
}

TEST_F(LyingDisk, FaultsCanLastForEver) {
    disk_.set_content("a", "hello");
    disk_.fail_operation(2, ErrorCode::io, Repeat::for_ever);
    EXPECT_TRUE(disk_.info("a"));
    EXPECT_EQ(code_of(disk_.info("a")), ErrorCode::io);
    EXPECT_EQ(code_of(disk_.remove("a")), ErrorCode::io);
    disk_.crash(1);
    EXPECT_TRUE(disk_.info("a"));
}

TEST_F(LyingDisk, OnlyReadsWritesAndSyncsAreInterrupted) {
    const auto file = open("a");
    std::array<std::byte, 4> bytes{};
    disk_.fail_operation(1, ErrorCode::cancelled);
    EXPECT_TRUE(disk_.info("a"));
    disk_.fail_operation(1, ErrorCode::cancelled);
    EXPECT_EQ(code_of(file->write_some(0, bytes)), ErrorCode::cancelled);
    disk_.fail_operation(1, ErrorCode::cancelled);
    EXPECT_EQ(code_of(file->read_some(0, bytes)), ErrorCode::cancelled);
    EXPECT_DEATH(disk_.fail_operation(1, ErrorCode::cancelled, Repeat::for_ever), "for ever");
}

TEST_F(LyingDisk, AFailedOperationDoesNothing) {
    disk_.set_content("a", "hello");
    const auto file = open("a");
    const std::vector<std::function<Status()>> operations{
        [&] { return write(*file, 0, "x"); },
        [&] { return file->truncate(0); },
        [&] { return disk_.rename("a", "b"); },
        [&] { return disk_.remove("a"); },
        [&] { return disk_.open("b", OpenMode::create).map([](const auto &) {}); },
        [&] { return disk_.lock("b").map([](const auto &) {}); },
    };
    for (const auto &operation : operations) {
        disk_.fail_operation(1, ErrorCode::io);
        EXPECT_EQ(code_of(operation()), ErrorCode::io);
        EXPECT_EQ(disk_.files(), std::vector<std::string>{"/a"});
        EXPECT_EQ(disk_.content("a"), "hello");
    }
}

TEST_F(LyingDisk, RunsFullAndIsEmptiedByRemoving) {
    disk_.set_content("old", std::string(600, 'x'));
    disk_.set_space(1000, 400);
    EXPECT_EQ(disk_.space("/").value().total, 1000u);
    const auto file = open("a");
    EXPECT_TRUE(write(*file, 0, std::string(400, 'x')));
    EXPECT_EQ(disk_.space("/").value().available, 0u);
    EXPECT_EQ(code_of(write(*file, 400, "x")), ErrorCode::capacity);
    EXPECT_EQ(code_of(file->truncate(401)), ErrorCode::capacity);
    EXPECT_TRUE(write(*file, 0, std::string(400, 'y')));  // over what is there
    EXPECT_EQ(file->write_some(399, std::as_bytes(std::span("zz", 2))).value(), 1u);
    ASSERT_TRUE(disk_.remove("old"));
    EXPECT_EQ(disk_.space("/").value().available, 600u);
    EXPECT_TRUE(write(*file, 400, std::string(600, 'x')));
    EXPECT_EQ(code_of(write(*file, 1000, "x")), ErrorCode::capacity);
}

TEST_F(LyingDisk, ReadOnlyPathsRefuseChanges) {
    disk_.set_content("d/a", "hello");
    disk_.set_read_only("d/a", true);
    EXPECT_EQ(code_of(disk_.open("d/a", OpenMode::read_write)), ErrorCode::io);
    EXPECT_EQ(code_of(disk_.open("d/a", OpenMode::create)), ErrorCode::io);
    EXPECT_EQ(code_of(disk_.lock("d/a")), ErrorCode::io);
    EXPECT_EQ(read_text(disk_, "d/a").value(), "hello");
    disk_.set_read_only("d", true);
    EXPECT_EQ(code_of(disk_.remove("d/a")), ErrorCode::io);
    EXPECT_EQ(code_of(disk_.rename("d/a", "b")), ErrorCode::io);
    EXPECT_EQ(code_of(disk_.open("d/b", OpenMode::create)), ErrorCode::io);
    EXPECT_EQ(code_of(disk_.make_directories("d/e")), ErrorCode::io);
    disk_.set_read_only("d", false);
    EXPECT_TRUE(disk_.rename("d/a", "b"));
}

TEST_F(LyingDisk, RotsWhereItIsTold) {
    disk_.set_content("a", std::string("\0\0", 2));
    disk_.flip_bit("a", 0);
    disk_.flip_bit("a", 15);
    EXPECT_EQ(disk_.content("a"), "\x01\x80");
    EXPECT_EQ(contents("a"), Contents{"\x01\x80"});
    disk_.flip_bit("a", 0);
    EXPECT_EQ(disk_.content("a"), std::string("\0\x80", 2));
    EXPECT_DEATH(disk_.flip_bit("a", 16), "2 bytes");
}

TEST_F(LyingDisk, HoldsWhatTestsPutThere) {
    disk_.set_content("x/y/a", "hello");
    disk_.set_content("/x/b", "");
    EXPECT_EQ(disk_.files(), (std::vector<std::string>{"/x/b", "/x/y/a"}));
    EXPECT_EQ(names().size(), 1u);
    disk_.replace_with_directory("x/y/a");
    EXPECT_EQ(disk_.files(), std::vector<std::string>{"/x/b"});
    EXPECT_EQ(code_of(disk_.open("x/y/a", OpenMode::read)), ErrorCode::invalid_argument);
    EXPECT_EQ(names().size(), 1u);
    EXPECT_DEATH((void)disk_.content("x/z"), "no such file");
}

TEST_F(LyingDisk, ClonesGoTheirOwnWay) {
    disk_.set_content("a", "hello");
    const auto file = open("a");
    ASSERT_TRUE(write(*file, 0, "j"));
    const auto copy = disk_.clone();
    EXPECT_EQ(copy->content("a"), "jello");
    copy->flip_bit("a", 0);
    ASSERT_TRUE(write(*file, 0, "c"));
    copy->set_content("b", "");
    EXPECT_EQ(disk_.content("a"), "cello");
    EXPECT_EQ(copy->content("a"), "kello");
    EXPECT_EQ(disk_.files(), std::vector<std::string>{"/a"});
    const auto again = copy->clone();
    again->flip_bit("a", 0);
    EXPECT_EQ(copy->content("a"), "kello");
    EXPECT_EQ(again->content("a"), "jello");
}

TEST_F(LyingDisk, ManyClonesOfALargeDiskCostLittle) {
    for (int i = 0; i < 50; ++i)
        disk_.set_content("cache/" + std::to_string(i), std::string(1 << 20, 'x'));
    for (std::uint64_t i = 0; i < 500; ++i) {
        const auto copy = disk_.clone();  // copying bytes would be 25 GB
        copy->crash(i);
        ASSERT_EQ(copy->info("cache/7").value().size, std::uint64_t{1} << 20);
    }
}

TEST_F(LyingDisk, TellsTheTimeOfTheLastChange) {
    disk_.set_unix_time(1'800'000'000);
    const auto file = open("a");
    disk_.set_unix_time(1'800'000'009);
    EXPECT_EQ(disk_.info("a").value().modified_unix_s, 1'800'000'000);
    ASSERT_TRUE(write(*file, 0, "x"));
    EXPECT_EQ(disk_.info("a").value().modified_unix_s, 1'800'000'009);
}

TEST_F(LyingDisk, ServesManyThreads) {
    disk_.set_content("shared", std::string(4096, 's'));
    const auto shared = open("shared", OpenMode::read);
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) {
        threads.emplace_back([&, name = "t" + std::to_string(i)] {
            std::array<std::byte, 4096> bytes{};
            for (int k = 0; k < 50; ++k) {
                const auto file = disk_.open(name, OpenMode::create);
                EXPECT_TRUE(file && write(**file, 0, name));
                EXPECT_TRUE(read_exactly(*shared, 0, bytes));
                EXPECT_EQ(disk_.clone()->content(name), name);
                EXPECT_TRUE(disk_.remove(name));
            }
        });
    }
    for (auto &thread : threads)
        thread.join();
    EXPECT_EQ(disk_.files(), std::vector<std::string>{"/shared"});
}

}  // namespace
}  // namespace cairn
