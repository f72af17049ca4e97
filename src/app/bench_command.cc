#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "app/bench_arguments.h"
#include "app/bench_progress.h"
#include "app/commands.h"
#include "bench/bench_run.h"
#include "bench/report_html.h"
#include "bench/report_json.h"
#include "bench/report_table.h"

namespace cairn {
namespace {

constexpr double kLeastScale = 0.001;
constexpr double kMostScale = 1000;
constexpr double kMostTimeoutSeconds = 1e6;

struct BenchCommand {
    BenchOptions options;
    std::vector<std::string> urls{"http://127.0.0.1:8080"};
    std::vector<std::string> restarts;
    std::string key;
    std::vector<std::string> workloads;
    std::vector<std::string> froms;
    std::vector<std::string> jsons;  ///< none, or one for each server
    std::string html;
    bool list = false;
    bool quiet = false;
};

Status write_file(FileSystem &files, const std::string &path, const std::string &text) {
    auto file = files.open(path, OpenMode::create);
    if (!file) return fail(file.error());
    if (auto emptied = (*file)->truncate(0); !emptied) return emptied;
    return write_all(**file, 0, std::as_bytes(std::span(text)));
}

/// Before a run, which takes minutes: whether its results can be written. What stands there stays until then, and what
/// does not is not left behind.
Status check_writable(FileSystem &files, const BenchCommand &command) {
    std::vector<std::string> paths = command.jsons;
    if (!command.html.empty()) paths.push_back(command.html);
    std::set<std::filesystem::path> named;
    for (const std::string &path : paths) {
        std::error_code ignored;
        const auto kind = files.kind_of_name(path);
        const bool is_device = kind && *kind == FileKind::other;
        if (!is_device && !named.insert(std::filesystem::weakly_canonical(path, ignored)).second) {
            return fail(ErrorCode::invalid_argument, "{} is named twice: give each result a file of its own", path);
        }
        if (auto file = files.open(path, OpenMode::create); !file) return fail(file.error());
        if (!kind) (void)files.remove(path);
    }
    return {};
}

Status write_results(FileSystem &files, const BenchCommand &command, const std::vector<NamedRun> &runs) {
    for (std::size_t i = 0; i < command.jsons.size(); ++i) {
        if (auto written = write_file(files, command.jsons[i], run_json(runs[i].run)); !written) return written;
    }
    return command.html.empty() ? Status() : write_file(files, command.html, report_html(runs));
}

int list_workloads() {
    const auto workloads = find_workloads(system_env().files(), {});
    if (!workloads) return report(workloads.error());
    std::size_t width = 0;
    for (const Workload &workload : *workloads)
        width = std::max(width, workload.name.size());
    for (const Workload &workload : *workloads)
        fmt::print("{:<{}}  {:>3} requests  {}\n", workload.name, width, count_requests(workload), workload.about);
    return 0;
}

void print_runs(const std::vector<NamedRun> &runs) {
    for (const NamedRun &named : runs) {
        if (runs.size() > 1) fmt::print("{}\n", named.name);
        fmt::print("{}\n", run_table(named.run));
    }
    if (runs.size() > 1) fmt::print("{}", ratio_table(runs));
}

/// A report on earlier runs; nothing is asked.
int report_runs(const BenchCommand &command) {
    const auto runs = read_runs(system_env().files(), command.froms);
    if (!runs) return report(runs.error());
    print_runs(*runs);
    const Status written = write_results(system_env().files(), command, *runs);
    return written ? 0 : report(written.error());
}

int measure(BenchCommand command) {
    Env &env = system_env();
    auto targets = find_targets(command.urls, command.restarts, command.key);
    if (!targets) return report(targets.error());
    command.options.servers = std::move(*targets);
    if (!command.jsons.empty()) {
        const Status each = check_one_each("--json", "a file", command.jsons.size(), command.urls.size());
        if (!each) return report(each.error());
    }
    const auto workloads = find_workloads(env.files(), command.workloads);
    if (!workloads) return report(workloads.error());
    if (const Status writable = check_writable(env.files(), command); !writable) return report(writable.error());

    std::function<void(const BenchProgress &)> progress = BenchPrinter(env);
    if (command.quiet) progress = [](const BenchProgress &) {};
    auto found = run_bench(command.options, *workloads, env, progress);
    if (!found) return report(found.error());
    const std::vector<NamedRun> runs = named_by_server(std::move(*found));
    print_runs(runs);
    if (const Status written = write_results(env.files(), command, runs); !written) return report(written.error());
    const bool answered =
        std::all_of(runs.begin(), runs.end(), [](const NamedRun &named) { return all_answered(named.run); });
    return answered ? 0 : 1;
}

}  // namespace

Command add_bench_command(CLI::App &parent) {
    auto command = std::make_shared<BenchCommand>();
    CLI::App *app = parent.add_subcommand("bench", "Measure a server, cairn or another with the OpenAI API.");
    CLI::Option *url = app->add_option("--url", command->urls,
                                       "The server; again for another one: each request is asked of each in turn.")
                           ->allow_extra_args(false)
                           ->capture_default_str();
    CLI::Option *workload = app->add_option("--workload", command->workloads,
                                            "Built-in workloads or files, see docs/bench.md; default: all built-in.");
    app->add_option("--seed", command->options.seed, "Of all texts: take another one for a server that is warm.")
        ->capture_default_str();
    app->add_option("--scale", command->options.scale, "Multiplies the lengths of texts.")
        ->check(CLI::Range(kLeastScale, kMostScale))
        ->capture_default_str();
    CLI::Option *json = app->add_option("--json", command->jsons,
                                        "Write the results to this file, as JSON; of several servers, a file for each.")
                            ->allow_extra_args(false);
    app->add_option("--html", command->html, "Write a report with plots to this file.");
    CLI::Option *restart =
        app->add_option("--restart-with", command->restarts,
                        "A shell command that restarts the server and returns; of several servers, one for each.")
            ->allow_extra_args(false);
    app->add_option("--api-key", command->key, "The server's key.");
    app->add_option("--model", command->options.model, "The model to ask; default: the first one the server lists.");
    app->add_option("--timeout", command->options.timeout_s, "Most seconds for one request, and for a restart.")
        ->check(CLI::Range(1.0, kMostTimeoutSeconds))
        ->capture_default_str();
    app->add_option("--from", command->froms,
                    "Ask nothing: report on results that --json wrote, NAME=FILE; several are compared.")
        ->excludes(url, workload, json, restart);
    app->add_flag("--list", command->list, "List the built-in workloads.");
    app->add_flag("--steady-answers", command->options.steady_answers,
                  "Have answers of one word over and over, by logit_bias: models with random weights say what does not "
                  "come back as the tokens it was.");
    app->add_flag("--quiet", command->quiet, "No progress on stderr.");
    return {app, [command] {
                if (command->list) return list_workloads();
                return command->froms.empty() ? measure(*command) : report_runs(*command);
            }};
}

}  // namespace cairn
