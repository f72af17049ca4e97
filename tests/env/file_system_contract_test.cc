// What every FileSystem promises, errors included: the same tests on the real one and on the simulated one.
#include <gtest/gtest.h>

#include <array>
#include <map>

#include "tests/support/sim_file_system.h"
#include "tests/support/temp_folder.h"

namespace cairn {
namespace {

enum class World : std::uint8_t { posix, sim };

class FileSystemContract : public testing::TestWithParam<World> {
protected:
    FileSystemContract() { EXPECT_TRUE(files_.make_directories(root_)); }

    [[nodiscard]] std::string at(std::string_view name) const { return join_path(root_, name); }
    std::unique_ptr<File> open(const std::string &name, OpenMode mode = OpenMode::create) {
        auto file = files_.open(at(name), mode);
        if (!file) ADD_FAILURE() << file.error().what;
        return file ? std::move(*file) : nullptr;
    }
    void put(const std::string &name, std::string_view text) {
        const auto file = open(name);
        ASSERT_TRUE(file->truncate(0));
        ASSERT_TRUE(write_all(*file, 0, std::as_bytes(std::span(text))));
    }
    std::string get(const std::string &name) {
        const auto text = read_text(files_, at(name));
        return text ? *text : "no text: " + text.error().what;
    }
    ErrorCode open_error(const std::string &path, OpenMode mode) {
        const auto file = files_.open(path, mode);
        return file ? ErrorCode::internal : file.error().code;
    }
    std::map<std::string, FileKind> listed(const std::string &name) {
        std::map<std::string, FileKind> result;
        const auto entries = files_.list(at(name));
        if (!entries) ADD_FAILURE() << entries.error().what;
        for (const auto &entry : entries ? *entries : std::vector<DirectoryEntry>{})
            EXPECT_TRUE(result.emplace(entry.name, entry.kind).second) << entry.name << " twice";
        return result;
    }

