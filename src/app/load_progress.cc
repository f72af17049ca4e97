#include "app/load_progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>

namespace cairn {

LoadProgress show_load_progress(const std::string &path, bool quiet) {
    if (quiet) return {};
    const bool terminal = isatty(STDERR_FILENO) == 1;
    const int step = terminal ? 1 : 25;
    return [name = std::filesystem::path(path).filename().string(), terminal, step, shown = -1](float done) mutable {
        const int percent = static_cast<int>(done * 100) / step * step;
        if (percent == shown) return true;
        shown = percent;
        constexpr int kWidth = 30;
        const int filled = percent * kWidth / 100;
        if (terminal) {
            fmt::print(stderr, "\rloading {} [{:#<{}}{:.<{}}] {:3} %{}", name, "", filled, "", kWidth - filled, percent,
                       percent == 100 ? "\n" : "");
        } else {
            fmt::print(stderr, "loading {} {} %\n", name, percent);
        }
        std::fflush(stderr);
        return true;
    };
}

}  // namespace cairn
