// LyingDisk: a test with a SimFileSystem that loses power in every way.
//
//     EXPECT_EQ(contents("a"), (Contents{"old", "new"}));    // what "a" may hold after a loss of power at this moment
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "tests/support/sim_file_system.h"

namespace cairn {

inline constexpr std::uint64_t kSeeds = 400;

class LyingDisk : public testing::Test {
protected:
    std::unique_ptr<File> open(const std::string &path, OpenMode mode = OpenMode::create) {
        auto file = disk_.open(path, mode);
        if (!file) ADD_FAILURE() << file.error().what;
        return file ? std::move(*file) : nullptr;
    }
    static Status write(File &file, std::uint64_t offset, std::string_view text) {
        return write_all(file, offset, std::as_bytes(std::span(text)));
    }
    /// All that `look` sees after each of many losses of power, all at this moment.
    template <class Look>
    auto outcomes(const Look &look) {
        std::set<decltype(look(disk_))> seen;
        for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
            const auto copy = disk_.clone();
            copy->crash(seed);
            seen.insert(look(*copy));
        }
        return seen;
    }
    auto contents(const std::string &path) {
        return outcomes([&](const SimFileSystem &disk) { return disk.content(path); });
    }
    auto names() {
        return outcomes([](const SimFileSystem &disk) { return disk.files(); });
    }

    SimFileSystem disk_;
};

using Contents = std::set<std::string>;
using Names = std::set<std::vector<std::string>>;

template <class T>
[[nodiscard]] ErrorCode code_of(const Result<T> &result) {
    return result ? ErrorCode::internal : result.error().code;
}

}  // namespace cairn