    TempFolder folder_;
    SimFileSystem sim_;
    FileSystem &files_ = GetParam() == World::posix ? posix_file_system() : sim_;
    std::string root_ = GetParam() == World::posix ? folder_.path() : "/root";
};

template <class T>
ErrorCode code_of(const Result<T> &result) {
    return result ? ErrorCode::internal : result.error().code;
}

TEST_P(FileSystemContract, WhatWasWrittenIsRead) {
    const auto file = open("a");
    EXPECT_EQ(file->size().value(), 0u);
    ASSERT_TRUE(write_all(*file, 0, std::as_bytes(std::span("hello", 5))));
    ASSERT_TRUE(write_all(*file, 3, std::as_bytes(std::span("p me", 4))));
    EXPECT_EQ(file->size().value(), 7u);
    EXPECT_EQ(get("a"), "help me");
    ASSERT_TRUE(sync(*file));
    EXPECT_EQ(get("a"), "help me");
}

TEST_P(FileSystemContract, WritingBehindTheEndFillsWithZeros) {
    const auto file = open("a");
    ASSERT_TRUE(write_all(*file, 3, std::as_bytes(std::span("x", 1))));
    EXPECT_EQ(get("a"), std::string("\0\0\0x", 4));
}

TEST_P(FileSystemContract, ReadingAtTheEndGivesNothing) {
    put("a", "four");
    const auto file = open("a", OpenMode::read);
    std::array<std::byte, 8> buffer{};
    EXPECT_EQ(file->read_some(0, buffer).value(), 4u);
    EXPECT_EQ(file->read_some(3, buffer).value(), 1u);
    EXPECT_EQ(file->read_some(4, buffer).value(), 0u);
    EXPECT_EQ(file->read_some(1'000'000, buffer).value(), 0u);
    EXPECT_EQ(file->read_some(0, {}).value(), 0u);
    EXPECT_EQ(code_of(file->read_some(~std::uint64_t{0}, buffer)), ErrorCode::io);
}

TEST_P(FileSystemContract, WritingNothingChangesNothing) {
    const auto file = open("a");
    EXPECT_EQ(file->write_some(100, {}).value(), 0u);
    EXPECT_EQ(file->size().value(), 0u);
}

TEST_P(FileSystemContract, ReadingExactlyPastTheEndIsCorrupt) {
    put("a", "four");
    const auto file = open("a", OpenMode::read);
    std::array<std::byte, 5> buffer{};
    EXPECT_TRUE(read_exactly(*file, 0, std::span(buffer).first(4)));
    EXPECT_EQ(code_of(read_exactly(*file, 0, buffer)), ErrorCode::corrupt);
    EXPECT_EQ(code_of(read_exactly(*file, 9, buffer)), ErrorCode::corrupt);
    EXPECT_TRUE(read_exactly(*file, 9, {}));
}

TEST_P(FileSystemContract, TruncateCutsAndExtends) {
    put("a", "hello");
    const auto file = open("a", OpenMode::read_write);
    ASSERT_TRUE(file->truncate(2));
    EXPECT_EQ(get("a"), "he");
    ASSERT_TRUE(file->truncate(4));
    EXPECT_EQ(get("a"), std::string("he\0\0", 4));
    EXPECT_EQ(code_of(file->truncate(~std::uint64_t{0})), ErrorCode::io);
    EXPECT_EQ(file->size().value(), 4u);
}

TEST_P(FileSystemContract, AFileOpenedForReadingCannotBeChanged) {
    put("a", "hello");
    const auto file = open("a", OpenMode::read);
    EXPECT_EQ(code_of(file->write_some(0, std::as_bytes(std::span("x", 1)))), ErrorCode::io);
    EXPECT_EQ(code_of(file->truncate(0)), ErrorCode::io);
    EXPECT_TRUE(sync(*file));
    EXPECT_EQ(get("a"), "hello");
}

TEST_P(FileSystemContract, EachModeOpensWhatItSays) {
    EXPECT_EQ(open_error(at("a"), OpenMode::read), ErrorCode::not_found);
    EXPECT_EQ(open_error(at("a"), OpenMode::read_write), ErrorCode::not_found);
    EXPECT_TRUE(open("a", OpenMode::create_new));
    EXPECT_EQ(open_error(at("a"), OpenMode::create_new), ErrorCode::invalid_argument);
    put("a", "hello");
    EXPECT_TRUE(open("a", OpenMode::create));
    EXPECT_TRUE(open("a", OpenMode::read_write));
    EXPECT_EQ(get("a"), "hello");
}

TEST_P(FileSystemContract, AFolderIsNoFile) {
    ASSERT_TRUE(files_.make_directories(at("d")));
    for (const auto mode : {OpenMode::read, OpenMode::read_write, OpenMode::create, OpenMode::create_new})
        EXPECT_EQ(open_error(at("d"), mode), ErrorCode::invalid_argument);
    EXPECT_EQ(open_error(at("new/"), OpenMode::create), ErrorCode::invalid_argument);
    EXPECT_EQ(code_of(files_.lock(at("d"))), ErrorCode::invalid_argument);
}

TEST_P(FileSystemContract, AFileIsNoFolder) {
    put("f", "hello");
    EXPECT_EQ(open_error(at("f/x"), OpenMode::read), ErrorCode::not_found);
    EXPECT_EQ(open_error(at("f/x"), OpenMode::create), ErrorCode::not_found);
    EXPECT_EQ(open_error(at("f/"), OpenMode::read), ErrorCode::not_found);
    EXPECT_EQ(code_of(files_.info(at("f/x"))), ErrorCode::not_found);
    EXPECT_EQ(code_of(files_.list(at("f"))), ErrorCode::invalid_argument);
    EXPECT_EQ(code_of(files_.list(at("f/x"))), ErrorCode::not_found);
    EXPECT_EQ(code_of(files_.sync_directory(at("f"))), ErrorCode::invalid_argument);
    EXPECT_EQ(code_of(files_.make_directories(at("f"))), ErrorCode::invalid_argument);
    EXPECT_EQ(code_of(files_.make_directories(at("f/x/y"))), ErrorCode::invalid_argument);
    EXPECT_EQ(get("f"), "hello");
}

TEST_P(FileSystemContract, NothingIsFoundWhereNothingIs) {
    EXPECT_EQ(code_of(files_.info(at("a"))), ErrorCode::not_found);
    EXPECT_EQ(code_of(files_.info("")), ErrorCode::not_found);
    EXPECT_EQ(code_of(files_.list(at("a"))), ErrorCode::not_found);
    EXPECT_EQ(code_of(files_.remove(at("a"))), ErrorCode::not_found);
    EXPECT_EQ(code_of(files_.rename(at("a"), at("b"))), ErrorCode::not_found);
    EXPECT_EQ(code_of(files_.sync_directory(at("a"))), ErrorCode::not_found);
    EXPECT_EQ(code_of(files_.space(at("a"))), ErrorCode::not_found);
    EXPECT_EQ(code_of(files_.make_directories("")), ErrorCode::not_found);
    EXPECT_EQ(code_of(read_text(files_, at("a"))), ErrorCode::not_found);
    EXPECT_EQ(open_error(at("a/b"), OpenMode::create), ErrorCode::not_found);
    EXPECT_EQ(code_of(files_.lock(at("a/b"))), ErrorCode::not_found);
}

TEST_P(FileSystemContract, PathsThatCannotBe) {
    put("a", "hello");
    const std::string nul = at("a") + std::string("\0b", 2);
    EXPECT_EQ(open_error(nul, OpenMode::read), ErrorCode::invalid_argument);
    EXPECT_EQ(code_of(files_.remove(nul)), ErrorCode::invalid_argument);
    EXPECT_EQ(code_of(files_.rename(at("a"), nul)), ErrorCode::invalid_argument);
    EXPECT_EQ(code_of(files_.make_directories(nul)), ErrorCode::invalid_argument);
    const std::string long_name(256, 'x');
    EXPECT_EQ(open_error(at(long_name), OpenMode::create), ErrorCode::io);
    EXPECT_EQ(code_of(files_.make_directories(at(long_name))), ErrorCode::io);
    EXPECT_TRUE(open(long_name.substr(1)));
}

TEST_P(FileSystemContract, EveryErrorNamesThePath) {
    put("f", "hello");
    EXPECT_NE(files_.open(at("none"), OpenMode::read).error().what.find(at("none")), std::string::npos);
    EXPECT_NE(files_.list(at("f")).error().what.find(at("f")), std::string::npos);
    EXPECT_NE(files_.rename(at("none"), at("f")).error().what.find(at("none")), std::string::npos);
    EXPECT_NE(files_.make_directories(at("f/x")).error().what.find(at("f/x")), std::string::npos);
    EXPECT_NE(open("f", OpenMode::read)->truncate(0).error().what.find(at("f")), std::string::npos);
    EXPECT_NE(read_text(files_, at("f"), 4).error().what.find(at("f")), std::string::npos);
}

TEST_P(FileSystemContract, InfoTellsKindAndSize) {
    put("f", "hello");
    ASSERT_TRUE(files_.make_directories(at("d")));
    const auto file = files_.info(at("f"));
    ASSERT_TRUE(file);
    EXPECT_EQ(file->kind, FileKind::file);
    EXPECT_EQ(file->size, 5u);
    EXPECT_GT(file->modified_unix_s, 1'500'000'000);
    const auto folder = files_.info(at("d/."));
    ASSERT_TRUE(folder);
    EXPECT_EQ(folder->kind, FileKind::directory);
    EXPECT_EQ(folder->size, 0u);
}

TEST_P(FileSystemContract, ListTellsEverythingInAFolder) {
    EXPECT_TRUE(listed("").empty());
    ASSERT_TRUE(files_.make_directories(at("d/e")));
    put("f", "");
    put(".hidden", "");
    put("d/x", "");
    EXPECT_EQ(listed(""), (std::map<std::string, FileKind>{
                              {"d", FileKind::directory}, {"f", FileKind::file}, {".hidden", FileKind::file}}));
    EXPECT_EQ(listed("d/"), (std::map<std::string, FileKind>{{"e", FileKind::directory}, {"x", FileKind::file}}));
}

TEST_P(FileSystemContract, MakingFoldersKeepsWhatIsThere) {
    ASSERT_TRUE(files_.make_directories(at("a/b")));
    put("a/b/f", "hello");
    EXPECT_TRUE(files_.make_directories(at("a/b")));
    EXPECT_TRUE(files_.make_directories(at("a//b/./c/")));
    EXPECT_TRUE(files_.make_directories(at("a/b/../z")));
    EXPECT_EQ(get("a/b/f"), "hello");
    EXPECT_EQ(listed("a").size(), 2u);
}

TEST_P(FileSystemContract, RenameReplaces) {
    put("a", "new");
    put("b", "old");
    const auto old = open("b", OpenMode::read);
    ASSERT_TRUE(files_.rename(at("a"), at("b")));
    EXPECT_EQ(get("b"), "new");
    EXPECT_EQ(listed("").size(), 1u);
    std::array<std::byte, 3> buffer{};
    ASSERT_TRUE(read_exactly(*old, 0, buffer));
    EXPECT_EQ(buffer[0], std::byte{'o'});
}

TEST_P(FileSystemContract, RenameToItselfChangesNothing) {
    put("a", "hello");
    EXPECT_TRUE(files_.rename(at("a"), at("a")));
    EXPECT_EQ(get("a"), "hello");
}

TEST_P(FileSystemContract, RenameMovesFolders) {
    ASSERT_TRUE(files_.make_directories(at("d/e")));
    ASSERT_TRUE(files_.make_directories(at("empty")));
    ASSERT_TRUE(files_.make_directories(at("full/x")));
    put("d/e/f", "hello");
    put("f", "file");
    EXPECT_EQ(code_of(files_.rename(at("d"), at("full"))), ErrorCode::invalid_argument);
    EXPECT_EQ(code_of(files_.rename(at("d"), at("f"))), ErrorCode::invalid_argument);
    EXPECT_EQ(code_of(files_.rename(at("f"), at("d"))), ErrorCode::invalid_argument);
    EXPECT_EQ(code_of(files_.rename(at("f"), at("empty"))), ErrorCode::invalid_argument);
    EXPECT_EQ(code_of(files_.rename(at("d"), at("d/e/inside"))), ErrorCode::io);
    EXPECT_EQ(code_of(files_.rename(at("f"), at("missing/f"))), ErrorCode::not_found);
    EXPECT_EQ(code_of(files_.rename(at("f"), at("f/x"))), ErrorCode::not_found);
    EXPECT_EQ(get("f"), "file");
    ASSERT_TRUE(files_.rename(at("d"), at("empty")));
    EXPECT_EQ(get("empty/e/f"), "hello");
    EXPECT_EQ(listed("").size(), 3u);
}

TEST_P(FileSystemContract, RemoveTakesFilesAndEmptyFolders) {
    ASSERT_TRUE(files_.make_directories(at("d")));
    put("d/f", "hello");
    EXPECT_EQ(code_of(files_.remove(at("d"))), ErrorCode::invalid_argument);
    EXPECT_EQ(code_of(files_.remove(at("d/f/"))), ErrorCode::not_found);
    EXPECT_EQ(get("d/f"), "hello");
    ASSERT_TRUE(files_.remove(at("d/f")));
    ASSERT_TRUE(files_.remove(at("d")));
    EXPECT_TRUE(listed("").empty());
}

TEST_P(FileSystemContract, ARemovedFileGoesOnForWhoeverHasItOpen) {
    put("a", "hello");
    const auto file = open("a", OpenMode::read_write);
    ASSERT_TRUE(files_.remove(at("a")));
    put("a", "another");
    ASSERT_TRUE(write_all(*file, 5, std::as_bytes(std::span("!", 1))));
    EXPECT_EQ(file->size().value(), 6u);
    EXPECT_EQ(get("a"), "another");
}

TEST_P(FileSystemContract, TwoOpenFilesSeeEachOther) {
    const auto a = open("a");
    const auto b = open("a");
    ASSERT_TRUE(write_all(*a, 0, std::as_bytes(std::span("ab", 2))));
    ASSERT_TRUE(write_all(*b, 2, std::as_bytes(std::span("cd", 2))));
    std::array<std::byte, 4> buffer{};
    ASSERT_TRUE(read_exactly(*a, 0, buffer));
    EXPECT_EQ(buffer[3], std::byte{'d'});
}

TEST_P(FileSystemContract, FoldersCanBeFlushed) {
    put("a", "hello");
    EXPECT_TRUE(files_.sync_directory(root_));
    EXPECT_TRUE(files_.sync_directory(root_ + "/"));
}

TEST_P(FileSystemContract, SpaceIsToldOfAnyPlace) {
    put("a", "hello");
    for (const auto &path : {root_, at("a")}) {
        const auto space = files_.space(path);
        ASSERT_TRUE(space);
        EXPECT_GT(space->total, 0u);
        EXPECT_LE(space->available, space->total);
    }
}

TEST_P(FileSystemContract, ALockExcludesEvenItsOwnProcess) {
    auto lock = files_.lock(at("lock"));
    ASSERT_TRUE(lock);
    EXPECT_EQ(code_of(files_.lock(at("lock"))), ErrorCode::capacity);
    EXPECT_TRUE(files_.lock(at("other")));
    lock->reset();
    auto again = files_.lock(at("lock"));
    ASSERT_TRUE(again);
    EXPECT_EQ(code_of(files_.lock(at("lock"))), ErrorCode::capacity);
}

TEST_P(FileSystemContract, ALockSaysWhoHoldsIt) {
    put("lock", "something much older than this");
    {
        const auto lock = files_.lock(at("lock"));
        ASSERT_TRUE(lock);
        ASSERT_TRUE((*lock)->describe("process 12, a long description"));
        ASSERT_TRUE((*lock)->describe("process 12"));
        EXPECT_EQ(get("lock"), "process 12");
        EXPECT_EQ(code_of(files_.lock(at("lock"))), ErrorCode::capacity);
    }
    EXPECT_TRUE(files_.lock(at("lock")));
    EXPECT_EQ(get("lock"), "process 12");
}

TEST_P(FileSystemContract, OpeningALockedFileElsewhereDoesNotFreeIt) {
    const auto lock = files_.lock(at("lock"));
    ASSERT_TRUE(lock);
    EXPECT_TRUE(open("lock", OpenMode::read_write));
    EXPECT_EQ(code_of(files_.lock(at("lock"))), ErrorCode::capacity);
}

TEST_P(FileSystemContract, ReadTextTakesUpToItsLimit) {
    put("a", std::string(10'000, 'x'));
    EXPECT_EQ(read_text(files_, at("a"), 10'000).value(), std::string(10'000, 'x'));
    EXPECT_EQ(code_of(read_text(files_, at("a"), 9'999)), ErrorCode::corrupt);
    put("empty", "");
    EXPECT_EQ(read_text(files_, at("empty"), 0).value(), "");
}

TEST_P(FileSystemContract, TheKindOfANameIsSaid) {
    put("file", "text");
    ASSERT_TRUE(files_.make_directories(at("folder")));
    EXPECT_EQ(files_.kind_of_name(at("file")).value(), FileKind::file);
    EXPECT_EQ(files_.kind_of_name(at("folder")).value(), FileKind::directory);
    EXPECT_EQ(code_of(files_.kind_of_name(at("nothing"))), ErrorCode::not_found);
    EXPECT_EQ(code_of(files_.kind_of_name(at("file/below"))), ErrorCode::not_found);
}

TEST_P(FileSystemContract, AFolderIsLockedOnceWhateverIsInIt) {
    put("file", "text");
    auto lock = files_.lock_directory(root_);
    ASSERT_TRUE(lock);
    EXPECT_EQ(code_of(files_.lock_directory(root_)), ErrorCode::capacity);
    EXPECT_TRUE(files_.lock(at("file"))) << "the files in it have locks of their own";
    ASSERT_TRUE(files_.remove(at("file")));
    EXPECT_EQ(code_of(files_.lock_directory(root_)), ErrorCode::capacity);
    lock->reset();
    EXPECT_TRUE(files_.lock_directory(root_));
}

TEST_P(FileSystemContract, OnlyAFolderCanBeLockedAsOne) {
    put("file", "text");
    EXPECT_EQ(code_of(files_.lock_directory(at("file"))), ErrorCode::invalid_argument);
    EXPECT_EQ(code_of(files_.lock_directory(at("nothing"))), ErrorCode::not_found);
}

INSTANTIATE_TEST_SUITE_P(Worlds, FileSystemContract, testing::Values(World::posix, World::sim),
                         [](const auto &world) { return world.param == World::posix ? "posix" : "sim"; });

}  // namespace
}  // namespace cairn
