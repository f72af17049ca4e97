// TempFolder: an empty folder of the real file system, removed with all it holds at the end of the test.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>

namespace cairn {

class TempFolder {
public:
    TempFolder() {
        path_ = testing::TempDir() + "cairn_XXXXXX";
        if (::mkdtemp(path_.data()) == nullptr) ADD_FAILURE() << path_ << " cannot be made";
    }
    TempFolder(const TempFolder &) = delete;
    TempFolder &operator=(const TempFolder &) = delete;
    ~TempFolder() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    [[nodiscard]] const std::string &path() const { return path_; }

private:
    std::string path_;
};

}  // namespace cairn
