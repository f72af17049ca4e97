#include "bench/report_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>

namespace cairn {
namespace {

/// Widths of the columns behind the name, of summary_cells().
constexpr std::array<int, kSummaryCells> kWidths = {5, 6, 6, 6, 7, 7, 5, 9, 7, 5, 5, 6, 8};

std::string header(std::size_t width) {
    return fmt::format(
        "{:{}}                   first token, s                            tokens computed            gap, ms\n"
        "{:<{}}  asked  failed     p50     max      sum    ideal  ratio     prompt    ideal  ratio    p50     p99  "
        "tokens/s\n",
        "", width, "workload", width);
}

std::string row(const WorkloadResult &workload, std::size_t width) {
    std::string out = fmt::format("{:<{}}", workload.name, width);
    const auto cells = summary_cells(workload.summary);
    for (std::size_t i = 0; i < cells.size(); ++i)
        fmt::format_to(std::back_inserter(out), "  {:>{}}", cells[i], kWidths[i]);
    return out + "\n";
}

/// Of the longest name of a workload, at least of the word above them.
std::size_t width_of(const std::vector<std::string> &names) {
    std::size_t width = 8;
    for (const std::string &name : names)
        width = std::max(width, name.size());
    return width;
}

/// The first failure of a workload: the others are mostly alike.
std::string failure_of(const WorkloadResult &workload) {
    const auto failed = std::find_if(workload.requests.begin(), workload.requests.end(),
                                     [](const RequestResult &request) { return !request.error.empty(); });
    if (failed == workload.requests.end()) return "";
    return fmt::format("{}: {}, turn {}: {}\n", workload.name, failed->conversation, failed->turn, failed->error);
}

/// Sums over other requests are not comparable: each must have answered all.
std::string ratio_cells(const WorkloadResult *one, const WorkloadResult *other) {
    if (one == nullptr || other == nullptr) return "only one of them ran it";
    const Summary &a = one->summary, &b = other->summary;
    if (a.failed > 0 || b.failed > 0 || a.requests != b.requests) return "not all was answered by both";
    return fmt::format("{:>12}  {:>8}  {:>7}  {:>7}  {:>8}", ratio_text(a.first_token_sum_s, b.first_token_sum_s),
                       ratio_text(a.computed_tokens, static_cast<double>(b.computed_tokens.value_or(0))),
                       ratio_text(a.gap_p50_s, b.gap_p50_s), ratio_text(a.gap_p99_s, b.gap_p99_s),
                       ratio_text(a.tokens_per_s, b.tokens_per_s));
}

}  // namespace

std::string ratio_text(std::optional<double> value, double ideal) {
    return value && ideal > 0 ? fmt::format("{:.2f}", *value / ideal) : "-";
}

std::array<std::string, kSummaryCells> summary_cells(const Summary &s) {
    return {std::to_string(s.requests),
            std::to_string(s.failed),
            fmt::format("{:.2f}", s.first_token_p50_s),
            fmt::format("{:.2f}", s.first_token_max_s),
            fmt::format("{:.2f}", s.first_token_sum_s),
            fmt::format("{:.2f}", s.ideal_first_token_sum_s),
            ratio_text(s.first_token_sum_s, s.ideal_first_token_sum_s),
            s.computed_tokens ? std::to_string(*s.computed_tokens) : "unknown",
            std::to_string(s.ideal_tokens),
            ratio_text(s.computed_tokens, static_cast<double>(s.ideal_tokens)),
            fmt::format("{:.0f}", s.gap_p50_s * 1000),
            fmt::format("{:.0f}", s.gap_p99_s * 1000),
            fmt::format("{:.1f}", s.tokens_per_s)};
}

std::string run_heading(const RunResult &run) {
    return fmt::format("{}{}{}: seed {}, texts x {}; a cold prompt is computed at {:.1f} tokens/s; ideal counted in {}",
                       run.server.empty() ? run.url : run.server + " at " + run.url, run.model.empty() ? "" : ", ",
                       run.model, run.seed, run.scale, run.cold.tokens_per_s, run.ideal_counted_in);
}

std::string ratio_table(const std::vector<NamedRun> &runs) {
    std::string out;
    for (std::size_t i = 1; i < runs.size(); ++i) {
        const RunResult &one = runs[0].run, &other = runs[i].run;
        fmt::format_to(std::back_inserter(out), "{} / {}\n\n", runs[0].name, runs[i].name);
        if (one.seed != other.seed || one.scale != other.scale) {
            out += "They were asked other texts (seed or scale): there is nothing to compare.\n\n";
            continue;
        }
        const auto names = workload_names({runs[0], runs[i]});
        const std::size_t width = width_of(names);
        fmt::format_to(std::back_inserter(out), "{:<{}}  first tokens  computed  gap p50  gap p99  tokens/s\n",
                       "workload", width);
        for (const std::string &name : names)
            fmt::format_to(std::back_inserter(out), "{:<{}}  {}\n", name, width,
                           ratio_cells(find_workload(one, name), find_workload(other, name)));
        out += "\n";
    }
    return out;
}

std::string run_table(const RunResult &run) {
    std::vector<std::string> names;
    for (const WorkloadResult &workload : run.workloads)
        names.push_back(workload.name);
    const std::size_t width = width_of(names);
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
