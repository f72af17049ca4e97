#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>

#include "app/admin_line.h"
#include "app/commands.h"
#include "app/load_progress.h"
#include "app/stop_signals.h"
#include "cache/prefix_cache.h"
#include "config/cli.h"
#include "library/composition.h"
#include "library/machine.h"
#include "server/engine_cache_admin.h"
#include "server/engine_service.h"
#include "server/server.h"

namespace cairn {

namespace {

/// How long running requests may go on after the first signal, and how long writing state to disk may take then.
/// Unit: seconds.
constexpr double kDrainSeconds = 10;
constexpr double kSaveSeconds = 10;
/// The model, the cache's files, pipes and libraries.
constexpr std::size_t kFilesBesideConnections = 128;

/// The key itself is not shown: screens and logs are read by others.
void print_welcome(const Config &config, std::uint16_t port, const std::string &model) {
    const bool v6 = config.server.host.find(':') != std::string::npos;
    const std::string host = config.server.host == "0.0.0.0" || config.server.host == "::" ? "127.0.0.1"
                             : v6 ? "[" + config.server.host + "]"
                                  : config.server.host;
    const std::string url = fmt::format("http://{}:{}", host, port);
    const char *key = config.server.api_key.empty() ? "" : "    -H 'Authorization: Bearer <your API key>' \\\n";
    fmt::print(stderr,
               "listening on {}\n\ntry it:\n  curl {}/v1/chat/completions -H 'Content-Type: application/json' \\\n{}"
               "    -d '{{\"model\": \"{}\", \"messages\": [{{\"role\": \"user\", \"content\": \"Hello\"}}]}}'\n\n",
               url, url, key, model);
}

/// Empty where the user named none.
std::string named_cache_directory(const Config &config) {
    const auto &batching = config.engine.dynamic_batching;
    return batching && batching->snapshot_disk_path ? *batching->snapshot_disk_path : "";
}

/// Says in the cache directory's LOCK file how `cairn cache` reaches this server.
void tell_admins(EngineThread &engine, const std::string &holder, const std::string &line) {
    Status told;
    const Status asked = engine.with_cache([&](PrefixCache &cache) { told = cache.describe_holder(holder + line); });
    if (asked && told) return;
    fmt::print(stderr, "note     `cairn cache` cannot reach this server: {}\n", (asked ? told : asked).error().what);
}

int serve(Config config) {
    if (config.model.path.empty()) {
        return report({ErrorCode::invalid_argument, "no model: give the GGUF file with -m FILE"});
    }
    const std::string named = named_cache_directory(config);
    const MachineFacts machine = machine_facts(named);
    const auto &batching = config.engine.dynamic_batching;
    const bool has_disk_limit = batching && batching->snapshot_disk_bytes;
    apply_serve_defaults(config, machine);
    StopSignals signals;
    const DiskOpening disk{fmt::format("pid {}, cairn serve -m {}\n", ::getpid(), config.model.path), !named.empty()};
    auto graph = compose(config, show_load_progress(config.model.path, false), disk);
    if (!graph) return report(graph.error());
    if ((*graph)->policy.enabled && machine.cache_directory.empty() && !has_disk_limit) {
        (*graph)->notes.emplace_back(
            "no state is kept on disk: neither HOME nor XDG_CACHE_HOME says where. Name a directory with --cache-dir");
    }
    const auto files = static_cast<std::size_t>(config.server.max_connections) + kFilesBesideConnections;
    if (const std::size_t allowed = raise_file_limit(files); allowed < files) {
        (*graph)->notes.push_back(
            fmt::format("{} connections are to be taken at a time, and this process may have {} files open: raise the "
                        "limit (ulimit -n) or lower server.max_connections",
                        config.server.max_connections, allowed));
    }
    for (const std::string &line : (*graph)->summary(config))
        fmt::print(stderr, "{}\n", line);
    const ApiContext context = (*graph)->api_context();
    EngineService service(*(*graph)->engine);
    EngineCacheAdmin cache_admin(*(*graph)->engine, (*graph)->env.files());
    const bool has_disk = (*graph)->policy.enabled && (*graph)->policy.disk_bytes > 0;
    const std::string token = make_admin_token((*graph)->env);
    Server server({.service = service,
                   .api = context,
                   .config = config.server,
                   .env = (*graph)->env,
                   .metrics = (*graph)->metrics,
                   .log = [](const std::string &line) { fmt::print(stderr, "{}\n", line); },
                   .cache_admin = has_disk ? &cache_admin : nullptr,
                   .admin_token = token});
    const auto port = server.start();
    if (!port) return report(port.error());
    if (has_disk) tell_admins(*(*graph)->engine, disk.holder, admin_line(config.server.host, *port, token));
    print_welcome(config, *port, context.model_name);
    signals.wait();
    fmt::print(stderr, "stopping: running requests have {} s\n", kDrainSeconds);
    server.stop(kDrainSeconds);
    (*graph)->engine->drain(0);
    (*graph)->engine->save(kSaveSeconds);
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
