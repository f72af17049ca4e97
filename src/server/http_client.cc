#include "server/http_client.h"

#include "server/net.h"
// behind net.h, which makes Beast fit
#include <boost/asio/ip/address.hpp>
#include <boost/beast/http/write.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <optional>

namespace cairn {
namespace {

constexpr double kConnectSeconds = 5;
constexpr std::uint64_t kMostBodyBytes = std::uint64_t{1} << 30;

std::chrono::milliseconds milliseconds(double seconds) {
    return std::chrono::milliseconds(static_cast<std::int64_t>(seconds * 1000));
}

using Call = http::request<http::string_body>;
using Answer = http::response_parser<http::string_body>;

asio::awaitable<NetError> exchange(beast::tcp_stream &stream, tcp::endpoint server, const Call &call, Answer &answer,
                                   double timeout_s) {
    NetError error;
    stream.expires_after(milliseconds(std::min(kConnectSeconds, timeout_s)));
    co_await stream.async_connect(server, into(error));
    if (error) co_return error;
    stream.expires_after(milliseconds(timeout_s));
    co_await http::async_write(stream, call, into(error));
    if (error) co_return error;
    beast::flat_buffer buffer;
    co_await http::async_read(stream, buffer, answer, into(error));
    co_return error;
}

}  // namespace

Result<HttpReply> http_call(const HttpTarget &target, const std::string &method, const std::string &path,
                            const std::string &body, double timeout_s) {
    NetError error;
    const auto address = asio::ip::make_address(target.host, error);
    if (error) return fail(ErrorCode::invalid_argument, "{} is no address of a machine", target.host);
    Call call(http::string_to_verb(method), path, 11);
    call.set(http::field::host, target.host);
    call.set(http::field::connection, "close");
    if (!target.token.empty()) call.set(http::field::authorization, "Bearer " + target.token);
    if (!body.empty()) call.set(http::field::content_type, "application/json");
    call.body() = body;
    call.prepare_payload();
    Answer answer;
    answer.body_limit(kMostBodyBytes);

    asio::io_context io;
    beast::tcp_stream stream(io);
    asio::co_spawn(
        io,
        [&] {
            return exchange(stream, {address, target.port}, call, answer, timeout_s);
        },
        [&error](std::exception_ptr, NetError how) { error = how; });
    io.run();
    if (error) {
        return fail(ErrorCode::io, "the server at {}:{} does not answer: {}", target.host, target.port,
                    error.message());
    }
    return HttpReply{static_cast<int>(answer.get().result_int()), std::move(answer.get().body())};
}

}  // namespace cairn
