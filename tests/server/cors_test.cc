#include "server/cors.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace cairn {
namespace {

std::string value_of(const Headers &headers, std::string_view name) {
    const auto found = std::find_if(headers.begin(), headers.end(), [&](const auto &h) { return h.first == name; });
    return found == headers.end() ? "" : found->second;
}

TEST(Cors, a_request_without_origin_gets_no_headers) {
    EXPECT_TRUE(cors_headers(RequestHead{}).empty());
}

TEST(Cors, the_origin_is_allowed_by_name) {
    RequestHead head;
    head.origin = "https://page.example";
    EXPECT_EQ(value_of(cors_headers(head), "Access-Control-Allow-Origin"), "https://page.example");
    EXPECT_EQ(value_of(cors_headers(head), "Vary"), "Origin");
    EXPECT_NE(value_of(cors_headers(head), "Access-Control-Expose-Headers").find("x-cairn-cache"), std::string::npos);
}

TEST(Cors, a_preflight_allows_what_was_asked_for) {
    RequestHead head;
    head.asked_headers = "authorization, x-stainless-os";
    const Reply reply = preflight_reply(head, "POST, OPTIONS");
    EXPECT_EQ(reply.status, 204);
    EXPECT_EQ(value_of(reply.headers, "Access-Control-Allow-Headers"), "authorization, x-stainless-os");
    EXPECT_EQ(value_of(reply.headers, "Access-Control-Allow-Methods"), "POST, OPTIONS");
}

TEST(Cors, a_preflight_that_asks_for_no_headers_allows_the_usual_ones) {
    EXPECT_EQ(value_of(preflight_reply(RequestHead{}, "GET").headers, "Access-Control-Allow-Headers"),
              "Authorization, Content-Type");
}

}  // namespace
}  // namespace cairn
