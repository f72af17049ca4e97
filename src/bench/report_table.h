// A run as a table for people: a line for each workload, and what went wrong below it.
//
//     workload    asked  failed     p50     max      sum    ideal  ratio     prompt    ideal  ratio  ...
//     multi-turn      8       0    0.31    2.10     4.20     3.90   1.08       1302     1280   1.02  ...
//
// Threads: any.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "bench/results.h"

namespace cairn {

inline constexpr std::size_t kSummaryCells = 13;

/// What a row tells behind the workload's name: requests asked and failed; first token in s: p50, max, sum, ideal,
/// ratio; prompt tokens computed, ideal, ratio; gap in ms: p50, p99; tokens/s.
[[nodiscard]] std::array<std::string, kSummaryCells> summary_cells(const Summary &summary);
[[nodiscard]] std::string run_table(const RunResult &run);
/// The first run over each other one, of the workloads that both ran and answered in full.
[[nodiscard]] std::string ratio_table(const std::vector<NamedRun> &runs);
/// Where a server's model, speed and texts are told: the line above a table.
[[nodiscard]] std::string run_heading(const RunResult &run);
/// "1.35"; "-" where there is nothing to divide by, or nothing to divide.
[[nodiscard]] std::string ratio_text(std::optional<double> value, double ideal);

}  // namespace cairn
