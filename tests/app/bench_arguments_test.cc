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

TEST(BenchArguments, EachServerHasItsCommandThatRestartsIt) {
    const std::vector<std::string> urls{"http://127.0.0.1:1", "http://127.0.0.1:2"};
    const auto targets = find_targets(urls, {"first", "second"}, "key");
    ASSERT_TRUE(targets.has_value()) << targets.error().what;
    EXPECT_EQ(targets->at(1).http.port, 2);
    EXPECT_EQ(targets->at(1).http.token, "key");
    EXPECT_EQ(targets->at(1).restart_command, "second");
    EXPECT_EQ(find_targets(urls, {}, "")->at(0).restart_command, "");
    EXPECT_THAT(find_targets(urls, {"first"}, "").error().what, HasSubstr("a command for each server"));
    EXPECT_THAT(find_targets({"http://127.0.0.1:1", "nowhere"}, {}, "").error().what, HasSubstr("nowhere"));
}

TEST(BenchArguments, RunsHaveTheServersNameWhereItTellsThemApart) {
    std::vector<RunResult> runs(4);
    runs[0].server = "cairn";
    runs[1].server = "llama-server b1";
    runs[2].server = "cairn";
    for (std::size_t i = 0; i < runs.size(); ++i)
        runs[i].url = "url " + std::to_string(i);
    std::vector<std::string> names;
    for (const NamedRun &named : named_by_server(runs))
        names.push_back(named.name);
    EXPECT_THAT(names, ::testing::ElementsAre("url 0", "llama-server b1", "url 2", "url 3"));
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
