#include "bench/report_html.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "base/check.h"
#include "bench/html_charts.h"
#include "bench/report_table.h"

namespace cairn {
namespace {

constexpr const char *kHead = R"(<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>cairn bench</title><style>
:root { color-scheme: light dark; --text: #1c1c1a; --soft: #66645f; --page: #fcfcfb; --line: #e2e1dc; --ideal: #a9a7a0;
  --s0: #2a78d6; --s1: #d9622b; --s2: #16936a; --s3: #7a5bd0; --s4: #b88700; --s5: #c2417f; --s6: #4f7a1e; --s7: #5b6b7f; }
@media (prefers-color-scheme: dark) { :root { --text: #ecebe6; --soft: #a3a19a; --page: #191918; --line: #383733;
  --ideal: #75736c; --s0: #4b93e6; --s1: #e8804e; --s2: #2eb387; --s3: #9a82e4; --s4: #d3a52a; --s5: #de6ba0;
  --s6: #7ba944; --s7: #8d9cae; } }
body { font: 15px/1.5 system-ui, sans-serif; color: var(--text); background: var(--page); max-width: 1000px;
  margin: 2rem auto; padding: 0 1rem; }
h1, h2 { line-height: 1.2; } h2 { margin-top: 2.5rem; border-top: 1px solid var(--line); padding-top: 1rem; }
.soft, figcaption { color: var(--soft); } figure { margin: 1rem 0; } figcaption { font-size: 0.9rem; }
.wide { overflow-x: auto; } table { border-collapse: collapse; font-size: 0.85rem; white-space: nowrap; }
th, td { padding: 0.2rem 0.6rem; text-align: right; border-bottom: 1px solid var(--line); }
td { font-variant-numeric: tabular-nums; } th:first-child, td:first-child, .left { text-align: left; }
.grid2 { display: grid; grid-template-columns: repeat(auto-fit, minmax(330px, 1fr)); gap: 0 2rem; }
svg { width: 100%; height: auto; } svg text { fill: var(--soft); font: 11px system-ui, sans-serif; }
.grid { stroke: var(--line); } .ideal { fill: var(--ideal); background: var(--ideal); }
.s0 { fill: var(--s0); background: var(--s0); } .s1 { fill: var(--s1); background: var(--s1); }
.s2 { fill: var(--s2); background: var(--s2); } .s3 { fill: var(--s3); background: var(--s3); }
.s4 { fill: var(--s4); background: var(--s4); } .s5 { fill: var(--s5); background: var(--s5); }
.s6 { fill: var(--s6); background: var(--s6); } .s7 { fill: var(--s7); background: var(--s7); }
.key { display: inline-block; width: 0.8em; height: 0.8em; border-radius: 2px; margin-right: 0.4em; }
</style></head><body>
)";

std::string legend(const std::vector<NamedRun> &runs) {
    std::string out = "<p>";
    for (std::size_t i = 0; i < runs.size(); ++i) {
        fmt::format_to(std::back_inserter(out),
                       "<span class=\"key {}\"></span><b>{}</b> <span class=\"soft\">{}</span><br>", series_class(i),
                       html_text(runs[i].name), html_text(run_heading(runs[i].run)));
    }
    return out +
           "<span class=\"key ideal\"></span>ideal <span class=\"soft\">every prefix computed once, at the speed of a "
           "cold prompt</span></p>\n";
}

std::string table_row(const std::string &workload, const std::string &run, const Summary &summary) {
    std::string out = fmt::format("<tr><td>{}</td><td class=\"left\">{}</td>", html_text(workload), html_text(run));
    for (const std::string &cell : summary_cells(summary))
        out += "<td>" + cell + "</td>";
    return out + "</tr>\n";
}

std::string table(const std::vector<NamedRun> &runs, const std::vector<std::string> &names) {
    std::string out =
        "<div class=\"wide\"><table><tr><th></th><th></th><th colspan=\"2\">requests</th><th colspan=\"5\">first "
        "token, "
        "s</th><th colspan=\"3\">tokens computed</th><th colspan=\"2\">gap, ms</th><th></th></tr>\n"
        "<tr><th>workload</th><th class=\"left\">run</th><th>asked</th><th>failed</th><th>p50</th><th>max</th>"
        "<th>sum</th><th>ideal</th><th>ratio</th><th>prompt</th><th>ideal</th><th>ratio</th><th>p50</th><th>p99</th>"
        "<th>tokens/s</th></tr>\n";
    for (const std::string &name : names) {
        for (const NamedRun &named : runs) {
            if (const WorkloadResult *workload = find_workload(named.run, name))
                out += table_row(name, named.name, workload->summary);
        }
    }
    return out + "</table></div>\n";
}

/// A request that is missing or failed in a run has no columns.
std::vector<PairGroup> first_tokens(const std::vector<const WorkloadResult *> &results) {
    std::size_t requests = 0;
    for (const WorkloadResult *result : results)
        requests = std::max(requests, result == nullptr ? 0 : result->requests.size());
    std::vector<PairGroup> groups(requests);
    for (std::size_t i = 0; i < requests; ++i) {
        for (const WorkloadResult *result : results) {
            const bool there = result != nullptr && i < result->requests.size();
            const bool answered = there && result->requests[i].error.empty();
            groups[i].measured.push_back(answered ? result->requests[i].first_token_s : -1);
            groups[i].ideal.push_back(answered ? result->requests[i].ideal_first_token_s : -1);
            if (there)
                groups[i].label = fmt::format("{} {}", result->requests[i].conversation, result->requests[i].turn);
        }
    }
    return groups;
}

struct Bars {
    std::vector<Bar> computed;
    std::vector<Bar> gaps_ms;
    std::vector<Bar> speeds;
};

void add_bars(Bars &bars, const std::string &name, const std::string &css_class, const Summary &s) {
    bars.computed.push_back({name + ", ideal", static_cast<double>(s.ideal_tokens), "ideal"});
    if (s.computed_tokens) bars.computed.push_back({name, static_cast<double>(*s.computed_tokens), css_class});
    bars.gaps_ms.push_back({name + ", p50", s.gap_p50_s * 1000, css_class});
    bars.gaps_ms.push_back({name + ", p99", s.gap_p99_s * 1000, css_class});
    bars.gaps_ms.push_back({name + ", max", s.gap_max_s * 1000, css_class});
    bars.speeds.push_back({name + ", all", s.tokens_per_s, css_class});
    bars.speeds.push_back({name + ", answers", s.completion_tokens_per_s, css_class});
}

std::string section(const std::vector<NamedRun> &runs, const std::string &workload) {
    std::string out = fmt::format("<h2>{}</h2>\n", html_text(workload));
    std::vector<const WorkloadResult *> results;
    Bars bars;
    for (std::size_t i = 0; i < runs.size(); ++i) {
        const WorkloadResult *result = find_workload(runs[i].run, workload);
        results.push_back(result);
        if (result != nullptr)
            add_bars(bars, runs[i].name, series_class(i), result->summary);
        else
            fmt::format_to(std::back_inserter(out), "<p class=\"soft\">{}: not run</p>\n", html_text(runs[i].name));
    }
    if (bars.gaps_ms.empty()) return out;
    out += column_chart("Time to the first token of each request, beside the ideal", "s", first_tokens(results));
    out += "<div class=\"grid2\">" + bar_chart("Prompt tokens computed", bars.computed, 0) +
           bar_chart("Between tokens of an answer, ms", bars.gaps_ms, 0) +
           bar_chart("Tokens per second", bars.speeds, 1);
    return out + "</div>\n";
}

}  // namespace

std::string report_html(const std::vector<NamedRun> &runs) {
    CAIRN_CHECK(!runs.empty(), "a report of no run");
    const auto names = workload_names(runs);
    std::string page = std::string(kHead) + "<h1>cairn bench</h1>\n" + legend(runs) + table(runs, names);
    for (const NamedRun &named : runs) {
        for (const std::string &note : named.run.notes)
            page += fmt::format("<p class=\"soft\">{}: {}</p>\n", html_text(named.name), html_text(note));
    }
    for (const std::string &name : names)
        page += section(runs, name);
    return page + "</body></html>\n";
}

}  // namespace cairn
