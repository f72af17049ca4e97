// Starting and stopping a server.
#include <gtest/gtest.h>

#include <future>

#include "tests/server/test_server.h"

namespace cairn {
namespace {

Result<std::uint16_t> start_error(const std::string &host, std::uint16_t port) {
    TestApi api;
    ManualEnv env;
    Metrics metrics;
    ScriptedService service;
    ServerConfig config;
    config.host = host;
    config.port = port;
    Server server(
        {.service = service, .api = api.context(), .config = config, .env = env, .metrics = metrics, .log = {}});
    return server.start();
}

TEST(Starting, a_port_that_is_taken_is_an_error_that_names_it) {
    TestServer test;
    const auto port = start_error("127.0.0.1", test.port);
    ASSERT_FALSE(port);
    EXPECT_EQ(port.error().code, ErrorCode::io);
    EXPECT_EQ(port.error().what, "port " + std::to_string(test.port) +
                                     " on 127.0.0.1 is in use: stop the other server or choose another with --port");
}

TEST(Starting, a_name_that_does_not_resolve_is_an_error) {
    const auto port = start_error("no such host", 0);
    ASSERT_FALSE(port);
    EXPECT_EQ(port.error().code, ErrorCode::invalid_argument);
    EXPECT_NE(port.error().what.find("the host name no such host does not resolve"), std::string::npos);
}

TEST(Starting, an_address_of_another_machine_is_an_error) {
    const auto port = start_error("192.0.2.1", 0);
    ASSERT_FALSE(port);
    EXPECT_EQ(port.error().code, ErrorCode::io);
    EXPECT_NE(port.error().what.find("192.0.2.1 is no address of this machine"), std::string::npos);
}

TEST(Starting, a_host_may_be_a_name) {
    ServerConfig config;
    config.host = "localhost";
    TestServer test({}, config);
    RawClient client(test.port);
    client.get("/health");
    EXPECT_EQ(client.read()->status, 200);
}

TEST(Starting, every_address_of_ipv6_takes_ipv4_too) {
    ServerConfig config;
    config.host = "[::]";
    TestServer test({}, config);
    for (const char *address : {"127.0.0.1", "::1"}) {
        RawClient client(test.port, address);
        ASSERT_TRUE(client.connected()) << address;
        client.get("/health");
        EXPECT_EQ(client.read()->status, 200) << address;
    }
}

TEST(Stopping, the_port_is_free_afterwards) {
    TestServer test;
    test.server->stop();
    EXPECT_FALSE(RawClient(test.port).connected());
    EXPECT_TRUE(start_error("127.0.0.1", test.port));
}

TEST(Stopping, idle_connections_are_closed) {
    TestServer test;
    RawClient client(test.port);
    client.get("/health");
    EXPECT_EQ(client.read()->status, 200);
    test.server->stop(60);
    EXPECT_TRUE(client.closed());
    EXPECT_EQ(test.server->connections(), 0U);
}

TEST(Stopping, an_answer_that_is_being_made_may_finish) {
    TestServer test;
    RawClient client(test.port);
    client.post(kChatPath, kChatStream);
    const auto call = test.service.call(0);
    ASSERT_TRUE(call);
    call->start();
    call->say("begun");
    ASSERT_TRUE(client.read_until("begun"));
    auto stopped = std::async(std::launch::async, [&] { test.server->stop(60); });
    bool refused = false;
    for (int attempt = 0; attempt < 100'000 && !refused; ++attempt)
        refused = !RawClient(test.port).connected();
    EXPECT_TRUE(refused);
    call->say("and ended");
    call->finish();
    const std::string rest = client.read_all();
    EXPECT_NE(rest.find("and ended"), std::string::npos);
    EXPECT_NE(rest.find("[DONE]"), std::string::npos);
    client.close();
    stopped.get();
}

TEST(Stopping, one_that_takes_too_long_is_cut_off_and_cancelled) {
    TestServer test;
    RawClient client(test.port);
    client.post(kChatPath, kChatStream);
    const auto call = test.service.call(0);
    ASSERT_TRUE(call);
    call->start();
    test.server->stop(0.01);
    EXPECT_TRUE(call->cancelled);
    EXPECT_TRUE(client.closed());
    call->say("into the void");
    call->finish(FinishReason::cancelled);
}

TEST(Stopping, clients_that_leave_at_the_same_moment_hold_nothing_up) {
    for (int round = 0; round < 100; ++round) {
        TestServer test;
        RawClient client(test.port);
        client.get("/health");
        EXPECT_EQ(client.read()->status, 200);
        client.close();
        test.server->stop();
        EXPECT_EQ(test.server->connections(), 0U);
    }
}

TEST(Stopping, twice_is_as_good_as_once) {
    TestServer test;
    test.server->stop();
    test.server->stop(1);
    EXPECT_EQ(test.server->connections(), 0U);
}

TEST(Stopping, an_engine_that_stops_first_is_said_to_its_clients) {
    TestServer test([](ScriptedService::Call &call) { call.finish(FinishReason::cancelled); });
    RawClient client(test.port);
    client.post(kChatPath, kChat);
    const auto response = client.read();
    EXPECT_EQ(response->status, 503);
    EXPECT_EQ(json_of(response)["error"]["code"], "shutting_down");
}

}  // namespace
}  // namespace cairn
