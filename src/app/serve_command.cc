#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>

#include "app/commands.h"
#include "app/composition.h"
#include "app/load_progress.h"
#include "app/machine.h"
#include "app/stop_signals.h"
#include "config/cli.h"
#include "server/engine_service.h"
#include "server/server.h"

namespace cairn {

namespace {

/// How long running requests may go on after the first signal. Unit: seconds.
constexpr double kDrainSeconds = 10;

void print_welcome(const Config &config, std::uint16_t port, const std::string &model) {
    const bool v6 = config.server.host.find(':') != std::string::npos;
    const std::string host = config.server.host == "0.0.0.0" || config.server.host == "::" ? "127.0.0.1"
                             : v6 ? "[" + config.server.host + "]"
                                  : config.server.host;
    const std::string url = fmt::format("http://{}:{}", host, port);
    fmt::print(stderr,
               "listening on {}\n\ntry it:\n  curl {}/v1/chat/completions -H 'Content-Type: application/json' \\\n"
               "    -d '{{\"model\": \"{}\", \"messages\": [{{\"role\": \"user\", \"content\": \"Hello\"}}]}}'\n\n",
               url, url, model);
}

int serve(Config config) {
    if (config.model.path.empty()) {
        return report({ErrorCode::invalid_argument, "no model: give the GGUF file with -m FILE"});
    }
    apply_serve_defaults(config, machine_facts());
    StopSignals signals;
    auto graph = compose(config, show_load_progress(config.model.path, false));
    if (!graph) return report(graph.error());
    for (const std::string &line : (*graph)->summary(config))
        fmt::print(stderr, "{}\n", line);
    const ApiContext context = (*graph)->api_context();
    EngineService service(*(*graph)->engine);
    Server server({.service = service,
                   .api = context,
                   .config = config.server,
                   .env = (*graph)->env,
                   .metrics = (*graph)->metrics,
                   .log = [](const std::string &line) { fmt::print(stderr, "{}\n", line); }});
    const auto port = server.start();
    if (!port) return report(port.error());
    print_welcome(config, *port, context.model_name);
    signals.wait();
    fmt::print(stderr, "stopping: running requests have {} s\n", kDrainSeconds);
    server.stop(kDrainSeconds);
    return 0;
}

}  // namespace

Command add_serve_command(CLI::App &parent) {
    auto config = std::make_shared<Config>();
    CLI::App *app = parent.add_subcommand("serve", "Serve a model over HTTP, with the OpenAI API.");
    add_options(*app, *config, {OptionGroup::model, OptionGroup::engine, OptionGroup::server});
    return {app, [config] { return serve(*config); }};
}

}  // namespace cairn
