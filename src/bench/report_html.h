// Runs as one HTML page: a table of all workloads, and plots for each. Nothing is loaded from elsewhere; it follows the
// reader's light or dark colours.
//
//     std::string page = report_html({{"cairn", run}, {"llama-server", other}});
//
// Workloads are matched by name, requests by their place in the workload: compare runs of the same workloads, seed and
// scale. Threads: any.
#pragma once

#include <string>
#include <vector>

#include "bench/results.h"

namespace cairn {

/// At least one.
[[nodiscard]] std::string report_html(const std::vector<NamedRun> &runs);

}  // namespace cairn
