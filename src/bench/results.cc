#include "bench/results.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace cairn {
namespace {

bool counts(const RequestResult &request) {
    return request.error.empty() && !request.warm_up;
}

/// Between requests there are pauses that are no part of the work: a restart, the counting of tokens, another server's
/// turn.
double wall_of(const std::vector<RequestResult> &requests) {
    std::vector<std::pair<double, double>> spans;
    for (const RequestResult &request : requests) {
        if (counts(request)) spans.emplace_back(request.started_s, request.started_s + request.total_s);
    }
    std::sort(spans.begin(), spans.end());
    double wall_s = 0, until_s = 0;
    for (const auto &[begin, end] : spans) {
        wall_s += std::max(0.0, end - std::max(begin, until_s));
        until_s = std::max(until_s, end);
    }
    return wall_s;
}

}  // namespace

double percentile(std::vector<double> values, double q) {
    if (values.empty()) return 0;
    std::sort(values.begin(), values.end());
    const auto rank = static_cast<std::size_t>(std::ceil(q * static_cast<double>(values.size())));
    return values[std::clamp<std::size_t>(rank, 1, values.size()) - 1];
}

Summary summarize(const std::vector<RequestResult> &requests) {
    Summary summary{.computed_tokens = 0, .wall_s = wall_of(requests)};
    std::vector<double> first_tokens, gaps;
    double prompt_tokens = 0, completion_tokens = 0;
    for (const RequestResult &request : requests) {
        if (!request.warm_up) ++summary.requests;
        if (!request.error.empty()) ++summary.failed;
        if (!counts(request)) continue;
        first_tokens.push_back(request.first_token_s);
        gaps.insert(gaps.end(), request.gaps_s.begin(), request.gaps_s.end());
        summary.first_token_sum_s += request.first_token_s;
        summary.ideal_first_token_sum_s += request.ideal_first_token_s;
        summary.ideal_tokens += request.ideal_new_tokens;
        if (!request.cached_tokens)
            summary.computed_tokens.reset();
        else if (summary.computed_tokens)
            *summary.computed_tokens += request.prompt_tokens - *request.cached_tokens;
        prompt_tokens += static_cast<double>(request.prompt_tokens);
        completion_tokens += static_cast<double>(request.completion_tokens);
    }
    summary.first_token_p50_s = percentile(first_tokens, 0.5);
    summary.first_token_max_s = percentile(first_tokens, 1);
    summary.gap_p50_s = percentile(gaps, 0.5);
    summary.gap_p99_s = percentile(gaps, 0.99);
    summary.gap_max_s = percentile(gaps, 1);
    if (summary.wall_s > 0) {
        summary.completion_tokens_per_s = completion_tokens / summary.wall_s;
        summary.prompt_tokens_per_s = prompt_tokens / summary.wall_s;
        summary.tokens_per_s = (prompt_tokens + completion_tokens) / summary.wall_s;
    }
    return summary;
}

void set_cold_speed(RunResult &run, const ColdSpeed &cold) {
    run.cold = cold;
    for (WorkloadResult &workload : run.workloads) {
        for (RequestResult &request : workload.requests)
            request.ideal_first_token_s = cold.seconds(request.ideal_waited_requests, request.ideal_waited_tokens);
        workload.summary = summarize(workload.requests);
    }
}

const WorkloadResult *find_workload(const RunResult &run, const std::string &name) {
    const auto found = std::find_if(run.workloads.begin(), run.workloads.end(),
                                    [&](const WorkloadResult &workload) { return workload.name == name; });
    return found != run.workloads.end() && found->skipped.empty() ? &*found : nullptr;
}

std::vector<std::string> workload_names(const std::vector<NamedRun> &runs) {
    std::vector<std::string> names;
    for (const NamedRun &named : runs) {
        for (const WorkloadResult &workload : named.run.workloads) {
            if (std::find(names.begin(), names.end(), workload.name) == names.end()) names.push_back(workload.name);
        }
    }
    return names;
}

bool all_answered(const RunResult &run) {
    return std::all_of(run.workloads.begin(), run.workloads.end(),
                       [](const WorkloadResult &workload) { return workload.summary.failed == 0; });
}

}  // namespace cairn
