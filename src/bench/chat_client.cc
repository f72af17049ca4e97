#include "bench/chat_client.h"

#include "server/net.h"
// behind net.h, which makes Beast fit
#include <boost/asio/ip/address.hpp>
#include <boost/beast/http/buffer_body.hpp>
#include <boost/beast/http/write.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <exception>
#include <limits>

namespace cairn {
namespace {

constexpr double kConnectSeconds = 5;
constexpr std::size_t kReadBytes = 16384;
constexpr std::size_t kMostErrorBytes = 65536;
constexpr unsigned kGood = 200;

std::chrono::milliseconds milliseconds(double seconds) {
    return std::chrono::milliseconds(static_cast<std::int64_t>(seconds * 1000));
}

using Call = http::request<http::string_body>;
using Parser = http::response_parser<http::buffer_body>;

/// One call, with what comes back on its way.
struct Exchange {
    Call call;
    Parser answer;
    AnswerStream events;
    std::string error_body;  ///< of a status other than 200
};

asio::awaitable<NetError> read_body(beast::tcp_stream &stream, beast::flat_buffer &buffer, Exchange &exchange,
                                    Env &env) {
    NetError error;
    std::array<char, kReadBytes> bytes;
    while (!exchange.answer.is_done()) {
        auto &body = exchange.answer.get().body();
        body.data = bytes.data();
        body.size = bytes.size();
        body.more = true;
        co_await http::async_read_some(stream, buffer, exchange.answer, into(error));
        if (error == http::error::need_buffer) error = {};
        const std::string_view got(bytes.data(), bytes.size() - body.size);
        if (exchange.answer.get().result_int() == kGood)
            exchange.events.feed(got, env.now_s());
        else if (exchange.error_body.size() < kMostErrorBytes)
            exchange.error_body += got;
        if (error) break;
    }
    co_return error;
}

asio::awaitable<NetError> run_exchange(beast::tcp_stream &stream, tcp::endpoint server, Exchange &exchange,
                                       double timeout_s, Env &env) {
    NetError error;
    stream.expires_after(milliseconds(std::min(kConnectSeconds, timeout_s)));
    co_await stream.async_connect(server, into(error));
    if (error) co_return error;
    stream.expires_after(milliseconds(timeout_s));
    co_await http::async_write(stream, exchange.call, into(error));
    if (error) co_return error;
    beast::flat_buffer buffer;
    co_await http::async_read_header(stream, buffer, exchange.answer, into(error));
    if (error) co_return error;
    co_return co_await read_body(stream, buffer, exchange, env);
}

Call call_of(const HttpTarget &target, const std::string &body) {
    Call call(http::verb::post, "/v1/chat/completions", 11);
    call.set(http::field::host, target.host);
    call.set(http::field::connection, "close");
    call.set(http::field::accept, "text/event-stream");
    call.set(http::field::content_type, "application/json");
    if (!target.token.empty()) call.set(http::field::authorization, "Bearer " + target.token);
    call.body() = body;
    call.prepare_payload();
    return call;
}

}  // namespace

Result<ChatAnswer> ask_chat(const HttpTarget &target, const std::string &body, double timeout_s, Env &env) {
    NetError error;
    const auto address = asio::ip::make_address(target.host, error);
    if (error) return fail(ErrorCode::invalid_argument, "{} is no address of a machine", target.host);
    Exchange exchange{.call = call_of(target, body), .answer = {}, .events = {}, .error_body = {}};
    exchange.answer.body_limit(std::numeric_limits<std::uint64_t>::max());

    asio::io_context io;
    beast::tcp_stream stream(io);
    asio::co_spawn(
        io,
        [&] {
            return run_exchange(stream, {address, target.port}, exchange, timeout_s, env);
        },
        [&error](std::exception_ptr, NetError how) { error = how; });
    io.run();
    if (error == beast::error::timeout)
        return fail(ErrorCode::io, "no whole answer within {} s: --timeout allows more", timeout_s);
    const unsigned status = exchange.answer.get().result_int();
    if (exchange.answer.is_header_done() && status != kGood)
        return fail(ErrorCode::internal, "status {}: {}", status, message_in(exchange.error_body));
    if (error && exchange.answer.is_header_done())
        return fail(ErrorCode::io, "the answer broke off before its end: {}", error.message());
    if (error) {
        return fail(ErrorCode::io, "the server at {}:{} does not answer: {}", target.host, target.port,
                    error.message());
    }
    return exchange.events.finish();
}

}  // namespace cairn
