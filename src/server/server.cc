#include "server/server.h"

#include <chrono>
#include <utility>

#include "base/check.h"
#include "server/listener.h"
#include "server/server_context.h"
#include "server/session.h"
#include "store/cache_admin.h"

namespace cairn {
namespace {

/// Refusals that are on their way at the same time; whoever comes beyond these is cut off without a word.
constexpr std::size_t kMostRefusals = 64;

void accept_into(ServerContext &context, tcp::socket socket) {
    const auto most = static_cast<std::size_t>(context.config.max_connections);
    const std::size_t open = context.sessions.size();
    if (open >= most + kMostRefusals) return;
    auto session = std::make_shared<Session>(context, std::move(socket));
    if (open >= most) {
        session->refuse();
    } else {
        session->start();
    }
}

}  // namespace

Server::Server(ServerDependencies given) {
    auto log = given.log ? std::move(given.log) : [](const std::string &) {};
    context_.reset(new ServerContext{.service = given.service,
                                     .api = std::move(given.api),
                                     .config = std::move(given.config),
                                     .env = given.env,
                                     .metrics = given.metrics,
                                     .log = std::move(log),
                                     .limits = given.limits,
                                     .started_unix_s = given.env.unix_time_s(),
                                     .parsers{static_cast<std::size_t>(given.limits.parse_threads)},
                                     .cache_admin = given.cache_admin,
                                     .admin_token = std::move(given.admin_token)});
}

Server::~Server() {
    stop();
}

Result<std::uint16_t> Server::start() {
    CAIRN_CHECK(listener_ == nullptr, "a server is started once");
    auto listener = Listener::open(context_->io, context_->config.host, context_->config.port);
    if (!listener) return fail(std::move(listener).error());
    listener_ = std::move(*listener);
    context_->config.port = listener_->port();
    listener_->accept_all([this](tcp::socket socket) { accept_into(*context_, std::move(socket)); }, context_->log);
    for (int i = 0; i < context_->limits.io_threads; ++i) {
        threads_.emplace_back([this] { context_->io.run(); });
    }
    return listener_->port();
}

void Server::stop(double drain_s) {
    if (threads_.empty()) return;
    context_->draining = true;
    listener_->close();
    for (const auto &session : context_->sessions.all())
        session->close_when_idle();
    if (context_->cache_admin != nullptr) context_->cache_admin->stop();
    if (drain_s > 0) {
        const std::chrono::duration<double> patience(drain_s);
        context_->sessions.wait_until_empty(std::chrono::duration_cast<std::chrono::milliseconds>(patience));
    }
    // A connection accepted a moment ago may still be on its way into the set: until the threads have run out of work,
    // which the closed listener and the closed sockets see to, whoever turns up is closed too.
    do {
        for (const auto &session : context_->sessions.all())
            session->close();
    } while (!context_->sessions.wait_until_empty(std::chrono::milliseconds(50)));
    context_->work.reset();
    for (std::thread &thread : threads_)
        thread.join();
    threads_.clear();
    context_->parsers.join();
    context_->admins.join();
}

std::size_t Server::connections() const {
    return context_->sessions.size();
}

}  // namespace cairn
