// The one way Boost.Asio and Beast come into cairn.
//
// Two facts about version 1.74: with g++ 12 <utility> must come before it, and with clang 14 on libstdc++ it does not
// notice that coroutines are there (clang implements them and does not say so in __cpp_impl_coroutine).
#pragma once

#include <utility>

#if defined(__clang__) && !defined(BOOST_ASIO_HAS_CO_AWAIT)
#if !defined(__cpp_impl_coroutine)
#define __cpp_impl_coroutine 201902L
#endif
#define BOOST_ASIO_HAS_CO_AWAIT 1
#define BOOST_ASIO_HAS_STD_COROUTINE 1
#endif

// g++ 12 takes the allocator of coroutine frames, which has its own operator new and delete, for a mismatched pair.
// It says so at the end of each coroutine, so this stays in force where this header is included.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmismatched-new-delete"
#endif

#include <boost/asio/awaitable.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ip/v6_only.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/error.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/fields.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>

namespace cairn {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using tcp = boost::asio::ip::tcp;
using NetError = boost::system::error_code;
using RequestParser = http::request_parser<http::string_body>;

/// Completes a coroutine's wait with the error in `error` instead of an exception.
[[nodiscard]] inline auto into(NetError &error) {
    return asio::redirect_error(asio::use_awaitable, error);
}

}  // namespace cairn
