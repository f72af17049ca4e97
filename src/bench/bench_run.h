// run_bench: workloads against a server, one after the other.
//
//     BenchOptions options;
//     options.target = {"127.0.0.1", 8080, ""};
//     Result<RunResult> run = run_bench(options, workloads, env, [](const BenchProgress &at) { ... });
//
// First four prompts that share nothing measure how fast the server computes what is new: cold_tokens_per_s. Then
// requests are sent as the stages say, a thread for each conversation of a stage that runs together; after a stage
// the ideals of its requests are counted. A request that fails is a result, and ends its conversation: the rest of that
// is not asked and has failed too.
//
// Threads: `progress` is called from several, one at a time. Errors: io where the server is not there or answers
// neither of the first prompts.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "bench/results.h"
#include "bench/workload.h"
#include "cairn/error.h"
#include "env/env.h"
#include "server/http_client.h"

namespace cairn {

struct BenchOptions {
    HttpTarget target;
    std::string url = "http://127.0.0.1:8080";  ///< as the user wrote it
    std::string model;                          ///< empty: the first that the server lists
    std::uint64_t seed = 1;
    double scale = 1;             ///< multiplies the words of seeded texts
    std::string restart_command;  ///< of a shell; empty: workloads with a restart are skipped
    double timeout_s = 600;       ///< of one request, and of a restart
    bool steady_answers = false;  ///< answers are one word over and over, whatever the model would say
};

struct BenchProgress {
    std::size_t workload = 0;  ///< from 1; 0: measuring the speed
    std::size_t workloads = 0;
    std::string name;
    std::size_t answered = 0;  ///< or failed
    std::size_t requests = 0;
    const WorkloadResult *finished = nullptr;  ///< at a workload's end, or where it is skipped
};

[[nodiscard]] Result<RunResult> run_bench(const BenchOptions &options, const std::vector<Workload> &workloads, Env &env,
                                          const std::function<void(const BenchProgress &)> &progress);

}  // namespace cairn
