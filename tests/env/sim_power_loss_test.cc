// What a loss of power, or the end of the process, leaves on the simulated disk.
#include <algorithm>

#include "tests/env/lying_disk.h"

namespace cairn {
namespace {

TEST_F(LyingDisk, KeepsWhatWasSynced) {
    const auto file = open("a");
    ASSERT_TRUE(write(*file, 0, std::string(2000, 'x')));
    ASSERT_TRUE(sync(*file));
    ASSERT_TRUE(disk_.sync_directory("/"));
    EXPECT_EQ(contents("a"), Contents{std::string(2000, 'x')});
}

TEST_F(LyingDisk, KeepsOrLosesEachWriteOnItsOwn) {
    disk_.set_content("a", "....");
    const auto file = open("a");
    ASSERT_TRUE(write(*file, 0, "1"));
    ASSERT_TRUE(write(*file, 2, "2"));
    EXPECT_EQ(disk_.content("a"), "1.2.");
    EXPECT_EQ(contents("a"), (Contents{"....", "1...", "..2.", "1.2."}));
}

TEST_F(LyingDisk, AWriteOverAnotherIsAnyOfTheThree) {
    disk_.set_content("a", "0");
    const auto file = open("a");
    ASSERT_TRUE(write(*file, 0, "1"));
    ASSERT_TRUE(write(*file, 0, "2"));
    EXPECT_EQ(contents("a"), (Contents{"0", "1", "2"}));
    ASSERT_TRUE(sync(*file));
    EXPECT_EQ(contents("a"), Contents{"2"});
}

TEST_F(LyingDisk, TearsWritesAtSectors) {
    disk_.set_content("a", std::string(2048, '.'));
    const auto file = open("a");
    ASSERT_TRUE(write(*file, 500, std::string(1000, 'x')));  // sectors begin at 512 and 1024
    const auto expected = [](std::size_t begin, std::size_t end) {
        std::string text(2048, '.');
        std::fill(text.begin() + static_cast<std::ptrdiff_t>(begin), text.begin() + static_cast<std::ptrdiff_t>(end),
                  'x');
        return text;
    };
    EXPECT_EQ(contents("a"), (Contents{expected(0, 0), expected(500, 1500), expected(500, 512), expected(500, 1024),
                                       expected(512, 1500), expected(1024, 1500)}));
}

TEST_F(LyingDisk, MayKeepTheLengthOfAWriteWithoutItsBytes) {
    disk_.set_content("a", "");
    const auto file = open("a");
    ASSERT_TRUE(write(*file, 0, std::string(600, 'x')));
    const std::string zeros(512, '\0');
    EXPECT_EQ(contents("a"), (Contents{"", std::string(600, 'x'), std::string(512, 'x'), zeros + std::string(88, 'x'),
                                       std::string(600, '\0')}));
}

TEST_F(LyingDisk, KeepsOrLosesTruncations) {
    disk_.set_content("a", "hello");
    const auto file = open("a");
    ASSERT_TRUE(file->truncate(2));
    ASSERT_TRUE(write(*file, 2, "y!"));
    EXPECT_EQ(contents("a"), (Contents{"hello", "he", "hey!o", "hey!"}));
    ASSERT_TRUE(file->truncate(6));
    ASSERT_TRUE(sync(*file));
    EXPECT_EQ(contents("a"), Contents{std::string("hey!\0\0", 6)});
}

TEST_F(LyingDisk, LosesASyncedFileWithoutASyncedName) {
    const auto file = open("a");
    ASSERT_TRUE(write(*file, 0, "hello"));
    ASSERT_TRUE(sync(*file));
    EXPECT_EQ(names(), (Names{{}, {"/a"}}));
    ASSERT_TRUE(disk_.sync_directory("/"));
    EXPECT_EQ(names(), Names{{"/a"}});
}

TEST_F(LyingDisk, KeepsANameWhoseBytesItLost) {
    const auto file = open("a");
    ASSERT_TRUE(write(*file, 0, "hello"));
    ASSERT_TRUE(disk_.sync_directory("/"));
    EXPECT_EQ(contents("a"), (Contents{"", "hello"}));
}

TEST_F(LyingDisk, LosesEverythingInAFolderWhoseNameItLost) {
    ASSERT_TRUE(disk_.make_directories("d/e"));
    const auto file = open("d/e/a");
    ASSERT_TRUE(sync(*file));
    ASSERT_TRUE(disk_.sync_directory("d/e"));
    EXPECT_EQ(names(), (Names{{}, {"/d/e/a"}}));
    ASSERT_TRUE(disk_.sync_directory("/"));
    EXPECT_EQ(names(), (Names{{}, {"/d/e/a"}}));
    ASSERT_TRUE(disk_.sync_directory("d"));
    EXPECT_EQ(names(), Names{{"/d/e/a"}});
}

TEST_F(LyingDisk, ARenameIsMadeWholeOrNotAtAll) {
    disk_.set_content("old", "1");
    disk_.set_content("new", "2");
    ASSERT_TRUE(disk_.rename("new", "old"));
    EXPECT_EQ(names(), (Names{{"/old"}, {"/new", "/old"}}));
    EXPECT_EQ(contents("old"), (Contents{"1", "2"}));
    ASSERT_TRUE(disk_.sync_directory("/"));
    EXPECT_EQ(names(), Names{{"/old"}});
    EXPECT_EQ(contents("old"), Contents{"2"});
}

TEST_F(LyingDisk, ARenameBetweenFoldersIsDurableInEachOnItsOwn) {
    disk_.set_content("d/a", "");
    disk_.set_content("e/b", "");
    ASSERT_TRUE(disk_.rename("d/a", "e/a"));
    EXPECT_EQ(names(), (Names{{"/d/a", "/e/b"}, {"/e/a", "/e/b"}}));
    ASSERT_TRUE(disk_.sync_directory("d"));
    EXPECT_EQ(names(), (Names{{"/e/b"}, {"/e/a", "/e/b"}}));
    ASSERT_TRUE(disk_.sync_directory("e"));
    EXPECT_EQ(names(), (Names{{"/e/a", "/e/b"}}));
}

TEST_F(LyingDisk, ARemovedFileMayComeBack) {
    disk_.set_content("a", "hello");
    ASSERT_TRUE(disk_.remove("a"));
    EXPECT_EQ(names(), (Names{{}, {"/a"}}));
    ASSERT_TRUE(disk_.sync_directory("/"));
    EXPECT_EQ(names(), Names{{}});
}

TEST_F(LyingDisk, AFileWrittenAsideAndRenamedIsOldOrNewWhateverHappens) {
    disk_.set_content("a", std::string(3000, '1'));
    {
        const auto file = open("a.tmp");
        ASSERT_TRUE(write(*file, 0, std::string(3000, '2')));
        ASSERT_TRUE(sync(*file));
    }
    ASSERT_TRUE(disk_.rename("a.tmp", "a"));
    EXPECT_EQ(contents("a"), (Contents{std::string(3000, '1'), std::string(3000, '2')}));
    // Without the sync in between the name may come before the bytes.
    {
        const auto file = open("a.tmp");
        ASSERT_TRUE(write(*file, 0, std::string(3000, '3')));
    }
    ASSERT_TRUE(disk_.rename("a.tmp", "a"));
    EXPECT_TRUE(contents("a").contains(""));
}

TEST_F(LyingDisk, HalfOfAllSeedsKeepTheOrder) {
    disk_.set_content("a", std::string(20, '.'));
    const auto file = open("a");
    for (std::uint64_t i = 0; i < 20; ++i)
        ASSERT_TRUE(write(*file, i, "x"));
    int in_order = 0;
    int out_of_order = 0;
    for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
        const auto copy = disk_.clone();
        copy->crash(seed);
        const std::string text = copy->content("a");
        const bool ordered =
            text.find("x", text.find(".") == std::string::npos ? 20 : text.find(".")) == std::string::npos;
        ++(ordered ? in_order : out_of_order);
    }
    EXPECT_GT(in_order, static_cast<int>(kSeeds) / 3);
    EXPECT_GT(out_of_order, static_cast<int>(kSeeds) / 5);
    EXPECT_GT(contents("a").size(), 50u);
}

TEST_F(LyingDisk, TheSameSeedGivesTheSameRuin) {
    const auto file = open("a");
    disk_.sync_all();
    for (std::uint64_t i = 0; i < 50; ++i)
        ASSERT_TRUE(write(*file, i * 700, std::string(2000, static_cast<char>('a' + i % 26))));
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        const auto one = disk_.clone();
        const auto two = disk_.clone();
        one->crash(seed);
        two->crash(seed);
        EXPECT_EQ(one->content("a"), two->content("a"));
        const std::string after = one->content("a");
        one->crash(seed + 1);
        EXPECT_EQ(one->content("a"), after);  // what survived a loss of power is durable
    }
}

