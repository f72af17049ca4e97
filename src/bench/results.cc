#include "bench/results.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

namespace cairn {
namespace {

bool counts(const RequestResult &request) {
    return request.error.empty() && !request.warm_up;
}

/// Stages follow each other with pauses (a restart, the counting of tokens) that are no part of the work.
double wall_of(const std::vector<RequestResult> &requests) {
    std::map<unsigned, std::pair<double, double>> stages;
    for (const RequestResult &request : requests) {
        if (!counts(request)) continue;
        const double end = request.started_s + request.total_s;
        const auto [found, is_new] = stages.try_emplace(request.stage, request.started_s, end);
        found->second.first = std::min(found->second.first, request.started_s);
        found->second.second = std::max(found->second.second, end);
    }
    double wall_s = 0;
    for (const auto &[stage, span] : stages)
        wall_s += span.second - span.first;
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

bool all_answered(const RunResult &run) {
    return std::all_of(run.workloads.begin(), run.workloads.end(),
                       [](const WorkloadResult &workload) { return workload.summary.failed == 0; });
}

}  // namespace cairn
