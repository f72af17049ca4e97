#include "app/demo_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/json_text.h"

namespace cairn {
namespace {

double median(std::vector<double> values) {
    if (values.empty()) return 0;
    std::sort(values.begin(), values.end());
    const std::size_t middle = values.size() / 2;
    return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

/// Microseconds are enough for anybody.
double rounded(double value) {
    return std::round(value * 1000) / 1000;
}

bool covers_handbook(const DemoRow &row, const DemoReport &report) {
    return row.reuse.cached_tokens >= report.handbook_tokens;
}

bool resumed_in_time(const DemoRow &row) {
    return row.reuse.cached_tokens >= row.resume_at.begin && row.reuse.cached_tokens < row.resume_at.end;
}

void add_row_problems(const DemoRow &row, const DemoReport &report, std::vector<std::string> &problems) {
    if (!row.equals_cold) {
        problems.push_back(
            fmt::format("Question {}: the warm answer differs from the cold one (it resumed at token {}).", row.id,
                        row.reuse.cached_tokens));
    }
    if (!covers_handbook(row, report)) {
        problems.push_back(fmt::format("Question {}: {} of the handbook's {} tokens were reused (reason: {}).", row.id,
                                       row.reuse.cached_tokens, report.handbook_tokens, name_of(row.reuse.reason)));
    } else if (row.cut == DemoCut::inside_question && !resumed_in_time(row)) {
        problems.push_back(
            fmt::format("Question {}: it should have resumed inside the question, at tokens {} to {}, and "
                        "resumed at token {}.",
                        row.id, row.resume_at.begin, row.resume_at.end - 1, row.reuse.cached_tokens));
    }
}

std::string verdict_of(const DemoRow &row) {
    std::string verdict = row.right() ? "right" : "wrong";
    if (!row.equals_cold) verdict += ", DIFFERS";
    return verdict;
}

nlohmann::ordered_json json_of(const DemoRow &row) {
    nlohmann::ordered_json json;
    json["id"] = row.id;
    json["question"] = row.question;
    json["mode"] = name_of(row.mode);
    json["prompt_tokens"] = row.reuse.prompt_tokens;
    json["cached_tokens"] = row.reuse.cached_tokens;
    json["ttft_ms"] = rounded(row.first_token_ms);
    json["answer"] = row.answer;
    json["expected"] = row.expected;
    json["right"] = row.right();
    json["equals_cold"] = row.equals_cold;
    json["cut"] = nullptr;
    if (row.cut != DemoCut::none) json["cut"] = name_of(row.cut);
    json["tier"] = nullptr;
    if (row.reuse.tier) json["tier"] = name_of(*row.reuse.tier);
    return json;
}

nlohmann::ordered_json json_of(const DemoSummary &summary, const DemoReport &report) {
    nlohmann::ordered_json json;
    json["model"] = report.model;
    json["demo_model"] = report.demo_model;
    json["handbook_tokens"] = report.handbook_tokens;
    json["questions"] = summary.questions;
    json["right_cold"] = summary.right_cold;
    json["right_warm"] = summary.right_warm;
    json["all_equal"] = summary.all_equal;
    json["all_covered"] = summary.all_covered;
    json["cold_ttft_ms"] = rounded(summary.cold_ms);
    json["warm_ttft_ms"] = rounded(summary.warm_ms);
    json["speed_up"] = nullptr;
    if (summary.speed_up) json["speed_up"] = rounded(*summary.speed_up);
    return json;
}

}  // namespace

DemoSummary demo_summary(const DemoReport &report) {
    DemoSummary summary;
    std::vector<double> cold;
    std::vector<double> warm;
    for (const DemoRow &row : report.rows) {
        if (row.mode == DemoMode::cold) {
            ++summary.questions;
            summary.right_cold += row.right() ? 1 : 0;
            cold.push_back(row.first_token_ms);
            continue;
        }
        summary.right_warm += row.right() ? 1 : 0;
        summary.all_equal = summary.all_equal && row.equals_cold;
        summary.all_covered = summary.all_covered && covers_handbook(row, report);
        warm.push_back(row.first_token_ms);
    }
    summary.cold_ms = median(std::move(cold));
    summary.warm_ms = median(std::move(warm));
    if (summary.warm_ms > 0) summary.speed_up = summary.cold_ms / summary.warm_ms;
    return summary;
}

std::vector<std::string> demo_problems(const DemoReport &report) {
    std::vector<std::string> problems;
    bool any_warm = false;
    for (const DemoRow &row : report.rows) {
        if (row.mode == DemoMode::cold) {
            if (row.reuse.cached_tokens == 0) continue;
            problems.push_back(fmt::format("Question {}: the cold run reused {} tokens, so it proves nothing.", row.id,
                                           row.reuse.cached_tokens));
        } else {
            any_warm = true;
            add_row_problems(row, report, problems);
        }
    }
    if (!any_warm) problems.emplace_back("No question was asked warm, so nothing was compared.");
    return problems;
}

std::string demo_table(const DemoReport &report) {
    std::string text =
        fmt::format("Model: {}. The handbook is {} tokens long, the same in front of every question.\n\n", report.model,
                    report.handbook_tokens);
    text += fmt::format("{:>3}  {:<4}  {:>6}  {:>6}  {:>11}  {:<15}  {:<5}  {}\n", "#", "mode", "prompt", "cached",
                        "first token", "resumed", "right", "answer");
    for (const DemoRow &row : report.rows) {
        const bool first = row.mode == DemoMode::cold;
        text += fmt::format("{:>3}  {:<4}  {:>6}  {:>6}  {:>8.1f} ms  {:<15}  {:<5}  {}\n",
                            first ? fmt::to_string(row.id) : "", name_of(row.mode), row.reuse.prompt_tokens,
                            row.reuse.cached_tokens, row.first_token_ms, name_of(row.cut), verdict_of(row), row.answer);
    }
    const DemoSummary summary = demo_summary(report);
    text += fmt::format("\nRight: {} of {} cold, {} of {} warm.", summary.right_cold, summary.questions,
                        summary.right_warm, summary.questions);
    text += fmt::format(" Median time to the first token: {:.1f} ms cold, {:.1f} ms warm", summary.cold_ms,
                        summary.warm_ms);
    text += summary.speed_up ? fmt::format(", {:.1f} times faster.\n", *summary.speed_up) : std::string(".\n");
    if (!report.demo_model) {
        text +=
            "This is not the demo model: it may answer wrongly. Warm and cold answers must be the same nevertheless.\n";
    }
    const std::vector<std::string> problems = demo_problems(report);
    for (const std::string &problem : problems)
        text += problem + "\n";
    if (problems.empty())
        text += "Every warm answer equals the cold one, and no warm question computed the handbook again.\n";
    return text;
}

std::string demo_json(const DemoReport &report) {
    nlohmann::ordered_json json;
    json["rows"] = nlohmann::ordered_json::array();
    for (const DemoRow &row : report.rows)
        json["rows"].push_back(json_of(row));
    json["summary"] = json_of(demo_summary(report), report);
    json["problems"] = demo_problems(report);
    json["ok"] = json["problems"].empty();
    // A model may end an answer inside a character: such bytes become U+FFFD instead of an exception.
    return json_text(json, 1) + "\n";
}

}  // namespace cairn
