// The workloads of bench/workloads/, which are compiled in.
//
//     auto all = builtin_workloads();
//
// Threads: any. Errors: of parse_workload; a test sees that there are none.
#pragma once

#include <string>
#include <vector>

#include "bench/workload.h"

namespace cairn {

/// By name.
[[nodiscard]] Result<std::vector<Workload>> builtin_workloads();

}  // namespace cairn
