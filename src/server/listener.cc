#include "server/listener.h"

#include <fmt/format.h>

#include <chrono>
#include <utility>

namespace cairn {
namespace {

constexpr std::chrono::milliseconds kPauseAfterTrouble{100};

std::string without_brackets(const std::string &host) {
    const bool bracketed = host.size() > 2 && host.front() == '[' && host.back() == ']';
    return bracketed ? host.substr(1, host.size() - 2) : host;
}

Error bind_error(NetError error, const std::string &host, std::uint16_t port) {
    if (error == asio::error::address_in_use) {
        return {
            ErrorCode::io,
            fmt::format("port {} on {} is in use: stop the other server or choose another with --port", port, host)};
    }
    if (error == asio::error::access_denied) {
        return {ErrorCode::io,
                fmt::format("port {} on {} is reserved for the system: choose one above 1023 with --port", port, host)};
    }
    return {ErrorCode::io, fmt::format("{} is no address of this machine that can be listened on ({}): choose another "
                                       "with --host",
                                       host, error.message())};
}

/// Errors that say that the machine lacks the address, not that somebody else has it.
bool is_absent(NetError error) {
    return error == boost::system::errc::address_not_available || error == asio::error::address_family_not_supported;
}

}  // namespace

Listener::Listener(asio::io_context &io) : io_(io), strand_(asio::make_strand(io)) {}

Result<std::unique_ptr<Listener>> Listener::open(asio::io_context &io, const std::string &host, std::uint16_t port) {
    NetError error;
    tcp::resolver resolver(io);
    const auto found = resolver.resolve(without_brackets(host), std::to_string(port),
                                        tcp::resolver::passive | tcp::resolver::numeric_service, error);
    if (error) {
        return fail(ErrorCode::invalid_argument, "the host name {} does not resolve ({}): choose another with --host",
                    host, error.message());
    }
    std::unique_ptr<Listener> listener(new Listener(io));
    listener->port_ = port;
    for (const auto &entry : found) {
        error = listener->listen_on(entry.endpoint().address());
        // Half a server would be a surprise: a port that somebody else has on any of the addresses is an error.
        if (error && !is_absent(error)) return fail(bind_error(error, host, listener->port_));
    }
    if (listener->acceptors_.empty()) return fail(bind_error(error, host, port));
    return listener;
}

NetError Listener::listen_on(const asio::ip::address &address) {
    NetError error;
    const tcp::endpoint endpoint(address, port_);
    tcp::acceptor acceptor(strand_);
    acceptor.open(endpoint.protocol(), error);
    if (!error) acceptor.set_option(tcp::acceptor::reuse_address(true), error);
    if (!error && address.is_v6()) acceptor.set_option(asio::ip::v6_only(!address.is_unspecified()), error);
    if (!error) acceptor.bind(endpoint, error);
    if (!error) acceptor.listen(asio::socket_base::max_listen_connections, error);
    if (error) return error;
    port_ = acceptor.local_endpoint().port();
    acceptors_.push_back(std::move(acceptor));
    return error;
}

void Listener::accept_all(Accepted on_accept, Trouble on_trouble) {
    on_accept_ = std::move(on_accept);
    on_trouble_ = std::move(on_trouble);
    for (tcp::acceptor &acceptor : acceptors_) {
        asio::co_spawn(strand_, accept_on(acceptor), asio::detached);
    }
}

void Listener::close() {
    asio::post(strand_, [this] {
        closed_ = true;
        NetError ignored;
        for (tcp::acceptor &acceptor : acceptors_)
            acceptor.close(ignored);
    });
}

asio::awaitable<void> Listener::accept_on(tcp::acceptor &acceptor) {
    bool was_in_trouble = false;
    asio::steady_timer pause(strand_);
    while (!closed_) {
        NetError error;
        tcp::socket socket(asio::make_strand(io_));
        co_await acceptor.async_accept(socket, into(error));
        if (closed_) co_return;
        if (!error) {
            was_in_trouble = false;
            on_accept_(std::move(socket));
            continue;
        }
        // Out of file handles, most likely: those who wait are taken when others have gone.
        if (!was_in_trouble) on_trouble_(fmt::format("a connection could not be accepted: {}", error.message()));
        was_in_trouble = true;
        pause.expires_after(kPauseAfterTrouble);
        co_await pause.async_wait(into(error));
    }
}

}  // namespace cairn
