// Clients that leave, stall or come in crowds: what they asked for ends, and nobody else notices.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "tests/server/test_server.h"

namespace cairn {
namespace {

using std::chrono::milliseconds;

/// Puts deltas until it is told to stop; it never waits for the client.
ScriptedService::Script flood(std::size_t most_bytes) {
    return [most_bytes](ScriptedService::Call &call) {
        const std::string piece(16 << 10, 'x');
        call.start();
        for (std::size_t sent = 0; sent < most_bytes && !call.cancelled; sent += piece.size())
            call.say(piece);
        if (call.cancelled) call.finish(FinishReason::cancelled);
    };
}

TEST(Leaving, a_client_that_closes_cancels_all_its_requests) {
    TestServer test;
    RawClient client(test.port);
    client.post(kChatPath, R"({"n":2,"messages":[{"role":"user","content":"Hi"}]})");
    ASSERT_TRUE(test.service.call(1));
    client.close();
    EXPECT_TRUE(test.service.wait_until_cancelled(0));
    EXPECT_TRUE(test.service.wait_until_cancelled(1));
}

/// The status in the one line of the log, once it is there.
std::string logged_status(const TestServer &test) {
    for (int i = 0; i < 5000 && test.log().empty(); ++i)
        std::this_thread::sleep_for(milliseconds(1));
    const std::vector<std::string> lines = test.log();
    if (lines.size() != 1) return std::to_string(lines.size()) + " lines";
    return lines[0].substr(std::string_view("POST  ").size() + std::string_view(kChatPath).size(), 3);
}

TEST(Leaving, is_logged_as_499_before_an_answer_and_within_it) {
    for (const char *body : {kChat, kChatStream}) {
        TestServer test;
        RawClient client(test.port);
        client.post(kChatPath, body);
        const auto call = test.service.call(0);
        ASSERT_TRUE(call);
        call->start();
        call->say("some");
        if (std::string_view(body) == kChatStream) {
            ASSERT_TRUE(client.read_until("some"));
        }
        client.close();
        EXPECT_EQ(logged_status(test), "499") << body;
    }
}

TEST(Leaving, so_does_one_that_resets_in_mid_stream) {
    TestServer test;
    RawClient client(test.port);
    client.post(kChatPath, kChatStream);
    const auto call = test.service.call(0);
    ASSERT_TRUE(call);
    call->start();
    call->say("some");
    ASSERT_TRUE(client.read_until("some"));
    client.reset();
    EXPECT_TRUE(test.service.wait_until_cancelled(0));
    call->say("late");
    call->finish(FinishReason::cancelled);
    RawClient next(test.port);
    next.get("/health");
    EXPECT_EQ(next.read()->status, 200);
}

TEST(Leaving, and_one_that_closes_its_sending_side) {
    TestServer test;
    RawClient client(test.port);
    client.post(kChatPath, kChatStream);
    ASSERT_TRUE(test.service.call(0));
    client.close_writing();
    EXPECT_TRUE(test.service.wait_until_cancelled(0));
    EXPECT_TRUE(client.closed());
}

TEST(Leaving, even_with_further_requests_in_the_pipe) {
    TestServer test;
    RawClient client(test.port);
    client.post(kChatPath, kChat);
    ASSERT_TRUE(test.service.call(0));
    client.get("/health");
    client.close();
    EXPECT_TRUE(test.service.wait_until_cancelled(0));
}

TEST(Leaving, one_that_does_not_read_is_cut_off_and_the_engine_never_waits) {
    ServerLimits limits;
    limits.max_queued_bytes = 1 << 20;
    TestServer test(flood(std::size_t{1} << 30), {}, limits);
    RawClient client(test.port, "127.0.0.1", 4096);
    client.post(kChatPath, kChatStream);
    EXPECT_TRUE(test.service.wait_until_cancelled(0));
    EXPECT_TRUE(client.closed());
}

TEST(Leaving, one_that_reads_nothing_for_too_long_is_cut_off_though_little_waits) {
    ServerLimits limits;
    limits.write = milliseconds(200);
    TestServer test(flood(std::size_t{7} << 20), {}, limits);
    RawClient client(test.port, "127.0.0.1", 4096);
    client.post(kChatPath, kChatStream);
    EXPECT_TRUE(test.service.wait_until_cancelled(0));
    EXPECT_TRUE(client.closed());
}

TEST(Leaving, one_that_reads_slowly_gets_everything) {
    TestServer test;
    RawClient client(test.port, "127.0.0.1", 4096);
    client.post(kChatPath, kChatStream);
    const auto call = test.service.call(0);
    ASSERT_TRUE(call);
    call->start();
    for (int i = 0; i < 64; ++i)
        call->say(std::string(64 << 10, '~'));
    call->finish();
    const auto response = client.read();
    ASSERT_TRUE(response);
    EXPECT_EQ(std::count(response->body.begin(), response->body.end(), '~'), 64 << 16);
}

TEST(Leaving, idle_connections_are_closed_in_time) {
    ServerLimits limits;
    limits.idle = milliseconds(50);
    TestServer test({}, {}, limits);
    RawClient client(test.port);
    client.get("/health");
    EXPECT_EQ(client.read()->status, 200);
    EXPECT_TRUE(client.closed());
}

TEST(Leaving, so_are_those_that_never_finish_a_header_or_a_body) {
    ServerLimits limits;
    limits.head = milliseconds(50);
    limits.body = milliseconds(50);
    TestServer test({}, {}, limits);
    RawClient head(test.port);
    head.send("GET /health HTTP/1.1\r\nX-Slow: ");
    EXPECT_EQ(head.read_all(), "");
    RawClient body(test.port);
    body.send("POST /v1/completions HTTP/1.1\r\nContent-Length: 10\r\n\r\n{");
    EXPECT_EQ(body.read_all(), "");
}

TEST(Leaving, a_long_answer_is_not_mistaken_for_an_idle_connection) {
    ServerLimits limits;
    limits.idle = milliseconds(30);
    limits.head = milliseconds(30);
    limits.body = milliseconds(30);
    limits.write = milliseconds(30);
    TestServer test({}, {}, limits);
    RawClient client(test.port);
    client.post(kChatPath, kChatStream);
    const auto call = test.service.call(0);
    ASSERT_TRUE(call);
    call->start();
    RawClient idle(test.port);  // gone when all of these limits have passed
    EXPECT_TRUE(idle.closed());
    EXPECT_FALSE(call->cancelled);
    call->say("still here");
    call->finish();
    const auto response = client.read();
    ASSERT_TRUE(response);
    EXPECT_NE(response->body.find("still here"), std::string::npos);
}

TEST(Leaving, connections_beyond_the_limit_are_told_so) {
    ServerConfig config;
    config.max_connections = 2;
    TestServer test({}, config);
    RawClient first(test.port);
    auto second = std::make_unique<RawClient>(test.port);
    for (RawClient *client : {&first, second.get()}) {
        client->get("/health");
        EXPECT_EQ(client->read()->status, 200);
    }
    RawClient third(test.port);
    const auto response = third.read();
    ASSERT_TRUE(response);
    EXPECT_EQ(response->status, 503);
    EXPECT_EQ(response->header("retry-after"), "1");
    EXPECT_EQ(json_of(response)["error"]["code"], "too_many_connections");
    EXPECT_TRUE(third.closed());
    first.get("/health");
    EXPECT_EQ(first.read()->status, 200);
}

TEST(Leaving, five_hundred_idle_connections_disturb_nobody) {
    rlimit files{};
    ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &files), 0);
    files.rlim_cur = files.rlim_max;
    ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &files), 0);
    TestServer test(say("Hi"));
    std::vector<RawClient> idle;
    idle.reserve(500);
    for (int i = 0; i < 500; ++i) {
        idle.emplace_back(test.port);
        ASSERT_TRUE(idle.back().connected());
    }
    RawClient client(test.port);
    client.post(kChatPath, kChat);
    EXPECT_EQ(client.read()->status, 200);
    EXPECT_EQ(test.server->connections(), 501U);
    for (std::size_t i : {0U, 250U, 499U}) {
        idle[i].get("/health");
        EXPECT_EQ(idle[i].read()->status, 200);
    }
}

}  // namespace
}  // namespace cairn
