// ServerContext: what all connections of one server share. Made once by Server, outlives every connection.
//
// Threads: each member from any of the server's threads.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>

#include "api/api.h"
#include "cairn/config.h"
#include "env/env.h"
#include "metrics/metrics.h"
#include "server/generation_service.h"
#include "server/net.h"
#include "server/server_limits.h"
#include "server/session_set.h"

namespace cairn {

class CacheAdmin;

struct ServerContext {
    GenerationService &service;
    ApiContext api;
    ServerConfig config;
    Env &env;
    Metrics &metrics;
    std::function<void(const std::string &)> log;  ///< one line per answer; never empty
    ServerLimits limits;
    std::int64_t started_unix_s = 0;
    SessionSet sessions{};
    std::atomic<bool> draining{false};  ///< refuse new calls, close each connection behind its present answer
    asio::io_context io{};
    /// Until every session is gone: what is posted to one that ends at that moment must still be run, as it holds it.
    asio::executor_work_guard<asio::io_context::executor_type> work{io.get_executor()};
    asio::thread_pool parsers;
    CacheAdmin *cache_admin = nullptr;
    std::string admin_token{};
    asio::thread_pool admins{1};  ///< calls of cache_admin block, and come one at a time
};

}  // namespace cairn
