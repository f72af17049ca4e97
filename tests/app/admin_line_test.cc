#include "app/admin_line.h"

#include <gtest/gtest.h>

#include "tests/support/manual_env.h"

namespace cairn {
namespace {

constexpr const char *kToken = "0123456789abcdef0123456789abcdef";

std::string host_said_for(const std::string &host) {
    const auto target = parse_admin_line("pid 71, cairn serve -m x.gguf\n" + admin_line(host, 8080, kToken));
    if (!target || target->port != 8080 || target->token != kToken) return "?";
    return target->host;
}

TEST(AdminLine, ComesBackAsItWasMade) {
    EXPECT_EQ(admin_line("127.0.0.1", 8080, kToken), std::string("admin http://127.0.0.1:8080 ") + kToken + "\n");
    EXPECT_EQ(host_said_for("127.0.0.1"), "127.0.0.1");
    EXPECT_EQ(host_said_for("192.168.1.7"), "192.168.1.7");
    EXPECT_EQ(host_said_for("::1"), "::1");
}

TEST(AdminLine, EveryAddressAndNamesAreReachedOnThisMachine) {
    for (const char *host : {"0.0.0.0", "::", "localhost", "here.example"})
        EXPECT_EQ(host_said_for(host), "127.0.0.1") << host;
}

TEST(AdminLine, WhatIsNoneOrHalfOfOneIsNothing) {
    const std::string whole = "pid 71, cairn serve\n" + admin_line("127.0.0.1", 8080, kToken);
    EXPECT_TRUE(parse_admin_line(whole).has_value());
    EXPECT_TRUE(parse_admin_line(whole.substr(0, whole.size() - 1)).has_value()) << "the line break may be missing";
    for (std::size_t size = 0; size + 1 < whole.size(); ++size)
        EXPECT_FALSE(parse_admin_line(whole.substr(0, size)).has_value()) << whole.substr(0, size);
    for (const char *bad : {"x\nadmin http://127.0.0.1 0123456789abcdef0123456789abcdef",
                            "x\nadmin http://127.0.0.1:0 0123456789abcdef0123456789abcdef",
                            "x\nadmin http://127.0.0.1:99999 0123456789abcdef0123456789abcdef",
                            "x\nadmin https://127.0.0.1:80 0123456789abcdef0123456789abcdef",
                            "admin http://127.0.0.1:80 0123456789abcdef0123456789abcdef"}) {
        EXPECT_FALSE(parse_admin_line(bad).has_value()) << bad;
    }
}

TEST(AdminLine, TokensAreOf128BitsAndDiffer) {
    ManualEnv env;
    const std::string token = make_admin_token(env);
    EXPECT_EQ(token.size(), 32u);
    EXPECT_EQ(token.find_first_not_of("0123456789abcdef"), std::string::npos);
    EXPECT_NE(token, make_admin_token(env));
}

}  // namespace
}  // namespace cairn
