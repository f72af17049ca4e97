// run_bench: workloads against a server, one after the other; or against several, for a comparison.
//
//     BenchOptions options;
//     options.servers = {{"http://127.0.0.1:8080", {"127.0.0.1", 8080, ""}, ""}};
//     Result<std::vector<RunResult>> runs = run_bench(options, workloads, env, [](const BenchProgress &at) { ... });
//
// Prompts that share nothing, before and after all else, measure how fast the server computes what is new:
// cold_speed.h. Between them requests are sent as the stages say, a thread for each conversation of a stage that runs
// together. A request that fails is a result, and ends its conversation: the rest of that is not asked and has failed
// too.
//
// Each of several servers is asked each request, one server after the other, and each stage that runs together
// likewise; who is first changes every time. A machine whose speed drifts is then as fast for one as for the other.
// Before each request there is a pause, in which what the server before it does behind its answer comes to an end.
//
// Threads: `progress` is called from several, one at a time. Errors: io where a server is not there or answers neither
// of the first prompts.
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

struct BenchTarget {
    std::string url;  ///< as the user wrote it
    HttpTarget http;
    std::string restart_command;  ///< of a shell; empty: workloads with a restart are skipped
};

struct BenchOptions {
    std::vector<BenchTarget> servers;  ///< at least one
    std::string model;                 ///< empty: the first that the server lists
    std::uint64_t seed = 1;
    double scale = 1;             ///< multiplies the words of seeded texts
    double timeout_s = 600;       ///< of one request, and of a restart
    bool steady_answers = false;  ///< answers are one word over and over, whatever the model would say
};

struct BenchProgress {
    std::size_t workload = 0;  ///< from 1; 0: measuring the speed
    std::size_t workloads = 0;
    std::string name;
    std::size_t answered = 0;  ///< or failed, of all servers
    std::size_t requests = 0;
    std::vector<const WorkloadResult *> finished;  ///< at a workload's end, or where it is skipped: of each server
};

/// One for each server, in their order.
[[nodiscard]] Result<std::vector<RunResult>> run_bench(const BenchOptions &options,
                                                       const std::vector<Workload> &workloads, Env &env,
                                                       const std::function<void(const BenchProgress &)> &progress);

}  // namespace cairn
