// The routes of `cairn cache`, from the client that it uses to what a CacheAdmin is asked.
#include <gtest/gtest.h>

#include "server/http_client.h"
#include "server/net.h"
#include "tests/server/scripted_cache_admin.h"
#include "tests/server/test_server.h"

namespace cairn {
namespace {

using nlohmann::json;

constexpr double kPatience = 30;
constexpr const char *kToken = "0123456789abcdef0123456789abcdef";

class Admin : public testing::Test {
protected:
    explicit Admin(const std::string &api_key = "", bool has_admin = true) {
        ServerConfig config;
        config.port = 0;
        config.api_key = api_key;
        server = std::make_unique<Server>(ServerDependencies{.service = service,
                                                             .api = api.context(),
                                                             .config = config,
                                                             .env = env,
                                                             .metrics = metrics,
                                                             .log = {},
                                                             .cache_admin = has_admin ? &admin : nullptr,
                                                             .admin_token = kToken});
        port = server->start().value();
    }
    HttpReply ask(const std::string &method, const std::string &path, const std::string &body = "",
                  const std::string &token = kToken) {
        const auto reply = http_call({"127.0.0.1", port, token}, method, path, body, kPatience);
        EXPECT_TRUE(reply.has_value()) << reply.error().what;
        return reply.value_or(HttpReply{});
    }

    TestApi api;
    ManualEnv env;
    Metrics metrics;
    ScriptedService service;
    ScriptedCacheAdmin admin;
    std::uint16_t port = 0;
    std::unique_ptr<Server> server;  // goes first: it uses all above
};

class AdminWithKey : public Admin {
protected:
    AdminWithKey() : Admin("the-key") {}
};

class NoAdmin : public Admin {
protected:
    NoAdmin() : Admin("", false) {}
};

TEST_F(Admin, lists_what_is_cached) {
    const HttpReply reply = ask("GET", "/admin/cache");
    EXPECT_EQ(reply.status, 200);
    const auto listing = parse_snapshot_listing(reply.body);
    ASSERT_TRUE(listing.has_value()) << listing.error().what;
    EXPECT_EQ(*listing, admin.listing);
}

TEST_F(Admin, asks_for_the_token) {
    for (const char *token : {"", "0", "0123456789abcdef0123456789abcdee", "the-key"}) {
        const HttpReply reply = ask("GET", "/admin/cache", "", token);
        EXPECT_EQ(reply.status, 401) << token;
        EXPECT_EQ(reply.body.find("acme"), std::string::npos);
    }
    EXPECT_EQ(ask("POST", "/admin/cache/remove", R"({"ids":[3]})", "").status, 401);
    EXPECT_EQ(admin.listing.namespaces[0].snapshots.size(), 2u);
    EXPECT_EQ(ask("GET", "/admin/nothing", "", "").status, 404);
}

TEST_F(AdminWithKey, takes_the_token_or_the_key_and_the_token_opens_nothing_else) {
    EXPECT_EQ(ask("GET", "/admin/cache", "", "the-key").status, 200);
    EXPECT_EQ(ask("GET", "/admin/cache").status, 200);
    EXPECT_EQ(ask("GET", "/admin/cache", "", "").status, 401);
    EXPECT_EQ(ask("GET", "/v1/models").status, 401);
    EXPECT_EQ(ask("GET", "/v1/models", "", "the-key").status, 200);
}

TEST_F(NoAdmin, there_is_nothing_without_a_disk_tier) {
    EXPECT_EQ(ask("GET", "/admin/cache").status, 404);
    EXPECT_EQ(ask("POST", "/admin/cache/remove", R"({"ids":[3]})").status, 404);
    EXPECT_EQ(ask("DELETE", "/admin/cache").status, 404);
}

TEST_F(Admin, removes_what_is_named) {
    EXPECT_EQ(ask("POST", "/admin/cache/remove", R"({"ids":[3]})").status, 200);
    ASSERT_EQ(admin.listing.namespaces[0].snapshots.size(), 1u);
    EXPECT_EQ(admin.listing.namespaces[0].snapshots[0].id, 4u);
    const HttpReply unknown = ask("POST", "/admin/cache/remove", R"({"ids":[3,4]})");
    EXPECT_EQ(unknown.status, 404);
    EXPECT_EQ(json::parse(unknown.body)["error"]["code"], "not_found");
    EXPECT_EQ(admin.listing.namespaces[0].snapshots.size(), 1u);
}

TEST_F(Admin, gives_tokens_keeps_warms_and_imports) {
    EXPECT_EQ(ask("GET", "/admin/cache/tokens/3").body, R"({"tokens":[1,2,3]})");
    EXPECT_EQ(ask("GET", "/admin/cache/tokens/5").status, 404);
    EXPECT_EQ(ask("GET", "/admin/cache/tokens/x").status, 400);
    EXPECT_EQ(ask("POST", "/admin/cache/keep", R"({"id":4})").body, "{}");
    EXPECT_EQ(admin.kept, 4u);
    EXPECT_EQ(ask("POST", "/admin/cache/warm", R"({"text":"Once"})").body,
              R"({"cached_tokens":40,"id":8,"tokens":100})");
    EXPECT_EQ(admin.warmed, "Once");
    EXPECT_EQ(ask("POST", "/admin/cache/import", R"({"path":"/a","any_model":true})").body,
              R"({"id":7,"was_there":true})");
    EXPECT_EQ(admin.imported, "/a any");
}

TEST_F(Admin, a_body_that_is_none_is_a_mistake_of_the_client) {
    for (const char *body : {"", "x", "[]", "{}", R"({"ids":3})", R"({"ids":["a"]})"})
        EXPECT_EQ(ask("POST", "/admin/cache/remove", body).status, 400) << body;
    EXPECT_EQ(ask("PUT", "/admin/cache/remove", "{}").status, 405);
    EXPECT_EQ(admin.listing.namespaces[0].snapshots.size(), 2u);
}

TEST_F(Admin, the_admin_is_stopped_with_the_server) {
    EXPECT_FALSE(admin.stopped);
    server->stop();
    EXPECT_TRUE(admin.stopped);
    const auto reply = http_call({"127.0.0.1", port, kToken}, "GET", "/admin/cache", "", kPatience);
    ASSERT_FALSE(reply.has_value());
    EXPECT_EQ(reply.error().code, ErrorCode::io);
    EXPECT_NE(reply.error().what.find("does not answer"), std::string::npos);
}

TEST(HttpClient, waits_no_longer_than_it_may) {
    // Connections are taken into the backlog, and nobody answers.
    asio::io_context io;
    const tcp::acceptor silent(io, tcp::endpoint(asio::ip::make_address("127.0.0.1"), 0));
    const auto reply = http_call({"127.0.0.1", silent.local_endpoint().port(), ""}, "GET", "/", "", 0.05);
    ASSERT_FALSE(reply.has_value());
    EXPECT_EQ(reply.error().code, ErrorCode::io);
}

}  // namespace
}  // namespace cairn
