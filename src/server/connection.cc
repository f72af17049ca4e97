#include "server/connection.h"

#include <utility>

#include "base/check.h"

namespace cairn {
namespace {

constexpr std::size_t kReadBytes = 4096;
constexpr std::size_t kWriteBytes = std::size_t{64} << 10;

}  // namespace

Connection::Connection(tcp::socket socket, const ServerLimits &limits)
    : limits_(limits),
      stream_(std::move(socket)),
      unwatched_(stream_.get_executor(), asio::steady_timer::time_point::max()) {
    NetError ignored;
    stream_.socket().set_option(tcp::no_delay(true), ignored);
}

asio::awaitable<NetError> Connection::wait_for_request() {
    NetError error;
    stream_.expires_after(limits_.idle);
    while (true) {
        while (buffer_.size() > 0) {
            const char first = *static_cast<const char *>(buffer_.data().data());
            if (first != '\r' && first != '\n') co_return error;
            buffer_.consume(1);
        }
        buffer_.shrink_to_fit();  // a long request is over: idle connections hold little
        const std::size_t bytes = co_await stream_.async_read_some(buffer_.prepare(kReadBytes), into(error));
        buffer_.commit(bytes);
        if (error) co_return error;
    }
}

asio::awaitable<NetError> Connection::read_head(RequestParser &parser) {
    NetError error;
    stream_.expires_after(limits_.head);
    co_await http::async_read_header(stream_, buffer_, parser, into(error));
    co_return error;
}

asio::awaitable<NetError> Connection::read_body(RequestParser &parser) {
    NetError error;
    if (parser.is_done()) co_return error;
    stream_.expires_after(limits_.body);
    co_await http::async_read(stream_, buffer_, parser, into(error));
    co_return error;
}

asio::awaitable<NetError> Connection::write(std::string_view text) {
    NetError error;
    while (!text.empty() && !error) {
        const std::string_view piece = text.substr(0, kWriteBytes);
        stream_.expires_after(limits_.write);
        co_await asio::async_write(stream_, asio::buffer(piece.data(), piece.size()), into(error));
        text.remove_prefix(piece.size());
    }
    co_return error;
}

void Connection::watch(std::function<void()> on_gone) {
    CAIRN_CHECK(!watching_, "a connection is watched twice");
    stream_.expires_never();
    unwatching_ = false;
    watching_ = true;
    watch_on(std::move(on_gone));
}

void Connection::watch_on(std::function<void()> on_gone) {
    auto read = [this, on_gone = std::move(on_gone)](NetError error, std::size_t bytes) mutable {
        buffer_.commit(bytes);
        if (!error && !unwatching_ && buffer_.size() < limits_.max_ahead_bytes) {
            watch_on(std::move(on_gone));
            return;
        }
        watching_ = false;
        unwatched_.cancel();
        if (error && !unwatching_) on_gone();
    };
    stream_.async_read_some(buffer_.prepare(kReadBytes), std::move(read));
}

asio::awaitable<void> Connection::unwatch() {
    NetError ignored;
    unwatching_ = true;
    if (watching_) stream_.cancel();
    while (watching_)
        co_await unwatched_.async_wait(into(ignored));
}

asio::awaitable<void> Connection::farewell() {
    NetError error;
    stream_.socket().shutdown(tcp::socket::shutdown_send, error);
    stream_.expires_after(limits_.farewell);
    while (!error) {
        buffer_.clear();
        co_await stream_.async_read_some(buffer_.prepare(kReadBytes), into(error));
    }
    stream_.socket().close(error);
}

void Connection::abort() {
    NetError ignored;
    stream_.socket().set_option(asio::socket_base::linger(true, 0), ignored);
    stream_.close();
}

}  // namespace cairn
