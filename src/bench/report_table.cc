#include "bench/report_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace cairn {
namespace {

std::string header(std::size_t width) {
    return fmt::format(
        "{:{}}                   first token, s                            tokens computed            gap, ms\n"
        "{:<{}}  asked  failed     p50     max      sum    ideal  ratio     prompt    ideal  ratio    p50     p99  "
        "tokens/s\n",
        "", width, "workload", width);
}

std::string row(const WorkloadResult &workload, std::size_t width) {
    const Summary &s = workload.summary;
    const std::optional<double> computed =
        s.computed_tokens ? std::optional<double>(static_cast<double>(*s.computed_tokens)) : std::nullopt;
    return fmt::format(
        "{:<{}}  {:>5}  {:>6}  {:>6.2f}  {:>6.2f}  {:>7.2f}  {:>7.2f}  {:>5}  {:>9}  {:>7}  {:>5}  {:>5.0f}  {:>6.0f}  "
        "{:>8.1f}\n",
        workload.name, width, s.requests, s.failed, s.first_token_p50_s, s.first_token_max_s, s.first_token_sum_s,
        s.ideal_first_token_sum_s, ratio_text(s.first_token_sum_s, s.ideal_first_token_sum_s),
        s.computed_tokens ? std::to_string(*s.computed_tokens) : "unknown", s.ideal_tokens,
        ratio_text(computed, static_cast<double>(s.ideal_tokens)), s.gap_p50_s * 1000, s.gap_p99_s * 1000,
        s.tokens_per_s);
}

/// The first failure of a workload: the others are mostly alike.
std::string failure_of(const WorkloadResult &workload) {
    const auto failed = std::find_if(workload.requests.begin(), workload.requests.end(),
                                     [](const RequestResult &request) { return !request.error.empty(); });
    if (failed == workload.requests.end()) return "";
    return fmt::format("{}: {}, turn {}: {}\n", workload.name, failed->conversation, failed->turn, failed->error);
}

}  // namespace

std::string ratio_text(std::optional<double> value, double ideal) {
    return value && ideal > 0 ? fmt::format("{:.2f}", *value / ideal) : "-";
}

std::string run_heading(const RunResult &run) {
    return fmt::format("{}{}{}: seed {}, texts x {}; a cold prompt is computed at {:.1f} tokens/s; ideal counted in {}",
                       run.server.empty() ? run.url : run.server + " at " + run.url, run.model.empty() ? "" : ", ",
                       run.model, run.seed, run.scale, run.cold.tokens_per_s, run.ideal_counted_in);
}

std::string run_table(const RunResult &run) {
    std::size_t width = 8;
    for (const WorkloadResult &workload : run.workloads)
        width = std::max(width, workload.name.size());
    std::string below;
    std::string out = run_heading(run) + "\n\n";
    out += header(width);
    for (const WorkloadResult &workload : run.workloads) {
        if (workload.skipped.empty())
            out += row(workload, width);
        else
            fmt::format_to(std::back_inserter(out), "{:<{}}  skipped: {}\n", workload.name, width, workload.skipped);
        below += failure_of(workload);
    }
    for (const std::string &note : run.notes)
        below += note + "\n";
    return below.empty() ? out : out + "\n" + below;
}

}  // namespace cairn
