#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
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
    std::string key;
    std::vector<std::string> workloads;
    std::vector<std::string> froms;
    std::string json;
    std::string html;
    bool list = false;
    bool quiet = false;
};

Status write_file(FileSystem &files, const std::string &path, const std::string &text) {
    if (path.empty()) return {};
    auto file = files.open(path, OpenMode::create);
    if (!file) return fail(file.error());
    if (auto emptied = (*file)->truncate(0); !emptied) return emptied;
    return write_all(**file, 0, std::as_bytes(std::span(text)));
}

/// Before a run, which takes minutes: whether its results can be written. What stands there stays until then.
Status check_writable(FileSystem &files, const BenchCommand &command) {
    for (const std::string &path : {command.json, command.html}) {
        if (path.empty()) continue;
        if (auto file = files.open(path, OpenMode::create); !file) return fail(file.error());
    }
    return {};
}

Status write_results(FileSystem &files, const BenchCommand &command, const std::vector<NamedRun> &runs) {
    if (auto written = write_file(files, command.json, run_json(runs[0].run)); !written) return written;
    return write_file(files, command.html, report_html(runs));
}

int list_workloads() {
    const auto workloads = find_workloads(system_env().files(), {});
    if (!workloads) return report(workloads.error());
    for (const Workload &workload : *workloads)
        fmt::print("{:<12}  {:>3} requests  {}\n", workload.name, count_requests(workload), workload.about);
    return 0;
}

/// A report on earlier runs; nothing is asked.
int report_runs(const BenchCommand &command) {
    const auto runs = read_runs(system_env().files(), command.froms);
    if (!runs) return report(runs.error());
    for (const NamedRun &named : *runs)
        fmt::print("{}\n{}\n", named.name, run_table(named.run));
    const Status written = write_file(system_env().files(), command.html, report_html(*runs));
    return written ? 0 : report(written.error());
}

int measure(BenchCommand command) {
    Env &env = system_env();
    auto target = parse_server_url(command.options.url, command.key);
    if (!target) return report(target.error());
    command.options.target = *target;
    const auto workloads = find_workloads(env.files(), command.workloads);
    if (!workloads) return report(workloads.error());
    if (const Status writable = check_writable(env.files(), command); !writable) return report(writable.error());

    std::function<void(const BenchProgress &)> progress = BenchPrinter(env);
    if (command.quiet) progress = [](const BenchProgress &) {};
    auto run = run_bench(command.options, *workloads, env, progress);
    if (!run) return report(run.error());
    fmt::print("{}", run_table(*run));
    const bool answered = all_answered(*run);
    const std::string name = run->server.empty() ? run->url : run->server;
    const Status written = write_results(env.files(), command, {{name, std::move(*run)}});
    if (!written) return report(written.error());
    return answered ? 0 : 1;
}

}  // namespace

Command add_bench_command(CLI::App &parent) {
    auto command = std::make_shared<BenchCommand>();
    CLI::App *app = parent.add_subcommand("bench", "Measure a server, cairn or another with the OpenAI API.");
    CLI::Option *url = app->add_option("--url", command->options.url, "The server.")->capture_default_str();
    CLI::Option *workload = app->add_option("--workload", command->workloads,
                                            "Built-in workloads or files, see docs/bench.md; default: all built-in.");
    app->add_option("--seed", command->options.seed, "Of all texts: take another one for a server that is warm.")
        ->capture_default_str();
    app->add_option("--scale", command->options.scale, "Multiplies the lengths of texts.")
        ->check(CLI::Range(kLeastScale, kMostScale))
        ->capture_default_str();
    CLI::Option *json = app->add_option("--json", command->json, "Write the results to this file, as JSON.");
    app->add_option("--html", command->html, "Write a report with plots to this file.");
    CLI::Option *restart = app->add_option("--restart-with", command->options.restart_command,
                                           "A shell command that restarts the server and returns.");
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
