#include "server/session.h"

#include <fmt/format.h>

#include <exception>
#include <optional>
#include <utility>
#include <variant>

#include "base/error_table.h"
#include "server/answer.h"
#include "server/auth.h"
#include "server/cors.h"
#include "server/routes.h"

namespace cairn {
namespace {

constexpr int kOk = 200;
constexpr int kBadRequest = 400;
constexpr int kUnauthorized = 401;
constexpr int kNotFound = 404;
constexpr int kMethodNotAllowed = 405;
constexpr int kTooLarge = 413;
constexpr int kUnsupportedMedia = 415;
constexpr int kExpectationFailed = 417;
constexpr int kHeaderTooLarge = 431;
constexpr int kNotImplemented = 501;
constexpr int kUnavailable = 503;
constexpr std::string_view kInvalidRequest = "invalid_request_error";

bool asks_to_continue(const RequestHead &head) {
    return beast::iequals(head.expect, "100-continue");
}

/// The API key opens everything; the admin's token opens what is the admin's.
bool may_ask(const ServerContext &context, const RequestHead &head, Access access) {
    switch (access) {
        case Access::open: return true;
        case Access::key: return is_authorized(head, context.config.api_key);
        case Access::admin: break;
    }
    // Without a secret is_authorized lets anybody in.
    const auto opens = [&](const std::string &secret) { return !secret.empty() && is_authorized(head, secret); };
    const bool by_token = opens(context.admin_token);
    return opens(context.config.api_key) || by_token;
}

/// Without a CacheAdmin there are no paths of its.
bool is_unknown(const ServerContext &context, const RouteMatch &match) {
    if (match.allowed.empty()) return true;
    return match.is_admins && context.cache_admin == nullptr;
}

Access access_of(const ServerContext &context, const RouteMatch &match) {
    if (is_unknown(context, match)) return Access::key;
    if (match.is_admins) return Access::admin;
    return match.route == nullptr ? Access::key : match.route->access;
}

/// What the head alone rules out.
std::optional<Reply> refusal_of(const ServerContext &context, const RequestHead &head, const RouteMatch &match) {
    const Access access = access_of(context, match);
    if (!may_ask(context, head, access)) {
        Reply reply =
            error_reply(kUnauthorized, "authentication_error", "invalid_api_key",
                        access == Access::admin
                            ? "this is for `cairn cache` on the machine of this server, or for who has its API key"
                            : "this server wants an API key: send the header \"Authorization: Bearer KEY\" with the "
                              "key it was started with");
        reply.headers.emplace_back("WWW-Authenticate", "Bearer");
        return reply;
    }
    if (is_unknown(context, match)) {
        return error_reply(kNotFound, kInvalidRequest, "unknown_route",
                           fmt::format("there is no {}: GET / lists what this server answers", head.path));
    }
    if (match.route == nullptr) {
        Reply reply = error_reply(kMethodNotAllowed, kInvalidRequest, "method_not_allowed",
                                  fmt::format("{} does not take {}: use {}", head.path, head.method, match.allowed));
        reply.headers.emplace_back("Allow", match.allowed);
        return reply;
    }
    if (!head.transfer.empty() && !beast::iequals(head.transfer, "chunked")) {
        return error_reply(kNotImplemented, kInvalidRequest, "unsupported_encoding",
                           "the only Transfer-Encoding this server takes is \"chunked\"");
    }
    if (!head.encoding.empty() && !beast::iequals(head.encoding, "identity")) {
        return error_reply(
            kUnsupportedMedia, kInvalidRequest, "unsupported_encoding",
            fmt::format("a body with Content-Encoding {} is not understood: send it plain", head.encoding));
    }
    if (!head.expect.empty() && !asks_to_continue(head)) {
        return error_reply(kExpectationFailed, kInvalidRequest, "unknown_expectation",
                           "the only Expect header this server meets is \"100-continue\"");
    }
    return std::nullopt;
}

Error defect(const std::exception &error) {
    return {ErrorCode::internal, fmt::format("the request ran into a defect of cairn: {}", error.what())};
}

asio::awaitable<Result<ApiCall>> parse_call(CallKind kind, const std::string &body, const ApiContext &api) {
    // A coroutine only to run on the parsers' threads.
    try {
        co_return kind == CallKind::chat ? parse_chat_completion(body, api) : parse_completion(body, api);
    } catch (const std::exception &error) {
        co_return fail(defect(error));
    }
}

asio::awaitable<Reply> call_text(TextHandler handler, std::string body, const ApiContext &api) {
    // A coroutine only to run on the parsers' threads.
    try {
        auto text = handler(body, api);
        co_return text ? Reply{.headers = {}, .body = std::move(*text)} : error_reply(text.error());
    } catch (const std::exception &error) {
        co_return error_reply(defect(error));
    }
}

asio::awaitable<Reply> call_admin(AdminHandler handler, CacheAdmin &admin, std::string parameter, std::string body) {
    // A coroutine only to run on the admins' thread.
    try {
        co_return handler(admin, parameter, body);
    } catch (const std::exception &error) {
        co_return error_reply(defect(error));
    }
}

Reply call_handler(PlainHandler handler, const ServerContext &context, const RequestHead &head,
                   std::string_view parameter) {
    try {
        return handler(context, head, parameter);
    } catch (const std::exception &error) {
        return error_reply(defect(error));
    }
}

/// For as long as it lives, `place` points to `value`.
template <class T>
class Pointing {
public:
    Pointing(T *&place, T &value) : place_(place) { place_ = &value; }
    ~Pointing() { place_ = nullptr; }
    Pointing(const Pointing &) = delete;
    Pointing &operator=(const Pointing &) = delete;

private:
    T *&place_;
};

}  // namespace

Session::Session(ServerContext &context, tcp::socket socket)
    : context_(context),
      connection_(std::move(socket), context.limits),
      news_(connection_.strand(), asio::steady_timer::time_point::max()) {}

Session::~Session() {
    context_.sessions.remove(this);
}

void Session::start() {
    spawn(&Session::run);
}

void Session::refuse() {
    spawn(&Session::run_refusal);
}

void Session::spawn(asio::awaitable<void> (Session::*work)()) {
    // Not in the constructor: the set hands out shared ownership, which begins behind it.
    context_.sessions.add(this);
    asio::co_spawn(
        connection_.strand(), [self = shared_from_this(), work] { return (self.get()->*work)(); },
        [self = shared_from_this()](std::exception_ptr failure) {
            if (!failure) return;
            try {
                std::rethrow_exception(failure);
            } catch (const std::exception &error) {
                self->context_.log(fmt::format("a connection was given up: {}", error.what()));
            }
            self->connection_.abort();
        });
}

void Session::close() {
    asio::post(connection_.strand(), [self = shared_from_this()] { self->connection_.abort(); });
}

void Session::close_when_idle() {
    asio::post(connection_.strand(), [self = shared_from_this()] {
        if (self->idle_) self->connection_.abort();
    });
}

asio::awaitable<void> Session::run() {
    bool more = true;
    while (more)
        more = co_await serve_next();
    co_await connection_.farewell();
}

asio::awaitable<void> Session::run_refusal() {
    Exchange exchange = new_exchange();
    co_await send(exchange, error_reply(kUnavailable, "server_error", "too_many_connections",
                                        fmt::format("all {} connections of this server are taken: try again later",
                                                    context_.config.max_connections)));
    co_await connection_.farewell();
}

Session::Exchange Session::new_exchange() {
    Exchange exchange;
    exchange.id = fmt::format("{:016x}", context_.env.random_u64());
    exchange.began_s = context_.env.now_s();
    return exchange;
}

asio::awaitable<bool> Session::serve_next() {
    if (context_.draining) co_return false;
    idle_ = true;
    NetError error = co_await connection_.wait_for_request();
    idle_ = false;
    if (error) co_return false;

    Exchange exchange = new_exchange();
    RequestParser parser;
    parser.header_limit(static_cast<std::uint32_t>(context_.limits.max_head_bytes));
    parser.body_limit(context_.config.max_body_bytes);
    error = co_await connection_.read_head(parser);
    if (error) co_return co_await refuse_unreadable(std::move(exchange), error);
    exchange.head = head_of(parser);
    const RequestHead &head = exchange.head;
    const RouteMatch match = match_route(head.method, head.path);

    std::optional<Reply> early;
    if (head.method == "OPTIONS") {
        early = preflight_reply(head, match.allowed.empty() ? "GET, HEAD, POST, OPTIONS" : match.allowed);
    } else {
        early = refusal_of(context_, head, match);
    }
    // What is refused by its head is not read to its end: a body would be taken for the next request.
    exchange.keep_alive = head.keep_alive && !(early && head.has_body);
    if (early) co_return co_await send(exchange, std::move(*early));

    if (head.has_body && asks_to_continue(head) && !head.http_1_0) {
        error = co_await connection_.write(kContinue);
        if (error) co_return false;
    }
    error = co_await connection_.read_body(parser);
    if (error) co_return co_await refuse_unreadable(std::move(exchange), error);

    if (const auto *kind = std::get_if<CallKind>(&match.route->handler)) {
        co_return co_await generate(std::move(exchange), *kind, std::move(parser.get().body()));
    }
    if (const auto *handler = std::get_if<TextHandler>(&match.route->handler)) {
        Reply reply = co_await asio::co_spawn(
            context_.parsers, call_text(*handler, std::move(parser.get().body()), context_.api), asio::use_awaitable);
        co_return co_await send(exchange, std::move(reply));
    }
    if (const auto *handler = std::get_if<AdminHandler>(&match.route->handler)) {
        Reply reply = co_await asio::co_spawn(
            context_.admins,
            call_admin(*handler, *context_.cache_admin, match.parameter, std::move(parser.get().body())),
            asio::use_awaitable);
        co_return co_await send(exchange, std::move(reply));
    }
    const PlainHandler handler = std::get<PlainHandler>(match.route->handler);
    co_return co_await send(exchange, call_handler(handler, context_, head, match.parameter));
}

asio::awaitable<bool> Session::refuse_unreadable(Exchange exchange, NetError error) {
    exchange.keep_alive = false;
    if (error == http::error::body_limit) {
        const std::string message =
            fmt::format("the body is longer than the {} bytes this server takes", context_.config.max_body_bytes);
        co_return co_await send(exchange, error_reply(kTooLarge, kInvalidRequest, "body_too_large", message));
    }
    if (error == http::error::header_limit) {
        const std::string message =
            fmt::format("the header is longer than the {} bytes this server takes", context_.limits.max_head_bytes);
        co_return co_await send(exchange, error_reply(kHeaderTooLarge, kInvalidRequest, "header_too_large", message));
    }
    const bool is_cut_off = error == http::error::end_of_stream || error == http::error::partial_message;
    if (is_cut_off || error.category() != make_error_code(http::error::bad_method).category()) co_return false;
    const std::string message = fmt::format("the request is not HTTP/1.1: {}", error.message());
    co_return co_await send(exchange, error_reply(kBadRequest, kInvalidRequest, "malformed_http", message));
}

asio::awaitable<bool> Session::generate(Exchange exchange, CallKind kind, std::string body) {
    Result<ApiCall> call =
        co_await asio::co_spawn(context_.parsers, parse_call(kind, body, context_.api), asio::use_awaitable);
    body = {};
    if (!call) co_return co_await send(exchange, error_reply(call.error()));
    if (context_.draining) {
        const Error error{ErrorCode::shutting_down, "the server is shutting down and takes no more calls"};
        co_return co_await send(exchange, error_reply(error));
    }
    Answer answer(*call, context_.api, (kind == CallKind::chat ? "chatcmpl-" : "cmpl-") + exchange.id,
                  context_.env.unix_time_s());
    Generation generation(context_.service, context_.limits.max_queued_bytes,
                          [strand = connection_.strand(), weak = weak_from_this()] {
                              asio::post(strand, [weak] {
                                  if (auto self = weak.lock()) self->on_events();
                              });
                          });
    const Pointing pointing(generation_, generation);
    connection_.watch([self = shared_from_this()] { self->on_gone(); });
    bool more = false;
    if (Status submitted = generation.submit(std::move(call->requests)); !submitted) {
        more = co_await send(exchange, refusal(submitted.error()));
    } else if (call->stream) {
        more = co_await answer_streamed(exchange, generation, answer);
    } else {
        more = co_await answer_whole(exchange, generation, answer);
    }
    co_await connection_.unwatch();
    co_return more && !gone_;
}

Reply Session::refusal(const Error &error) const {
    return error_reply(error, context_.service.retry_after_s());
}

asio::awaitable<bool> Session::answer_whole(const Exchange &exchange, Generation &generation, Answer &answer) {
    while (!answer.error() && !answer.ended()) {
        co_await wait_for_news();
        if (gone_) co_return give_up(exchange);
        for (const GenerationEvent &event : generation.take())
            answer.add(event);
    }
    if (answer.error()) {
        generation.cancel();
        co_return co_await send(exchange, refusal(*answer.error()));
    }
    Reply reply;
    reply.headers.emplace_back("x-cairn-cache", answer.cache_header());
    reply.body = answer.take_end();
    co_return co_await send(exchange, std::move(reply));
}

asio::awaitable<bool> Session::answer_streamed(const Exchange &exchange, Generation &generation, Answer &answer) {
    const bool chunked = !exchange.head.http_1_0;
    bool head_sent = false;
    while (true) {
        co_await wait_for_news();
        if (gone_) co_return give_up(exchange);
        for (const GenerationEvent &event : generation.take())
            answer.add(event);
        if (answer.error()) generation.cancel();
        if (answer.error() && !head_sent) co_return co_await send(exchange, refusal(*answer.error()));
        if (!answer.started()) continue;

        std::string out;
        if (!head_sent) {
            Reply reply{.content_type = "text/event-stream", .headers = {}, .body = {}};
            reply.headers.emplace_back("x-cairn-cache", answer.cache_header());
            reply.headers.emplace_back("Cache-Control", "no-cache");
            reply.headers.emplace_back("X-Accel-Buffering", "no");
            out = head_of_answer(exchange, reply, true);
            head_sent = true;
        }
        const bool last = answer.error() || answer.ended();
        std::string text = answer.take_text();
        if (answer.error()) {
            text += answer.failure_text();
        } else if (last) {
            text += answer.take_end();
        }
        if (!text.empty()) out += chunked ? chunk_text(text) : text;
        if (last && chunked) out += kLastChunk;
        if (last) log(exchange, answer.error() ? row_of(answer.error()->code).http_status : kOk);
        const NetError error = co_await connection_.write(out);
        if (error) co_return last ? false : give_up(exchange);
        if (last) co_return exchange.keep_alive &&chunked;
    }
}

std::string Session::head_of_answer(const Exchange &exchange, Reply &reply, bool chunked) {
    reply.headers.emplace_back("x-request-id", exchange.id);
    for (auto &header : cors_headers(exchange.head))
        reply.headers.push_back(std::move(header));
    const bool http_1_0 = exchange.head.http_1_0;
    const bool keep_alive = exchange.keep_alive && !context_.draining && !(chunked && http_1_0);
    return head_text(reply, {.http_1_0 = http_1_0, .keep_alive = keep_alive, .chunked = chunked},
                     context_.env.unix_time_s());
}

/// Once for each request, at its end.
void Session::log(const Exchange &exchange, int status) const {
    context_.log(fmt::format("{} {} {} {:.0f} ms {}", exchange.head.method.empty() ? "?" : exchange.head.method,
                             exchange.head.path.empty() ? "?" : exchange.head.path, status,
                             (context_.env.now_s() - exchange.began_s) * 1000, exchange.id));
}

/// The client has left before its answer was whole.
bool Session::give_up(const Exchange &exchange) const {
    log(exchange, row_of(ErrorCode::cancelled).http_status);
    return false;
}

asio::awaitable<bool> Session::send(const Exchange &exchange, Reply reply) {
    log(exchange, reply.status);
    std::string out = head_of_answer(exchange, reply, false);
    if (!exchange.head.is_head()) out += reply.body;
    const NetError error = co_await connection_.write(out);
    co_return !error && exchange.keep_alive;
}

asio::awaitable<void> Session::wait_for_news() {
    NetError ignored;
    while (!has_news_)
        co_await news_.async_wait(into(ignored));
    has_news_ = false;
}

void Session::on_events() {
    if (generation_ != nullptr && generation_->overflowed()) {
        on_gone();
        return;
    }
    has_news_ = true;
    news_.cancel();
}

void Session::on_gone() {
    gone_ = true;
    if (generation_ != nullptr) generation_->cancel();
    connection_.abort();
    has_news_ = true;
    news_.cancel();
}

}  // namespace cairn
