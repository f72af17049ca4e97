// Listener: the sockets that wait for clients on one host name and port.
//
//     auto listener = Listener::open(io, "localhost", 0);
//     listener->port();                                     // what "any free one" became
//     listener->accept_all(on_accept, on_trouble);
//
// A name that stands for several addresses (localhost: ::1 and 127.0.0.1) is listened on at all that this machine has.
// "::" takes IPv4 clients too.
// Threads: open on any; accept_all, then close once, while io runs: both act on the acceptors' strand.
// Errors: io for a port that is taken or not allowed, or an address of another machine; invalid_argument for a name
// that does not resolve.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "cairn/error.h"
#include "server/net.h"

namespace cairn {

class Listener {
public:
    using Accepted = std::function<void(tcp::socket)>;
    using Trouble = std::function<void(const std::string &)>;

    [[nodiscard]] static Result<std::unique_ptr<Listener>> open(asio::io_context &io, const std::string &host,
                                                                std::uint16_t port);

    [[nodiscard]] std::uint16_t port() const noexcept { return port_; }
    /// Every client's socket comes with a strand of its own as its executor. `on_trouble`: what accepting ran into;
    /// it is tried again after a moment.
    void accept_all(Accepted on_accept, Trouble on_trouble);
    void close();

private:
    explicit Listener(asio::io_context &io);
    [[nodiscard]] NetError listen_on(const asio::ip::address &address);
    asio::awaitable<void> accept_on(tcp::acceptor &acceptor);

    asio::io_context &io_;
    asio::strand<asio::io_context::executor_type> strand_;
    std::vector<tcp::acceptor> acceptors_;
    std::uint16_t port_ = 0;
    bool closed_ = false;  // on the strand
    Accepted on_accept_;
    Trouble on_trouble_;
};

}  // namespace cairn
