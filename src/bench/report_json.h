// A run as JSON, and back. The fields are those of bench/results.h; docs/bench.md shows them.
//
//     std::string json = run_json(run);
//     Result<RunResult> same = parse_run_json("a.json", json);     // without the gaps of single requests
//
// Threads: any. Errors: invalid_argument for a text that no run_json wrote, with what is wrong.
#pragma once

#include <string>
#include <string_view>

#include "bench/results.h"
#include "cairn/error.h"

namespace cairn {

[[nodiscard]] std::string run_json(const RunResult &run);
/// `file`: what errors call it.
[[nodiscard]] Result<RunResult> parse_run_json(const std::string &file, std::string_view json);

}  // namespace cairn
