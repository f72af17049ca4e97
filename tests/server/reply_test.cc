#include "server/reply.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/error_table.h"

namespace cairn {
namespace {

constexpr std::int64_t kTime = 784'111'777;  // the example of RFC 9110, 5.6.7

TEST(Reply, the_head_of_a_whole_answer) {
    Reply reply;
    reply.headers.emplace_back("x-request-id", "7");
    reply.body = "{}";
    EXPECT_EQ(head_text(reply, {.keep_alive = true}, kTime),
              "HTTP/1.1 200 OK\r\nServer: cairn\r\nDate: Sun, 06 Nov 1994 08:49:37 GMT\r\nConnection: keep-alive\r\n"
              "Content-Type: application/json; charset=utf-8\r\nContent-Length: 2\r\nx-request-id: 7\r\n\r\n");
}

TEST(Reply, a_stream_is_chunked_and_has_no_length) {
    const std::string head = head_text(Reply{}, {.keep_alive = true, .chunked = true}, kTime);
    EXPECT_NE(head.find("Transfer-Encoding: chunked\r\n"), std::string::npos);
    EXPECT_EQ(head.find("Content-Length"), std::string::npos);
}

TEST(Reply, an_old_client_gets_its_stream_without_chunks) {
    const std::string head = head_text(Reply{}, {.http_1_0 = true, .keep_alive = false, .chunked = true}, kTime);
    EXPECT_EQ(head.find("Transfer-Encoding"), std::string::npos);
    EXPECT_EQ(head.find("Content-Length"), std::string::npos);
    EXPECT_NE(head.find("Connection: close\r\n"), std::string::npos);
}

TEST(Reply, no_content_has_neither_type_nor_length) {
    const std::string head = head_text(Reply{.status = 204, .content_type = "", .headers = {}, .body = {}}, {}, kTime);
    EXPECT_EQ(head,
              "HTTP/1.1 204 No Content\r\nServer: cairn\r\nDate: Sun, 06 Nov 1994 08:49:37 GMT\r\n"
              "Connection: close\r\n\r\n");
}

TEST(Reply, chunks) {
    EXPECT_EQ(chunk_text("a"), "1\r\na\r\n");
    EXPECT_EQ(chunk_text(std::string(26, 'x')), "1a\r\n" + std::string(26, 'x') + "\r\n");
}

TEST(Reply, every_kind_of_error_has_the_status_of_the_table) {
    for (const ErrorRow &row : kErrorTable) {
        const Reply reply = error_reply(Error{row.code, "It failed."});
        EXPECT_EQ(reply.status, row.http_status) << row.name;
        const auto error = nlohmann::json::parse(reply.body).at("error");
        EXPECT_EQ(error.at("message"), "It failed.");
        EXPECT_EQ(error.at("type"), row.openai_type);
        EXPECT_EQ(error.at("code"), row.name);
        EXPECT_EQ(reply.headers.empty(), row.http_status != 503) << row.name;
    }
}

TEST(Reply, what_is_out_of_room_says_when_to_try_again) {
    const Reply reply = error_reply(Error{ErrorCode::capacity, "Full."});
    EXPECT_EQ(reply.headers, (Headers{{"Retry-After", "1"}}));
    for (const auto &[seconds, header] : {std::pair{0.0, "1"}, {1.0, "1"}, {1.2, "2"}, {59.5, "60"}, {1e9, "60"}}) {
        const Reply later = error_reply(Error{ErrorCode::capacity, "Full."}, seconds);
        EXPECT_EQ(later.headers, (Headers{{"Retry-After", header}})) << seconds;
    }
}

TEST(Reply, a_message_may_quote_bytes_that_are_not_text) {
    const Reply reply = error_reply(404, "t", "c", "there is no \xff");
    EXPECT_EQ(nlohmann::json::parse(reply.body).at("error").at("message"), "there is no \xef\xbf\xbd");
}

}  // namespace
}  // namespace cairn
