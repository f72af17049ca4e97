// Session: one client's connection from accept to close, a request at a time.
//
//     std::make_shared<Session>(context, std::move(socket))->start();
//
// Requests that come while one is answered wait their turn in the connection's buffer, so answers keep their order.
// While the engine works a client that leaves, or that does not read, ends its requests.
//
// Ownership: itself, while it has work to do. The context outlives it.
// Threads: start, refuse, close and close_when_idle from any; all else on the connection's strand.
#pragma once

#include <memory>
#include <string>

#include "api/api.h"
#include "server/connection.h"
#include "server/generation.h"
#include "server/reply.h"
#include "server/request_head.h"
#include "server/server_context.h"

namespace cairn {

class Answer;

class Session : public std::enable_shared_from_this<Session> {
public:
    Session(ServerContext &context, tcp::socket socket);
    ~Session();
    Session(const Session &) = delete;
    Session &operator=(const Session &) = delete;

    void start();
    /// Serves nothing: answers 503 and closes. For a connection too many.
    void refuse();
    void close();
    /// Closes now if no request has begun; else the session ends behind its present answer (context.draining is set).
    void close_when_idle();

private:
    /// A request that is being answered.
    struct Exchange {
        std::string id;
        double began_s = 0;
        RequestHead head;
        bool keep_alive = false;
    };

    void spawn(asio::awaitable<void> (Session::*work)());
    asio::awaitable<void> run();
    asio::awaitable<void> run_refusal();
    // Those below return whether the connection takes another request.
    asio::awaitable<bool> serve_next();
    asio::awaitable<bool> refuse_unreadable(Exchange exchange, NetError error);
    asio::awaitable<bool> generate(Exchange exchange, CallKind kind, std::string body);
    asio::awaitable<bool> answer_whole(const Exchange &exchange, Generation &generation, Answer &answer);
    asio::awaitable<bool> answer_streamed(const Exchange &exchange, Generation &generation, Answer &answer);
    asio::awaitable<bool> send(const Exchange &exchange, Reply reply);
    void log(const Exchange &exchange, int status) const;
    [[nodiscard]] bool give_up(const Exchange &exchange) const;
    /// What the engine refused or failed, and when to try again where that may help.
    [[nodiscard]] Reply refusal(const Error &error) const;

    /// Waits until events have come or the client has gone.
    asio::awaitable<void> wait_for_news();
    void on_events();
    void on_gone();

    [[nodiscard]] Exchange new_exchange();
    [[nodiscard]] std::string head_of_answer(const Exchange &exchange, Reply &reply, bool chunked);

    ServerContext &context_;
    Connection connection_;
    asio::steady_timer news_;  ///< never expires: cancelled when there is news
    bool has_news_ = false;
    bool idle_ = false;
    bool gone_ = false;
    Generation *generation_ = nullptr;  ///< the one that generate() holds
};

}  // namespace cairn
