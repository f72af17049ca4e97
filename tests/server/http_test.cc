// The server as a client sees it: routes, headers, connections.
#include <gtest/gtest.h>

#include <cstring>

#include "tests/server/test_server.h"

namespace cairn {
namespace {

TEST(Http, health_is_ok) {
    TestServer test;
    RawClient client(test.port);
    client.get("/health");
    const auto response = client.read();
    ASSERT_TRUE(response);
    EXPECT_EQ(response->status, 200);
    EXPECT_EQ(response->body, R"({"status":"ok"})");
    EXPECT_EQ(response->header("server"), "cairn");
    EXPECT_EQ(response->header("content-type"), "application/json; charset=utf-8");
    EXPECT_EQ(response->header("x-request-id").size(), 16U);
}

TEST(Http, requests_have_ids_of_their_own) {
    TestServer test;
    RawClient client(test.port);
    client.get("/health");
    client.get("/health");
    EXPECT_NE(client.read()->header("x-request-id"), client.read()->header("x-request-id"));
}

TEST(Http, the_model_is_listed_and_described) {
    TestServer test;
    RawClient client(test.port);
    client.get("/v1/models");
    const auto list = json_of(client.read());
    EXPECT_EQ(list["data"][0]["id"], "tiny");
    client.get("/models/tiny?x=1");
    EXPECT_EQ(json_of(client.read()), list["data"][0]);
    client.get("/v1/models/other");
    const auto response = client.read();
    EXPECT_EQ(response->status, 404);
    EXPECT_EQ(json_of(response)["error"]["code"], "model_not_found");
    EXPECT_EQ(json_of(response)["error"]["message"], "the model \"other\" is not served here: use \"tiny\"");
}

TEST(Http, metrics_are_prometheus_text) {
    TestServer test;
    test.metrics.set(Metric::ram_bytes, 4096);
    RawClient client(test.port);
    client.get("/metrics");
    const auto response = client.read();
    EXPECT_EQ(response->status, 200);
    EXPECT_EQ(response->header("content-type"), "text/plain; version=0.0.4; charset=utf-8");
    EXPECT_EQ(response->body, test.metrics.prometheus_text());
    EXPECT_NE(response->body.find("4096"), std::string::npos);
}

TEST(Http, the_home_page_names_every_route_and_a_line_to_try) {
    TestServer test;
    RawClient client(test.port);
    client.get("/");
    const auto response = client.read();
    EXPECT_EQ(response->status, 200);
    for (const char *path : {"/v1/chat/completions", "/v1/completions", "/v1/models", "/health", "/metrics"}) {
        EXPECT_NE(response->body.find(path), std::string::npos) << path;
    }
    EXPECT_NE(response->body.find("curl http://test/v1/chat/completions"), std::string::npos);
}

TEST(Http, a_text_is_tokenized_and_made_a_prompt) {
    TestServer test;
    RawClient client(test.port);
    client.post("/tokenize", R"({"content": "abc"})");
    const auto tokens = json_of(client.read());
    client.post("/detokenize", tokens.dump());
    EXPECT_EQ(json_of(client.read())["content"], "abc");
    client.post("/apply-template", R"({"messages": [{"role": "user", "content": "abc"}]})");
    EXPECT_EQ(json_of(client.read())["prompt"], "<|im_start|>user\nabc<|im_end|>\n<|im_start|>assistant\n");
    client.post("/tokenize", "{}");
    const auto refused = client.read();
    EXPECT_EQ(refused->status, 400);
    EXPECT_EQ(json_of(refused)["error"]["message"], "'content' must be a text");
}

TEST(Http, head_is_get_without_the_body) {
    TestServer test;
    RawClient client(test.port);
    client.send("HEAD /health HTTP/1.1\r\nHost: x\r\n\r\nGET /health HTTP/1.1\r\nHost: x\r\n\r\n");
    const auto head = client.read(true);
    const auto get = client.read();
    ASSERT_TRUE(head && get);
    EXPECT_EQ(head->status, 200);
    EXPECT_EQ(head->header("content-length"), get->header("content-length"));
    EXPECT_EQ(get->body, R"({"status":"ok"})");
}

TEST(Http, an_unknown_route_is_404) {
    TestServer test;
    RawClient client(test.port);
    client.get("/v2/nothing");
    const auto response = client.read();
    EXPECT_EQ(response->status, 404);
    const auto error = json_of(response)["error"];
    EXPECT_EQ(error["type"], "invalid_request_error");
    EXPECT_EQ(error["code"], "unknown_route");
    EXPECT_EQ(error["message"], "there is no /v2/nothing: GET / lists what this server answers");
    EXPECT_TRUE(error["param"].is_null());
}

TEST(Http, a_wrong_method_is_405_and_names_the_right_ones) {
    TestServer test;
    RawClient client(test.port);
    client.get(kChatPath);
    const auto response = client.read();
    EXPECT_EQ(response->status, 405);
    EXPECT_EQ(response->header("allow"), "POST, OPTIONS");
    EXPECT_EQ(json_of(response)["error"]["code"], "method_not_allowed");
    client.send("BREW /health HTTP/1.1\r\nHost: x\r\n\r\n");
    EXPECT_EQ(client.read()->status, 405);
}

TEST(Http, a_preflight_is_answered_for_any_origin) {
    ServerConfig config;
    config.api_key = "secret";
    TestServer test({}, config);
    RawClient client(test.port);
    client.send(
        "OPTIONS /v1/chat/completions HTTP/1.1\r\nHost: x\r\nOrigin: https://page.example\r\n"
        "Access-Control-Request-Method: POST\r\nAccess-Control-Request-Headers: authorization\r\n\r\n");
    const auto response = client.read();
    EXPECT_EQ(response->status, 204);
    EXPECT_EQ(response->header("access-control-allow-origin"), "https://page.example");
    EXPECT_EQ(response->header("access-control-allow-headers"), "authorization");
    EXPECT_EQ(response->header("access-control-allow-methods"), "POST, OPTIONS");
    EXPECT_EQ(response->header("connection"), "keep-alive");
}

TEST(Http, errors_reach_pages_of_other_origins_too) {
    TestServer test;
    RawClient client(test.port);
    client.get("/nothing", "Origin: https://page.example\r\n");
    EXPECT_EQ(client.read()->header("access-control-allow-origin"), "https://page.example");
}

TEST(Http, without_the_key_only_the_open_routes_answer) {
    ServerConfig config;
    config.api_key = "secret";
    TestServer test(say("Hi"), config);
    RawClient client(test.port);
    for (const char *path : {"/health", "/"}) {
        client.get(path);
        EXPECT_EQ(client.read()->status, 200) << path;
    }
    for (const char *path : {"/metrics", "/v1/models", "/nothing"}) {
        client.get(path);
        const auto response = client.read();
        EXPECT_EQ(response->status, 401) << path;
        EXPECT_EQ(json_of(response)["error"]["code"], "invalid_api_key") << path;
        EXPECT_EQ(response->header("www-authenticate"), "Bearer") << path;
    }
    client.get("/v1/models", "Authorization: Bearer secret\r\n");
    EXPECT_EQ(client.read()->status, 200);
    client.post(kChatPath, kChat, "Authorization: Bearer secret\r\n");
    EXPECT_EQ(client.read()->status, 200);
    client.post(kChatPath, kChat, "Authorization: Bearer wrong\r\n");
    EXPECT_EQ(client.read()->status, 401);
    EXPECT_EQ(test.service.calls(), 1U);
}

TEST(Http, one_connection_takes_many_requests) {
    TestServer test(say("Hi"));
    RawClient client(test.port);
    for (int i = 0; i < 20; ++i) {
        client.get("/health");
        EXPECT_EQ(client.read()->status, 200);
        client.post(kChatPath, kChat);
        EXPECT_EQ(json_of(client.read())["choices"][0]["message"]["content"], "Hi");
    }
    EXPECT_EQ(test.server->connections(), 1U);
}

TEST(Http, pipelined_requests_are_answered_in_order) {
    TestServer test([](ScriptedService::Call &call) {
        call.start();
        call.say("#" + std::to_string(call.id.value()));
        call.finish();
    });
    RawClient client(test.port);
    std::string all;
    for (int i = 0; i < 10; ++i) {
        all += "POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Length: " + std::to_string(strlen(kChat)) +
               "\r\n\r\n" + kChat + "GET /health HTTP/1.1\r\nHost: x\r\n\r\n";
    }
    client.send(all);
    for (int i = 1; i <= 10; ++i) {
        EXPECT_EQ(json_of(client.read())["choices"][0]["message"]["content"], "#" + std::to_string(i));
        EXPECT_EQ(json_of(client.read())["status"], "ok");
    }
}

TEST(Http, what_is_pipelined_while_an_answer_streams_is_served_after_it) {
    TestServer test;
    RawClient client(test.port);
    client.post(kChatPath, kChatStream);
    const auto call = test.service.call(0);
    ASSERT_TRUE(call);
    call->start();
    client.get("/health");
    client.get("/nothing");
    call->say("Hi");
    call->finish();
    EXPECT_EQ(data_of(client.read()->body).back(), "[DONE]");
    EXPECT_EQ(client.read()->status, 200);
    EXPECT_EQ(client.read()->status, 404);
}

TEST(Http, a_body_may_come_in_chunks_and_byte_by_byte) {
    TestServer test(say("Hi"));
    RawClient client(test.port);
    client.send("POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n");
    const std::string body = kChat;
    for (const char c : body)
        client.send(std::string("1\r\n") + c + "\r\n");
    client.send("0\r\n\r\n");
    EXPECT_EQ(json_of(client.read())["choices"][0]["message"]["content"], "Hi");
    client.get("/health");
    EXPECT_EQ(client.read()->status, 200);
}

TEST(Http, whoever_waits_for_100_continue_gets_it) {
    TestServer test(say("Hi"));
    RawClient client(test.port);
    client.send("POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: " +
                std::to_string(strlen(kChat)) + "\r\n\r\n");
    EXPECT_EQ(client.read()->status, 100);
    client.send(kChat);
    EXPECT_EQ(client.read()->status, 200);
}

TEST(Http, what_would_be_refused_anyway_is_not_asked_to_continue) {
    TestServer test;
    RawClient client(test.port);
    client.send("POST /nothing HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n");
    EXPECT_EQ(client.read()->status, 404);
    RawClient other(test.port);
    other.send("POST /v1/completions HTTP/1.1\r\nHost: x\r\nExpect: a-miracle\r\nContent-Length: 5\r\n\r\n");
    EXPECT_EQ(other.read()->status, 417);
}

TEST(Http, the_type_of_a_body_does_not_matter_but_its_encoding_does) {
    TestServer test(say("Hi"));
    RawClient client(test.port);
    const std::string length = std::to_string(strlen(kChat));
    client.send("POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Type: text/plain\r\nContent-Length: " +
                length + "\r\n\r\n" + kChat);
    EXPECT_EQ(client.read()->status, 200);
    client.send("POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Length: " + length + "\r\n\r\n" + kChat);
    EXPECT_EQ(client.read()->status, 200);
    client.post(kChatPath, kChat, "Content-Encoding: gzip\r\n");
    EXPECT_EQ(client.read()->status, 415);
}

TEST(Http, a_body_that_is_too_long_is_413_however_it_comes) {
    ServerConfig config;
    config.max_body_bytes = 1000;
    TestServer test({}, config);
    RawClient client(test.port);
    client.post(kChatPath, std::string(1001, ' '));
    const auto response = client.read();
    ASSERT_TRUE(response);
    EXPECT_EQ(response->status, 413);
    EXPECT_EQ(json_of(response)["error"]["message"], "the body is longer than the 1000 bytes this server takes");
    EXPECT_EQ(response->header("connection"), "close");

    RawClient chunked(test.port);
    chunked.send("POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n");
    chunked.send("3e8\r\n" + std::string(1000, ' ') + "\r\n1\r\n \r\n");
    const auto refused = chunked.read();
    ASSERT_TRUE(refused);
    EXPECT_EQ(refused->status, 413);

    RawClient fits(test.port);
    fits.post(kChatPath, std::string(1000, ' '));
    EXPECT_EQ(fits.read()->status, 400);
}

TEST(Http, the_client_gets_the_413_though_it_goes_on_sending) {
    ServerConfig config;
    config.max_body_bytes = 1000;
    TestServer test({}, config);
    RawClient client(test.port);
    client.post(kChatPath, std::string(8 << 20, ' '));
    const auto response = client.read();
    ASSERT_TRUE(response);
    EXPECT_EQ(response->status, 413);
}

TEST(Http, a_header_that_is_too_long_is_431) {
    TestServer test;
    RawClient client(test.port);
    client.get("/health", "X-Long: " + std::string(70'000, 'a') + "\r\n");
    const auto response = client.read();
    ASSERT_TRUE(response);
    EXPECT_EQ(response->status, 431);
}

TEST(Http, what_is_not_http_is_400_and_the_end) {
    TestServer test;
    for (const char *text :
         {"hello\r\n\r\n", "GET /health\r\n\r\n", "GET /health HTTP/9.9\r\n\r\n",
          "GET /health HTTP/1.1\r\nno colon\r\n\r\n", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n",
          "POST /v1/completions HTTP/1.1\r\nContent-Length: two\r\n\r\n{}",
          "POST /v1/completions HTTP/1.1\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}"}) {
        RawClient client(test.port);
        client.send(text);
        const auto response = client.read();
        ASSERT_TRUE(response) << text;
        EXPECT_EQ(response->status, 400) << text;
        EXPECT_EQ(json_of(response)["error"]["code"], "malformed_http") << text;
        EXPECT_EQ(response->header("connection"), "close") << text;
        EXPECT_TRUE(client.closed()) << text;
    }
}

TEST(Http, a_length_and_chunks_at_once_are_never_two_requests) {
    TestServer test;
    RawClient client(test.port);
    client.send(
        "POST /v1/completions HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n"
        "0\r\n\r\nGET /health HTTP/1.1\r\nHost: x\r\n\r\n");
    EXPECT_EQ(client.read()->status, 400);
    EXPECT_EQ(client.read_all(), "");
}

TEST(Http, an_encoding_of_the_transfer_that_is_not_known_is_501) {
    TestServer test;
    RawClient client(test.port);
    client.send("POST /v1/completions HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n");
    const auto response = client.read();
    ASSERT_TRUE(response);
    EXPECT_EQ(response->status, 501);
    EXPECT_EQ(response->header("connection"), "close");
}

TEST(Http, empty_lines_between_requests_are_skipped) {
    TestServer test;
    RawClient client(test.port);
    client.send("\r\n\r\nGET /health HTTP/1.1\r\nHost: x\r\n\r\n\r\nGET /health HTTP/1.1\r\nHost: x\r\n\r\n");
    EXPECT_EQ(client.read()->status, 200);
    EXPECT_EQ(client.read()->status, 200);
}

TEST(Http, half_a_request_is_dropped_without_an_answer) {
    TestServer test;
    RawClient client(test.port);
    client.send("POST /v1/completions HTTP/1.1\r\nContent-Length: 100\r\n\r\n{");
    client.close_writing();
    EXPECT_EQ(client.read_all(), "");
}

TEST(Http, a_client_that_only_closed_its_sending_side_still_gets_what_is_ready) {
    TestServer test;
    RawClient client(test.port);
    client.get("/health");
    client.close_writing();
    EXPECT_EQ(client.read()->status, 200);
    EXPECT_TRUE(client.closed());
}

TEST(Http, connection_close_is_obeyed) {
    TestServer test;
    RawClient client(test.port);
    client.get("/health", "Connection: close\r\n");
    EXPECT_EQ(client.read()->header("connection"), "close");
    EXPECT_TRUE(client.closed());
}

TEST(Http, an_old_client_is_served_and_closed) {
    TestServer test(say("Hi"));
    RawClient client(test.port);
    client.send("GET /health HTTP/1.0\r\n\r\n");
    EXPECT_EQ(client.read()->status, 200);
    EXPECT_TRUE(client.closed());
    RawClient stream(test.port);
    stream.send("POST /v1/chat/completions HTTP/1.0\r\nContent-Length: " + std::to_string(strlen(kChatStream)) +
                "\r\n\r\n" + kChatStream);
    const std::string all = stream.read_all();
    EXPECT_EQ(all.find("Transfer-Encoding"), std::string::npos);
    EXPECT_TRUE(all.ends_with("data: [DONE]\n\n")) << all;
}

TEST(Http, the_log_has_a_line_per_answer) {
    TestServer test;
    RawClient client(test.port);
    client.get("/nothing?x=1");
    const auto response = client.read();
    EXPECT_EQ(test.log(), (std::vector<std::string>{"GET /nothing 404 0 ms " + response->header("x-request-id")}));
}

}  // namespace
}  // namespace cairn
