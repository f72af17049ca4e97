// run_workload: one workload against one server or several.
//
//     std::vector<WorkloadResult> results = run_workload(workload, {&context}, answered);   // one for each context
//
// Each request, or stage of requests that run together, is asked of each server in turn; who is first changes every
// time. Ideals are counted in tokens: their times and the summaries are for set_cold_speed() of bench/results.h.
//
// Ownership: refers to all it is given while it runs. Threads: one; it makes and joins those of stages that run
// together, and calls `answered` from them, one at a time.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "bench/bench_run.h"
#include "bench/bench_server.h"
#include "bench/ideal.h"

namespace cairn {

/// What all workloads of a run on one server have in common.
struct BenchContext {
    const BenchOptions &options;
    const BenchTarget &target;
    BenchServer server;
    Env &env;
    std::string model;
    SeenPrefixes seen;
    std::optional<std::uint32_t> only_token;  ///< that answers are made of; none: as the model likes
    std::vector<std::string> notes;           ///< what was found doubtful
};

using Answered = std::function<void(std::size_t requests)>;  ///< so many are answered, or have failed, on all servers

[[nodiscard]] std::vector<WorkloadResult> run_workload(const Workload &workload,
                                                       const std::vector<BenchContext *> &contexts,
                                                       const Answered &answered);

}  // namespace cairn
