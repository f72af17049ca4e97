#include "app/bench_arguments.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "bench/report_json.h"
#include "tests/support/temp_folder.h"

namespace cairn {
namespace {

using ::testing::HasSubstr;

TEST(BenchArguments, UrlsNameAnAddressOrLocalhost) {
    const auto local = parse_server_url("http://localhost:8080/v1", "key");
    ASSERT_TRUE(local.has_value()) << local.error().what;
    EXPECT_EQ(local->host, "127.0.0.1");
    EXPECT_EQ(local->port, 8080);
    EXPECT_EQ(local->token, "key");
    EXPECT_EQ(parse_server_url("http://10.0.0.1/", "")->port, 80);
    EXPECT_EQ(parse_server_url("http://[::1]:99", "")->host, "::1");
    EXPECT_EQ(parse_server_url("http://[::1]:99", "")->port, 99);
    for (const char *url :
         {"", "127.0.0.1:8080", "https://127.0.0.1", "http://", "http://example.org:80", "http://127.0.0.1:0",
          "http://127.0.0.1:x", "http://127.0.0.1:80/api", "http://[::1", "http://["})
        EXPECT_THAT(parse_server_url(url, "").error().what, HasSubstr("http://HOST:PORT")) << url;
}

TEST(BenchArguments, WorkloadsAreBuiltInOnesOrFiles) {
    TempFolder folder;
    const std::string path = folder.path() + "/mine.json";
    std::ofstream(path) << R"({"name": "mine", "about": "a", "stages": [{"restart": true}]})";
    const auto chosen = find_workloads(posix_file_system(), {"edits", path});
    ASSERT_TRUE(chosen.has_value()) << chosen.error().what;
    EXPECT_EQ(chosen->at(0).name, "edits");
    EXPECT_EQ(chosen->at(1).name, "mine");
    EXPECT_THAT(find_workloads(posix_file_system(), {"edit"}).error().what, HasSubstr("concurrent, edits"));
}

TEST(BenchArguments, EarlierRunsHaveTheNameGivenOrTheFiles) {
    TempFolder folder;
    std::ofstream(folder.path() + "/a.json") << run_json({});
    const auto runs = read_runs(posix_file_system(), {"one=" + folder.path() + "/a.json", folder.path() + "/a.json"});
    ASSERT_TRUE(runs.has_value()) << runs.error().what;
    EXPECT_EQ(runs->at(0).name, "one");
    EXPECT_EQ(runs->at(1).name, "a");
    EXPECT_THAT(read_runs(posix_file_system(), {"b=" + folder.path() + "/b.json"}).error().what, HasSubstr("b.json"));
}

}  // namespace
}  // namespace cairn
