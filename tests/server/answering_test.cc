// Calls to the engine through the whole server: what is asked, what comes back, what goes wrong on the way.
#include <gtest/gtest.h>

#include <cstdlib>

#include "tests/server/test_server.h"

namespace cairn {
namespace {

const std::string kHitHeader = "hit; cached=7; prompt=";

TEST(Answering, a_chat_is_answered_whole) {
    TestServer test(say("Hello there", 7));
    RawClient client(test.port);
    client.post(kChatPath, kChat);
    const auto response = client.read();
    ASSERT_TRUE(response);
    EXPECT_EQ(response->status, 200);
    EXPECT_TRUE(response->header("x-cairn-cache").starts_with(kHitHeader)) << response->header("x-cairn-cache");
    const auto body = json_of(response);
    EXPECT_EQ(body["id"], "chatcmpl-" + response->header("x-request-id"));
    EXPECT_EQ(body["created"], ManualEnv::kStartUnixTime);
    EXPECT_EQ(body["choices"][0]["message"]["content"], "Hello there");
    EXPECT_EQ(body["choices"][0]["finish_reason"], "stop");
}

TEST(Answering, a_completion_takes_token_ids) {
    TestServer test(say("Hi"));
    RawClient client(test.port);
    client.post("/v1/completions", R"({"prompt":[5,6,7],"max_tokens":3})");
    const auto response = client.read();
    EXPECT_EQ(json_of(response)["choices"][0]["text"], "Hi");
    EXPECT_EQ(json_of(response)["id"], "cmpl-" + response->header("x-request-id"));
    const auto call = test.service.call(0);
    EXPECT_EQ(call->request.prompt, (Tokens{5, 6, 7}));
    EXPECT_EQ(call->request.max_tokens, 3);
}

TEST(Answering, the_paths_without_v1_are_the_same) {
    TestServer test(say("Hi"));
    RawClient client(test.port);
    client.post("/chat/completions", kChat);
    EXPECT_EQ(json_of(client.read())["choices"][0]["message"]["content"], "Hi");
    client.post("/completions", R"({"prompt":"a"})");
    EXPECT_EQ(json_of(client.read())["choices"][0]["text"], "Hi");
}

TEST(Answering, a_stream_begins_when_every_choice_has_started_and_flows) {
    TestServer test;
    RawClient client(test.port);
    client.post(kChatPath, R"({"stream":true,"n":2,"messages":[{"role":"user","content":"Hi"}]})");
    const auto first = test.service.call(0);
    const auto second = test.service.call(1);
    ASSERT_TRUE(first && second);
    first->start(7);
    first->say("one");
    second->start(0);
    const auto head = client.read_until("one");
    ASSERT_TRUE(head);
    EXPECT_EQ(head->status, 200);
    EXPECT_EQ(head->header("content-type"), "text/event-stream");
    EXPECT_EQ(head->header("transfer-encoding"), "chunked");
    EXPECT_EQ(head->header("cache-control"), "no-cache");
    EXPECT_TRUE(head->header("x-cairn-cache").starts_with(kHitHeader));
    EXPECT_NE(head->header("x-cairn-cache").find(", miss; cached=0"), std::string::npos);
    EXPECT_EQ(head->header("x-request-id").size(), 16U);
    second->say("two");
    first->finish();
    second->finish();
    client.get("/health", "Connection: close\r\n");
    const std::string all = client.read_all();
    EXPECT_NE(all.find("two"), std::string::npos);
    EXPECT_NE(all.find("data: [DONE]\n\n\r\n0\r\n\r\nHTTP/1.1 200 OK"), std::string::npos) << all;
}

TEST(Answering, each_piece_of_a_stream_is_sent_when_it_is_there) {
    TestServer test;
    RawClient client(test.port);
    client.post(kChatPath, kChatStream);
    const auto call = test.service.call(0);
    ASSERT_TRUE(call);
    call->start();
    call->say("first piece");
    ASSERT_TRUE(client.read_until("first piece"));  // while the answer has not ended
    call->say("second piece");
    call->finish();
    client.get("/health", "Connection: close\r\n");
    EXPECT_NE(client.read_all().find("second piece"), std::string::npos);
}

TEST(Answering, a_stream_is_logged_when_it_ends_with_all_of_its_time) {
    TestServer test;
    RawClient client(test.port);
    client.post(kChatPath, kChatStream, "Connection: close\r\n");
    const auto call = test.service.call(0);
    ASSERT_TRUE(call);
    call->start();
    call->say("some");
    ASSERT_TRUE(client.read_until("some"));
    EXPECT_TRUE(test.log().empty());
    test.env.advance(7);
    call->finish();
    ASSERT_NE(client.read_all().find("[DONE]"), std::string::npos);
    ASSERT_EQ(test.log().size(), 1u);
    EXPECT_TRUE(test.log()[0].starts_with("POST /v1/chat/completions 200 7000 ms ")) << test.log()[0];
}

TEST(Answering, the_last_pieces_of_a_stream_are_usage_and_done) {
    TestServer test(say("Hi"));
    RawClient client(test.port);
    client.post(kChatPath, R"({"stream":true,"stream_options":{"include_usage":true},
                               "messages":[{"role":"user","content":"Hi"}]})");
    const auto data = data_of(client.read()->body);
    ASSERT_GE(data.size(), 4U);
    EXPECT_EQ(data.back(), "[DONE]");
    EXPECT_EQ(nlohmann::json::parse(data[data.size() - 2])["usage"]["completion_tokens"], 1);
}

TEST(Answering, a_body_that_is_wrong_is_400_and_the_connection_goes_on) {
    TestServer test(say("Hi"));
    RawClient client(test.port);
    for (const char *body : {"", "{", "[]", R"({"messages":5})", R"({"messages":[]})"}) {
        client.post(kChatPath, body);
        const auto response = client.read();
        ASSERT_TRUE(response) << body;
        EXPECT_EQ(response->status, 400) << body;
        EXPECT_EQ(json_of(response)["error"]["type"], "invalid_request_error") << body;
    }
    EXPECT_EQ(test.service.calls(), 0U);
    client.post(kChatPath, kChat);
    EXPECT_EQ(client.read()->status, 200);
}

TEST(Answering, what_the_engine_refuses_has_its_status) {
    TestServer test;
    test.service.refuse({ErrorCode::capacity, "the queue is full: try again later"});
    RawClient client(test.port);
    client.post(kChatPath, kChatStream);
    auto response = client.read();
    EXPECT_EQ(response->status, 503);
    EXPECT_EQ(response->header("retry-after"), "1");
    EXPECT_EQ(json_of(response)["error"]["code"], "capacity");
    test.service.refuse({ErrorCode::capacity, "the queue is full: try again later"}, 6.2);
    client.post(kChatPath, kChat);
    EXPECT_EQ(client.read()->header("retry-after"), "7");
    test.service.refuse({ErrorCode::context_length, "too long"});
    client.post(kChatPath, kChat);
    response = client.read();
    EXPECT_EQ(response->status, 400);
    EXPECT_EQ(json_of(response)["error"]["code"], "context_length_exceeded");
    EXPECT_EQ(response->header("retry-after"), "");
}

TEST(Answering, a_failure_before_the_first_byte_is_an_http_error) {
    TestServer test([](ScriptedService::Call &call) {
        call.start();
        call.events.failed({ErrorCode::device, "the device was lost"});
    });
    RawClient client(test.port);
    client.post(kChatPath, kChat);
    const auto response = client.read();
    EXPECT_EQ(response->status, 500);
    EXPECT_EQ(json_of(response)["error"]["message"], "the device was lost");
    client.get("/health");
    EXPECT_EQ(client.read()->status, 200);
}

TEST(Answering, a_failure_after_the_first_byte_is_an_event_and_the_end_of_the_stream) {
    TestServer test;
    RawClient client(test.port);
    client.post(kChatPath, kChatStream);
    const auto call = test.service.call(0);
    ASSERT_TRUE(call);
    call->start();
    call->say("so far");
    ASSERT_TRUE(client.read_until("so far"));
    call->events.failed({ErrorCode::device, "the device was lost"});
    client.get("/health", "Connection: close\r\n");
    const std::string all = client.read_all();
    EXPECT_NE(all.find("the device was lost"), std::string::npos);
    EXPECT_EQ(all.find("[DONE]"), std::string::npos);
    EXPECT_NE(all.find("0\r\n\r\nHTTP/1.1 200 OK"), std::string::npos) << all;
}

TEST(Answering, one_choice_that_fails_cancels_the_others) {
    TestServer test;
    RawClient client(test.port);
    client.post("/v1/completions", R"({"prompt":["a","b"]})");
    const auto second = test.service.call(1);
    ASSERT_TRUE(second);
    second->events.failed({ErrorCode::no_memory, "no room"});
    EXPECT_EQ(client.read()->status, 503);
    EXPECT_TRUE(test.service.wait_until_cancelled(0));
}

TEST(Answering, two_hundred_streams_flow_side_by_side) {
    constexpr std::size_t kStreams = 200;
    TestServer test;
    std::vector<RawClient> clients;
    clients.reserve(kStreams);
    for (std::size_t i = 0; i < kStreams; ++i) {
        clients.emplace_back(test.port);
        clients.back().post(kChatPath, kChatStream);
    }
    std::vector<std::shared_ptr<ScriptedService::Call>> calls;
    for (std::size_t i = 0; i < kStreams; ++i) {
        calls.push_back(test.service.call(i));
        ASSERT_TRUE(calls.back());
    }
    for (const auto &call : calls)
        call->start();
    for (int round = 0; round < 20; ++round) {
        for (std::size_t i = 0; i < kStreams; ++i)
            calls[i]->say("[" + std::to_string(i) + ":" + std::to_string(round) + "]");
    }
    for (const auto &call : calls)
        call->finish();
    std::vector<bool> seen(kStreams, false);
    for (RawClient &client : clients) {
        const auto response = client.read();
        ASSERT_TRUE(response);
        std::string text;
        for (const std::string &data : data_of(response->body)) {
            if (data == "[DONE]") continue;
            const auto chunk = nlohmann::json::parse(data);
            for (const auto &choice : chunk["choices"])
                text += choice["delta"].value("content", "");
        }
        const std::size_t index = std::strtoul(text.c_str() + 1, nullptr, 10);
        ASSERT_LT(index, kStreams);
        EXPECT_FALSE(seen[index]);
        seen[index] = true;
        std::string expected;
        for (int round = 0; round < 20; ++round)
            expected += "[" + std::to_string(index) + ":" + std::to_string(round) + "]";
        EXPECT_EQ(text, expected);
    }
}

}  // namespace
}  // namespace cairn
