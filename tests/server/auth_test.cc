#include "server/auth.h"

#include <gtest/gtest.h>

namespace cairn {
namespace {

RequestHead with(const std::string &authorization, const std::string &api_key = "") {
    RequestHead head;
    head.authorization = authorization;
    head.api_key = api_key;
    return head;
}

TEST(Auth, without_a_key_everybody_may_ask) {
    EXPECT_TRUE(is_authorized(with(""), ""));
}

TEST(Auth, the_right_key_opens_in_either_header) {
    EXPECT_TRUE(is_authorized(with("Bearer secret"), "secret"));
    EXPECT_TRUE(is_authorized(with("bearer  secret"), "secret"));
    EXPECT_TRUE(is_authorized(with("", "secret"), "secret"));
}

TEST(Auth, anything_else_does_not) {
    for (const char *header : {"", "Bearer", "Bearer ", "Bearer secre", "Bearer secret1", "Bearer Secret", "secret",
                               "Basic secret", "Bearer\rsecret", "Bearer secretsecret"}) {
        EXPECT_FALSE(is_authorized(with(header), "secret")) << header;
    }
    EXPECT_FALSE(is_authorized(with("", "secre"), "secret"));
}

TEST(Auth, equality_is_equality) {
    EXPECT_TRUE(equal_in_constant_time("", ""));
    EXPECT_TRUE(equal_in_constant_time("abc", "abc"));
    EXPECT_FALSE(equal_in_constant_time("abd", "abc"));
    EXPECT_FALSE(equal_in_constant_time("abcabc", "abc"));
    EXPECT_FALSE(equal_in_constant_time("abc", ""));
    EXPECT_FALSE(equal_in_constant_time("", "abc"));
}

}  // namespace
}  // namespace cairn
