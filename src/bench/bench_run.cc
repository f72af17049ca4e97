#include "bench/bench_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "bench/cold_speed.h"
#include "bench/workload_run.h"

namespace cairn {
namespace {

/// Whether all first tokens together came clearly sooner than the ideal says they can.
bool was_slow_when_cold(const RunResult &run) {
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

/// One server, and what is found of it.
struct Subject {
    BenchContext context;
    RunResult run;
    ColdSamples samples;
};

class Bench {
public:
    Bench(const BenchOptions &options, Env &env, const std::function<void(const BenchProgress &)> &progress)
        : options_(options), env_(env), progress_(progress) {}

    Result<std::vector<RunResult>> run(const std::vector<Workload> &workloads) {
        for (const BenchTarget &target : options_.servers) {
            if (const Status found = find_server(target); !found) return fail(found.error());
        }
        const std::size_t count = workloads.size();
        at_ = {.workloads = count, .name = "measuring the speed", .finished = {}};
        if (const Status measured = measure_cold(0); !measured) return fail(measured.error());
        for (const Workload &workload : workloads) {
            at_ = {at_.workload + 1, count, workload.name, 0, 0, {}};
            run_one(workload);
        }
        at_ = {.workloads = count, .name = "measuring the speed once more", .finished = {}};
        (void)measure_cold(1);  // a server that has gone has failed in what was asked of it
        std::vector<RunResult> runs;
        for (Subject &subject : subjects_)
            runs.push_back(finish(subject));
        return runs;
    }

private:
    Status find_server(const BenchTarget &target) {
        auto server = BenchServer::find(target.http);
        if (!server) return fail(server.error());
        RunResult run{.url = target.url,
                      .server = server->name(),
                      .model = options_.model.empty() ? server->model() : options_.model,
                      .seed = options_.seed,
                      .scale = options_.scale,
                      .cold = {},
                      .ideal_counted_in = server->counts_tokens() ? "tokens" : "characters",
                      .notes = {},
                      .workloads = {}};
        BenchContext context{options_, target, std::move(*server), env_, run.model, {}, {}, {}};
        if (options_.steady_answers) {
            const auto token = context.server.steady_token();
            if (!token) {
                return fail(token.error().code, "--steady-answers cannot be had: {}; leave it out", token.error().what);
            }
            context.only_token = *token;
        }
        subjects_.push_back({std::move(context), std::move(run), {}});
        return {};
    }

    std::vector<WorkloadResult> ask_all(const Workload &workload) {
        std::vector<BenchContext *> contexts;
        for (Subject &subject : subjects_)
            contexts.push_back(&subject.context);
        at_.requests = subjects_.size() * count_requests(workload);
        progress_(at_);
        return run_workload(workload, contexts, [&](std::size_t answered) {
            at_.answered = answered;
            progress_(at_);
        });
    }

    Status measure_cold(unsigned pass) {
        const auto measured = ask_all(cold_prompts(pass));
        for (std::size_t i = 0; i < subjects_.size(); ++i) {
            Subject &subject = subjects_[i];
            if (const Status added = subject.samples.add(measured[i].requests); !added) return added;
            set_cold_speed(subject.run, subject.samples.speed());
        }
        return {};
    }

    void run_one(const Workload &workload) {
        const bool can_run = !needs_restart(workload) ||
                             std::none_of(options_.servers.begin(), options_.servers.end(),
                                          [](const BenchTarget &target) { return target.restart_command.empty(); });
        std::vector<WorkloadResult> results;
        if (can_run)
            results = ask_all(workload);
        else
            results.assign(subjects_.size(), skip(workload));
        for (std::size_t i = 0; i < subjects_.size(); ++i) {
            RunResult &run = subjects_[i].run;
            run.workloads.push_back(std::move(results[i]));
            set_cold_speed(run, run.cold);
            at_.finished.push_back(&run.workloads.back());
        }
        progress_(at_);
    }

    static RunResult finish(Subject &subject) {
        RunResult &run = subject.run;
        run.notes = subject.samples.notes();
        run.notes.insert(run.notes.end(), subject.context.notes.begin(), subject.context.notes.end());
        if (run.notes.empty() && was_slow_when_cold(run)) {
            run.notes.emplace_back(
                "first tokens came sooner than the ideal: the server was slower in the cold prompts than in the "
                "others, so that ideal times are too long. Run it again where nothing else computes");
        }
        return std::move(run);
    }

    const BenchOptions &options_;
    Env &env_;
    const std::function<void(const BenchProgress &)> &progress_;
    std::vector<Subject> subjects_;
    BenchProgress at_;
};

}  // namespace

Result<std::vector<RunResult>> run_bench(const BenchOptions &options, const std::vector<Workload> &workloads, Env &env,
                                         const std::function<void(const BenchProgress &)> &progress) {
    CAIRN_CHECK(!options.servers.empty(), "a bench of no server");
    return Bench(options, env, progress).run(workloads);
}

}  // namespace cairn
