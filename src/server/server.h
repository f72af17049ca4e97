// Server: HTTP/1.1 in front of an engine. The routes are a table (routes.h), the formats are api/'s.
//
//     EngineService service(engine);
//     Server server({service, api, config, env, metrics, [](const std::string &line) { ... }});
//     Result<std::uint16_t> port = server.start();
//     ...
//     server.stop(30);                  // lets running answers finish for up to 30 s
//
// Ownership: owns its threads and connections; all that it is given outlives it.
// Threads: start and stop on one thread. `log` is called from the server's threads, a line per answer.
// Errors: start gives back what Listener::open says. A client's mistakes are answered, logged and forgotten.
// Cost: an idle connection holds a few KiB and no thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "api/api.h"
#include "cairn/config.h"
#include "cairn/error.h"
#include "server/generation_service.h"
#include "server/server_limits.h"

namespace cairn {

class CacheAdmin;
class Env;
class Listener;
class Metrics;
struct ServerContext;

struct ServerDependencies {
    GenerationService &service;
    ApiContext api;
    ServerConfig config;
    Env &env;
    Metrics &metrics;
    std::function<void(const std::string &)> log;  ///< may be empty
    ServerLimits limits{};
    CacheAdmin *cache_admin = nullptr;  ///< null: there is nothing under /admin/cache
    std::string admin_token{};          ///< opens /admin/cache; empty: only the API key does
};

class Server {
public:
    explicit Server(ServerDependencies dependencies);
    /// Stops at once.
    ~Server();
    Server(const Server &) = delete;
    Server &operator=(const Server &) = delete;

    /// Binds and serves. Once. Returns the port: the one asked for, or the free one that 0 found.
    [[nodiscard]] Result<std::uint16_t> start();
    /// Takes no more connections and calls; answers that are being made have `drain_s` seconds to finish, then they are
    /// cut off and their requests cancelled. Blocks until all is closed. Further calls do nothing.
    void stop(double drain_s = 0);
    [[nodiscard]] std::size_t connections() const;

private:
    std::unique_ptr<ServerContext> context_;
    std::unique_ptr<Listener> listener_;
    std::vector<std::thread> threads_;
};

}  // namespace cairn
