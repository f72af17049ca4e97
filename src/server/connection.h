// Connection: one client's socket, and the only code that reads from it or writes to it.
//
//     idle --first byte--> head --> body --> answering --> idle ... farewell --> closed
//                                            watching: a read stays pending, so that a client that leaves is noticed
//
// Each arrow has a deadline (ServerLimits) after which the socket is closed and the wait ends with an error.
// Threads: everything on the connection's strand.
#pragma once

#include <functional>
#include <string_view>

#include "server/net.h"
#include "server/server_limits.h"

namespace cairn {

class Connection {
public:
    /// The socket's executor is the strand.
    Connection(tcp::socket socket, const ServerLimits &limits);

    [[nodiscard]] auto strand() { return stream_.get_executor(); }

    /// Waits for the first byte of a request; line ends before it are skipped (RFC 9112, 2.2).
    [[nodiscard]] asio::awaitable<NetError> wait_for_request();
    [[nodiscard]] asio::awaitable<NetError> read_head(RequestParser &parser);
    [[nodiscard]] asio::awaitable<NetError> read_body(RequestParser &parser);
    /// `text` must live until the write is done.
    [[nodiscard]] asio::awaitable<NetError> write(std::string_view text);

    /// Reads on while an answer is made: `on_gone` is called once, when the client has closed its side. What comes of
    /// further requests is kept; behind max_ahead_bytes of it nobody watches, and only writing notices. `on_gone` keeps
    /// alive what holds this.
    void watch(std::function<void()> on_gone);
    /// After it nothing is read, and `on_gone` is not called any more.
    [[nodiscard]] asio::awaitable<void> unwatch();

    /// Says that nothing more will come, and reads on for a moment: closing with unread bytes in the socket would
    /// make the system take back what was just written.
    [[nodiscard]] asio::awaitable<void> farewell();
    /// Closes at once, dropping what waits to be sent: all waits end with an error.
    void abort();

private:
    void watch_on(std::function<void()> on_gone);

    const ServerLimits &limits_;
    beast::tcp_stream stream_;
    beast::flat_buffer buffer_;
    asio::steady_timer unwatched_;  ///< never expires: cancelled when the watching read has ended
    bool watching_ = false;
    bool unwatching_ = false;
};

}  // namespace cairn
