#include "server/routes.h"

#include <gtest/gtest.h>

#include <set>

namespace cairn {
namespace {

std::string_view path_matched(std::string_view method, std::string_view path) {
    const RouteMatch match = match_route(method, path);
    return match.route == nullptr ? "" : match.route->path;
}

TEST(Routes, every_row_is_found_by_its_own_path_and_its_alias) {
    for (const Route &route : routes()) {
        if (route.path.find('{') != std::string_view::npos) continue;
        EXPECT_EQ(match_route(route.method, route.path).route, &route) << route.path;
        if (!route.alias.empty()) {
            EXPECT_EQ(match_route(route.method, route.alias).route, &route) << route.alias;
        }
    }
}

TEST(Routes, no_two_rows_share_a_path) {
    std::set<std::string_view> seen;
    for (const Route &route : routes()) {
        EXPECT_TRUE(seen.insert(route.path).second) << route.path;
        if (!route.alias.empty()) {
            EXPECT_TRUE(seen.insert(route.alias).second) << route.alias;
        }
    }
}

TEST(Routes, head_goes_where_get_goes_and_nowhere_else) {
    EXPECT_EQ(path_matched("HEAD", "/health"), "/health");
    EXPECT_EQ(path_matched("HEAD", "/v1/completions"), "");
}

TEST(Routes, a_wrong_method_is_told_what_the_path_takes) {
    EXPECT_EQ(match_route("GET", "/v1/completions").allowed, "POST, OPTIONS");
    EXPECT_EQ(match_route("POST", "/v1/models").allowed, "GET, HEAD, OPTIONS");
}

TEST(Routes, an_unknown_path_takes_nothing) {
    EXPECT_EQ(match_route("GET", "/v1/nothing").allowed, "");
    EXPECT_EQ(match_route("GET", "/v1/completions/").allowed, "");
    EXPECT_EQ(match_route("GET", "").allowed, "");
    EXPECT_EQ(match_route("GET", "/V1/models").allowed, "");
}

TEST(Routes, the_rest_of_a_models_path_is_its_id_slashes_and_escapes_included) {
    EXPECT_EQ(match_route("GET", "/v1/models/org/name").parameter, "org/name");
    EXPECT_EQ(match_route("GET", "/models/a%20b%2Fc").parameter, "a b/c");
    EXPECT_EQ(path_matched("GET", "/v1/models/"), "");
}

}  // namespace
}  // namespace cairn
