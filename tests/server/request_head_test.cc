#include "server/request_head.h"

#include <gtest/gtest.h>

#include <string>

namespace cairn {
namespace {

RequestHead parsed(const std::string &text) {
    RequestParser parser;
    NetError error;
    parser.put(asio::buffer(text), error);
    EXPECT_FALSE(error) << error.message();
    EXPECT_TRUE(parser.is_header_done());
    return head_of(parser);
}

TEST(RequestHead, a_path_has_no_query_and_no_host) {
    EXPECT_EQ(path_of("/a/b?x=1#y"), "/a/b");
    EXPECT_EQ(path_of("http://host:80/a?x"), "/a");
    EXPECT_EQ(path_of("http://host"), "/");
    EXPECT_EQ(path_of("*"), "*");
    EXPECT_EQ(path_of(""), "");
    EXPECT_EQ(path_of("?x"), "");
}

TEST(RequestHead, escapes_are_undone_and_broken_ones_stay) {
    EXPECT_EQ(percent_decoded("a%2fb%2F"), "a/b/");
    EXPECT_EQ(percent_decoded("%"), "%");
    EXPECT_EQ(percent_decoded("%2"), "%2");
    EXPECT_EQ(percent_decoded("%zz%4"), "%zz%4");
    EXPECT_EQ(percent_decoded("%+1"), "%+1");
    EXPECT_EQ(percent_decoded("%25%32%30"), "%20");
}

TEST(RequestHead, names_of_headers_have_any_case) {
    const RequestHead head = parsed(
        "POST /x HTTP/1.1\r\nhOsT: h\r\nAUTHORIZATION: Bearer k\r\nx-api-key: j\r\norigin: o\r\n"
        "Content-Length: 2\r\nexpect: 100-continue\r\n\r\n");
    EXPECT_EQ(head.method, "POST");
    EXPECT_EQ(head.path, "/x");
    EXPECT_EQ(head.host, "h");
    EXPECT_EQ(head.authorization, "Bearer k");
    EXPECT_EQ(head.api_key, "j");
    EXPECT_EQ(head.origin, "o");
    EXPECT_EQ(head.expect, "100-continue");
    EXPECT_TRUE(head.has_body);
    EXPECT_TRUE(head.keep_alive);
    EXPECT_FALSE(head.http_1_0);
}

TEST(RequestHead, what_has_a_body) {
    EXPECT_FALSE(parsed("GET / HTTP/1.1\r\n\r\n").has_body);
    EXPECT_FALSE(parsed("POST / HTTP/1.1\r\nContent-Length: 0\r\n\r\n").has_body);
    EXPECT_TRUE(parsed("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n").has_body);
}

TEST(RequestHead, old_clients_keep_a_connection_only_when_they_say_so) {
    EXPECT_FALSE(parsed("GET / HTTP/1.0\r\n\r\n").keep_alive);
    EXPECT_TRUE(parsed("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n").keep_alive);
    EXPECT_FALSE(parsed("GET / HTTP/1.1\r\nConnection: close\r\n\r\n").keep_alive);
}

}  // namespace
}  // namespace cairn