TEST_F(LyingDisk, AFailedSyncGivesUpWhatWasWrittenBefore) {
    disk_.set_content("a", "....");
    const auto file = open("a");
    ASSERT_TRUE(write(*file, 0, "1"));
    disk_.fail_operation(1, ErrorCode::io);
    EXPECT_EQ(code_of(sync(*file)), ErrorCode::io);
    ASSERT_TRUE(write(*file, 2, "2"));
    ASSERT_TRUE(sync(*file));
    EXPECT_EQ(contents("a"), (Contents{"..2.", "1.2."}));
    ASSERT_TRUE(write(*file, 0, "1"));  // written again: durable now
    ASSERT_TRUE(sync(*file));
    EXPECT_EQ(contents("a"), Contents{"1.2."});
}

TEST_F(LyingDisk, AnInterruptedSyncGivesUpNothing) {
    disk_.set_content("a", "");
    const auto file = open("a");
    ASSERT_TRUE(write(*file, 0, "1"));
    disk_.fail_operation(1, ErrorCode::cancelled);
    EXPECT_EQ(code_of(file->sync_some()), ErrorCode::cancelled);
    ASSERT_TRUE(sync(*file));
    EXPECT_EQ(contents("a"), Contents{"1"});
}

TEST_F(LyingDisk, TheEndOfTheProcessLosesNothingThatWasWritten) {
    ASSERT_TRUE(disk_.make_directories("d"));
    const auto file = open("d/a");
    ASSERT_TRUE(write(*file, 0, "hello"));
    disk_.kill();
    EXPECT_EQ(disk_.content("d/a"), "hello");
    EXPECT_EQ(names(), (Names{{}, {"/d/a"}}));  // but it is no safer than before
}

TEST_F(LyingDisk, FoldersNeverEndUpInsideEachOther) {
    for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
        SimFileSystem disk;
        disk.set_content("a/x", "");
        disk.set_content("b/y", "");
        EXPECT_TRUE(disk.rename("a", "b/a"));
        EXPECT_TRUE(disk.rename("b/a", "c"));
        EXPECT_TRUE(disk.rename("b", "c/b"));
        disk.crash(seed);
        for (const auto &path : disk.files())
            EXPECT_TRUE(disk.info(path)) << path;
        EXPECT_LE(disk.files().size(), 2u);
    }
}

}  // namespace
}  // namespace cairn
