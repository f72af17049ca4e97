// The commands of the command line, one file each. A command registers its options and returns what runs it.
#pragma once

#include <functional>

#include "cairn/error.h"

namespace CLI {
class App;
}

namespace cairn {

struct Command {
    CLI::App *app = nullptr;
    std::function<int()> run;  ///< exit status
};

[[nodiscard]] Command add_serve_command(CLI::App &parent);
[[nodiscard]] Command add_run_command(CLI::App &parent);
[[nodiscard]] Command add_demo_command(CLI::App &parent);
[[nodiscard]] Command add_cache_command(CLI::App &parent);
[[nodiscard]] Command add_bench_command(CLI::App &parent);

/// Prints the error to stderr and returns its exit status.
[[nodiscard]] int report(const Error &error);

}  // namespace cairn
