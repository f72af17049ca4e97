// BenchPrinter: how far a bench is, on stderr.
//
//     run_bench(options, workloads, env, BenchPrinter(env));
//
// A line for each workload when it is done; on a terminal also one that changes while it runs.
// Threads: any, one at a time.
#pragma once

#include "bench/bench_run.h"

namespace cairn {

class BenchPrinter {
public:
    explicit BenchPrinter(Env &env);
    void operator()(const BenchProgress &at);

private:
    Env &env_;
    bool terminal_;
    double begun_at_s_ = 0;  ///< the workload
};

}  // namespace cairn
