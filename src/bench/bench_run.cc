#include "bench/bench_run.h"

#include <fmt/format.h>

#include <utility>

#include "bench/workload_run.h"

namespace cairn {
namespace {

constexpr unsigned kColdWords = 600;
/// More than the marks of a template have in common.
constexpr long kNoticedTokens = 64;

/// Two conversations that share nothing, a token of answer each.
Workload calibration() {
    Workload workload{.name = "calibration", .about = "", .stages = {Stage{}}};
    for (const char *name : {"first", "second"}) {
        Step step{.system = {}, .user = {TextPart{.literal = "", .words = kColdWords, .seed = name}}, .answer = {}};
        step.max_tokens = 1;
        workload.stages[0].conversations.push_back({name, "", {step}});
    }
    return workload;
}

/// Tokens per second of what was computed; of two, their mean is the median.
Result<double> cold_speed(const WorkloadResult &measured, std::vector<std::string> &notes) {
    double sum = 0;
    std::size_t count = 0;
    bool warm = false, told = true;
    for (const RequestResult &request : measured.requests) {
        if (!request.error.empty()) return fail(ErrorCode::io, "the first request was not answered: {}", request.error);
        const long cached = request.cached_tokens.value_or(0);
        warm = warm || cached > kNoticedTokens;
        told = told && request.cached_tokens;
        if (request.prompt_tokens <= cached || request.first_token_s <= 0) continue;
        sum += static_cast<double>(request.prompt_tokens - cached) / request.first_token_s;
        ++count;
    }
    if (warm) {
        notes.emplace_back(
            "the server has seen these texts before, so that nothing here is cold: empty its cache, or take another "
            "--seed");
    }
    if (!told) notes.emplace_back("the server does not say how many tokens were cached: what it computed is unknown");
    if (count == 0) {
        return fail(ErrorCode::unsupported,
                    "the server's answers say nothing of tokens (no usage with prompt_tokens in the stream): a bench "
                    "counts them");
    }
    return sum / static_cast<double>(count);
}

/// Whether all first tokens together came clearly sooner than the ideal says they can.
bool was_slow_at_first(const RunResult &run) {
    constexpr double kClearly = 0.9;
    double measured_s = 0, ideal_s = 0;
    for (const WorkloadResult &workload : run.workloads) {
        measured_s += workload.summary.first_token_sum_s;
        ideal_s += workload.summary.ideal_first_token_sum_s;
    }
    return measured_s < kClearly * ideal_s;
}

WorkloadResult skip(const Workload &workload) {
    WorkloadResult result;
    result.name = workload.name;
    result.skipped = "it restarts the server: give --restart-with COMMAND";
    return result;
}

}  // namespace

Result<RunResult> run_bench(const BenchOptions &options, const std::vector<Workload> &workloads, Env &env,
                            const std::function<void(const BenchProgress &)> &progress) {
    const auto server = BenchServer::find(options.target);
    if (!server) return fail(server.error());
    RunResult run{.url = options.url,
                  .server = server->name(),
                  .model = options.model.empty() ? server->model() : options.model,
                  .seed = options.seed,
                  .scale = options.scale,
                  .ideal_counted_in = server->counts_tokens() ? "tokens" : "characters",
                  .notes = {},
                  .workloads = {}};
    SeenPrefixes seen;
    BenchContext context{options, *server, env, run.model, seen, 1, run.notes};
    BenchProgress at{.workloads = workloads.size(), .name = "measuring the speed", .requests = 2};
    const auto tell = [&](std::size_t answered) {
        at.answered = answered;
        progress(at);
    };
    tell(0);
    const Workload cold = calibration();
    const auto speed = cold_speed(WorkloadRun(cold, context, tell).run(), run.notes);
    if (!speed) return fail(speed.error());
    run.cold_tokens_per_s = context.cold_tokens_per_s = *speed;

    for (const Workload &workload : workloads) {
        at = {at.workload + 1, workloads.size(), workload.name, 0, count_requests(workload)};
        progress(at);
        const bool can_run = !needs_restart(workload) || !options.restart_command.empty();
        run.workloads.push_back(can_run ? WorkloadRun(workload, context, tell).run() : skip(workload));
        at.finished = &run.workloads.back();
        progress(at);
    }
    if (run.notes.empty() && was_slow_at_first(run)) {
        run.notes.emplace_back(
            "first tokens came sooner than the ideal: the server was slower in the first two prompts than later, so "
            "that "
            "ideal times are too long. Run it again where nothing else computes");
    }
    return run;
}

}  // namespace cairn
