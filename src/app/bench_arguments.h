// What the words behind `cairn bench` mean.
//
//     auto target = parse_server_url("http://localhost:8080", "key");       // 127.0.0.1, 8080
//     auto targets = find_targets({"http://[::1]:1", "http://[::1]:2"}, {}, "key");
//     auto workloads = find_workloads(files, {"edits", "mine.json"});       // a built-in one, and a file
//     auto runs = read_runs(files, {"cairn=a.json", "b.json"});             // named "cairn" and "b"
//
// Threads: one. Errors: invalid_argument, or what reading a file says; what was given and what to give is named.
#pragma once

#include <string>
#include <vector>

#include "bench/bench_run.h"
#include "bench/report_html.h"
#include "bench/workload.h"
#include "env/file_system.h"
#include "server/http_client.h"

namespace cairn {

/// "http://HOST:PORT", HOST an address or "localhost"; without a port it is 80. A path behind it must be "/" or "/v1".
[[nodiscard]] Result<HttpTarget> parse_server_url(const std::string &url, const std::string &key);

/// invalid_argument unless `flag` was given once for each server. `what`: what it names, such as "a file".
[[nodiscard]] Status check_one_each(const char *flag, const char *what, std::size_t given, std::size_t servers);

/// A server for each of `urls`. `restarts`: none, or a command for each.
[[nodiscard]] Result<std::vector<BenchTarget>> find_targets(const std::vector<std::string> &urls,
                                                            const std::vector<std::string> &restarts,
                                                            const std::string &key);

/// All built-in workloads where `names` is empty. A name of a built-in one comes before a file of this name.
[[nodiscard]] Result<std::vector<Workload>> find_workloads(FileSystem &files, const std::vector<std::string> &names);

/// Runs under their servers' names; under the URLs where they have none, or the same.
[[nodiscard]] std::vector<NamedRun> named_by_server(std::vector<RunResult> runs);

/// Results of earlier runs, "NAME=FILE" or "FILE".
[[nodiscard]] Result<std::vector<NamedRun>> read_runs(FileSystem &files, const std::vector<std::string> &froms);

}  // namespace cairn
