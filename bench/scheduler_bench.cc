// What the engine adds to a forward pass: the plan of a step, and whole steps, with 1 to 200 streams on the simulated
// backend.
//
//     build/bin/scheduler_bench
//
// engine_step is one token of each stream: plan, run, sample, commit, text. backend_run is the part of it that the
// simulated model takes (its logits are computed for each output).
#include <benchmark/benchmark.h>

#include <vector>

#include "bench/stream_pool.h"
#include "engine/scheduler.h"

namespace cairn {
namespace {

/// Every sequence decodes, and as many prompts again wait to be read.
void plan(benchmark::State &state) {
    std::vector<SequenceFacts> facts;
    for (std::int64_t i = 0; i < state.range(0); ++i) {
        const auto length = static_cast<TokenPos>(1000 + i);
        facts.push_back({.computed = length, .size = length + 1, .cut = length + 1});
        facts.push_back({.computed = 0, .size = length, .cut = 800, .urgency = static_cast<double>(i % 17)});
    }
    for (auto _ : state) {
        auto slices = plan_step(facts, {.tokens = 2048, .prompt_tokens_beside_decode = 512});
        benchmark::DoNotOptimize(slices.data());
    }
}
BENCHMARK(plan)->Arg(1)->Arg(10)->Arg(50)->Arg(200)->Unit(benchmark::kMicrosecond);

constexpr TokenPos kSteps = 2000;

void report(benchmark::State &state) {
    state.counters["per_stream"] =
        benchmark::Counter(static_cast<double>(state.range(0)),
                           benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}

void engine_step(benchmark::State &state) {
    StreamPool pool({.streams = static_cast<std::int32_t>(state.range(0)), .steps = kSteps});
    for (auto _ : state) {
        if (!pool.loop->step()) return state.SkipWithError("the streams have ended");
    }
    report(state);
}
BENCHMARK(engine_step)->Arg(1)->Arg(10)->Arg(50)->Arg(200)->Iterations(kSteps)->Unit(benchmark::kMicrosecond);

void backend_run(benchmark::State &state) {
    const auto streams = static_cast<std::int32_t>(state.range(0));
    StreamPool pool({.streams = streams, .steps = kSteps});
    Batch batch;
    for (std::int32_t i = 0; i < streams; ++i)
        batch.push_back({Token{'a'}, pool.backend->length(SeqId(i)), SeqId(i), true});
    for (auto _ : state) {
        if (!pool.backend->run(batch)) return state.SkipWithError("the batch does not run");
        for (std::size_t i = 0; i < batch.size(); ++i)
            benchmark::DoNotOptimize(pool.backend->logits(i).data());
        for (auto &token : batch)
            ++token.pos;
    }
    report(state);
}
BENCHMARK(backend_run)->Arg(1)->Arg(10)->Arg(50)->Arg(200)->Iterations(kSteps)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace cairn
