// Random operations on the simulated and the real file system: whatever the one says, the other says.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

#include "tests/support/sim_file_system.h"
#include "tests/support/temp_folder.h"

namespace cairn {
namespace {

/// One of two worlds that get the same operations. Each operation gives a text: what happened, without paths.
class Walker {
public:
    Walker(FileSystem &files, std::string root) : files_(files), root_(std::move(root)) {
        EXPECT_TRUE(files_.make_directories(root_));
    }

    /// Nobody renames or removes "." and "..", and the system's errors for it are a study of their own: left out.
    std::string step(std::uint32_t operation, const std::string &a, const std::string &b, std::uint64_t n) {
        const std::string path = root_ + "/" + a;
        switch (operation) {
            case 0:
            case 1: return write(path, static_cast<OpenMode>(n % 4), n);
            case 2: return said(files_.make_directories(path));
            case 3: return a.back() == '.' || b.back() == '.' ? "" : said(files_.rename(path, root_ + "/" + b));
            case 4: return a.back() == '.' ? "" : said(files_.remove(path));
            case 5: return said(files_.sync_directory(path));
            case 6: return said(read_text(files_, path, 300));
            case 7: return list(path);
            case 8: return said(files_.space(path).map([](const SpaceInfo &) {}));
            case 9: return said(files_.lock(path).map([](const auto &) {}));
            default: return info(path);
        }
    }

private:
    template <class T>
    static std::string said(const Result<T> &result) {
        if (!result) return name_of(result.error().code);
        if constexpr (std::is_same_v<T, std::string>)
            return "ok: " + *result;
        else
            return "ok";
    }
    std::string write(const std::string &path, OpenMode mode, std::uint64_t n) {
        const auto file = files_.open(path, mode);
        if (!file) return name_of(file.error().code);
        const std::string text(n % 50, static_cast<char>('a' + n % 26));
        const auto done =
            n % 7 == 0 ? (*file)->truncate(n % 120) : write_all(**file, n % 99, std::as_bytes(std::span(text)));
        return said(done) + said((*file)->size().map([](std::uint64_t size) { return std::to_string(size); }));
    }
    std::string list(const std::string &path) {
        const auto entries = files_.list(path);
        if (!entries) return name_of(entries.error().code);
        std::vector<std::string> lines;
        for (const auto &entry : *entries)
            lines.push_back(entry.name + std::to_string(static_cast<int>(entry.kind)));
        std::sort(lines.begin(), lines.end());
        std::string text;
        for (const auto &line : lines)
            text += line + " ";
        return text;
    }
    std::string info(const std::string &path) {
        const auto info = files_.info(path);
        if (!info) return name_of(info.error().code);
        return std::to_string(static_cast<int>(info->kind)) + " " + std::to_string(info->size);
    }

    FileSystem &files_;
    std::string root_;
};

TEST(RandomFileOperations, TheSimulatedDiskSaysWhatTheRealOneSays) {
    const std::vector<std::string> paths{"a",   "b",     "d",   "d/a",  "d/b",     "d/e",     "d/e/a",    "c",
                                         "c/a", "c/a/b", "d/",  "a/",   "a/.",     "d/..",    "d/../a",   "x/../a",
                                         ".",   "c//a",  "./b", "d/e/", "c/a/b/x", "d/./e/b", "missing/y"};
    std::set<std::string> answers;
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        const TempFolder folder;
        SimFileSystem sim;
        Walker real_world(posix_file_system(), folder.path() + "/root");
        Walker sim_world(sim, "/tmp/root");
        std::mt19937_64 random(seed);
        for (int i = 0; i < 1000; ++i) {
            const auto operation = static_cast<std::uint32_t>(random() % 11);
            const std::string &a = paths[random() % paths.size()];
            const std::string &b = paths[random() % paths.size()];
            const std::uint64_t n = random() % 1000;
            const std::string real = real_world.step(operation, a, b, n);
            ASSERT_EQ(sim_world.step(operation, a, b, n), real)
                << "seed " << seed << ", step " << i << ": operation " << operation << " of " << a << " and " << b;
            answers.insert(std::to_string(operation) + real.substr(0, 2));
        }
    }
    EXPECT_GT(answers.size(), 30u);  // all operations went well and failed, in different ways
}

}  // namespace
}  // namespace cairn
