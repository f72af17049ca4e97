#include "bench/bench_run.h"

#include <fmt/format.h>

#include <utility>

#include "bench/workload_run.h"

namespace cairn {
namespace {

constexpr unsigned kColdWords[] = {600, 60};
/// More than the marks of a template have in common.
constexpr long kNoticedTokens = 64;

/// Four conversations that share nothing, two long and two short ones, a token of answer each.
Workload calibration() {
    Workload workload{.name = "calibration", .about = "", .stages = {Stage{}}};
    for (const char *name : {"first", "second", "third", "fourth"}) {
        const unsigned words = kColdWords[workload.stages[0].conversations.size() / 2];
        Step step{.system = {}, .user = {TextPart{.literal = "", .words = words, .seed = name}}, .answer = {}};
        step.max_tokens = 1;
        workload.stages[0].conversations.push_back({name, "", {step}});
    }
    return workload;
}

/// Prompts of about one length.
struct ColdSample {
    double tokens = 0;
    double seconds = 0;
};

/// The line through two samples; through the long one alone where the short one is not clearly quicker.
ColdSpeed line_through(const ColdSample &longer, const ColdSample &shorter) {
    const double slope = (longer.seconds - shorter.seconds) / (longer.tokens - shorter.tokens);
    const double request_s = longer.seconds - slope * longer.tokens;
    if (longer.tokens > 2 * shorter.tokens && slope > 0 && request_s >= 0) return {request_s, 1 / slope};
    return {0, longer.tokens / longer.seconds};
}

Result<ColdSpeed> cold_speed(const WorkloadResult &measured, std::vector<std::string> &notes) {
    std::vector<ColdSample> samples;
    bool warm = false, told = true;
    for (const RequestResult &request : measured.requests) {
        if (!request.error.empty()) return fail(ErrorCode::io, "the first request was not answered: {}", request.error);
        const long cached = request.cached_tokens.value_or(0);
        warm = warm || cached > kNoticedTokens;
        told = told && request.cached_tokens;
        if (request.prompt_tokens > cached && request.first_token_s > 0)
            samples.push_back({static_cast<double>(request.prompt_tokens - cached), request.first_token_s});
    }
    if (warm) {
        notes.emplace_back(
            "the server has seen these texts before, so that nothing here is cold: empty its cache, or take another "
            "--seed");
    }
    if (!told) notes.emplace_back("the server does not say how many tokens were cached: what it computed is unknown");
    if (samples.size() < 4) {
        return fail(ErrorCode::unsupported,
                    "the server's answers say nothing of tokens (no usage with prompt_tokens in the stream): a bench "
                    "counts them");
    }
    const auto mean = [](const ColdSample &a, const ColdSample &b) {
        return ColdSample{(a.tokens + b.tokens) / 2, (a.seconds + b.seconds) / 2};
    };
    return line_through(mean(samples[0], samples[1]), mean(samples[2], samples[3]));
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
                  .cold = {},
                  .ideal_counted_in = server->counts_tokens() ? "tokens" : "characters",
                  .notes = {},
                  .workloads = {}};
    SeenPrefixes seen;
    BenchContext context{options, *server, env, run.model, seen, {0, 1}, {}, run.notes};
    if (options.steady_answers) {
        const auto token = server->steady_token();
        if (!token)
            return fail(token.error().code, "--steady-answers cannot be had: {}; leave it out", token.error().what);
        context.only_token = *token;
    }
    BenchProgress at{.workloads = workloads.size(), .name = "measuring the speed", .requests = 4};
    const auto tell = [&](std::size_t answered) {
        at.answered = answered;
        progress(at);
    };
    tell(0);
    const Workload cold = calibration();
    const auto speed = cold_speed(WorkloadRun(cold, context, tell).run(), run.notes);
    if (!speed) return fail(speed.error());
    run.cold = context.cold = *speed;

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
            "first tokens came sooner than the ideal: the server was slower in the first prompts than later, so "
            "that ideal times are too long. Run it again where nothing else computes");
    }
    return run;
}

}  // namespace cairn
