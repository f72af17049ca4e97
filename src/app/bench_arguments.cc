#include "app/bench_arguments.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "bench/builtin_workloads.h"
#include "bench/report_json.h"

namespace cairn {
namespace {

constexpr std::uint16_t kHttpPort = 80;
constexpr std::string_view kScheme = "http://";
constexpr std::size_t kMostResultBytes = std::size_t{256} << 20;
constexpr std::size_t kMostWorkloadBytes = std::size_t{64} << 20;

bool is_address(const std::string &host) {
    const char *const digits = host.find(':') == std::string::npos ? "0123456789." : "0123456789abcdefABCDEF:.";
    return !host.empty() && host.find_first_not_of(digits) == std::string::npos;
}

std::optional<std::uint16_t> parse_port(std::string_view text) {
    std::uint16_t port = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
    if (error != std::errc{} || end != text.data() + text.size() || port == 0) return std::nullopt;
    return port;
}

std::string names_of(const std::vector<Workload> &workloads) {
    std::vector<std::string> names;
    for (const Workload &workload : workloads)
        names.push_back(workload.name);
    return fmt::format("{}", fmt::join(names, ", "));
}

Result<Workload> read_workload(FileSystem &files, const std::string &path, const std::vector<Workload> &builtin) {
    const auto text = read_text(files, path, kMostWorkloadBytes);
    if (text) return parse_workload(path, *text);
    if (text.error().code != ErrorCode::not_found) return fail(text.error());
    return fail(ErrorCode::not_found, "--workload {}: there is no such file, and the built-in ones are {}", path,
                names_of(builtin));
}

}  // namespace

Result<HttpTarget> parse_server_url(const std::string &url, const std::string &key) {
    const auto wrong = [&](const char *why) {
        return fail(ErrorCode::invalid_argument, "--url {}: {}. Write http://HOST:PORT, such as http://127.0.0.1:8080",
                    url, why);
    };
    if (url.starts_with("https://")) return wrong("https is not spoken here");
    if (!url.starts_with(kScheme)) return wrong("it does not begin with http://");
    std::string_view rest = std::string_view(url).substr(kScheme.size());
    const auto slash = rest.find('/');
    const std::string_view path = slash == std::string_view::npos ? "" : rest.substr(slash);
    if (path != "" && path != "/" && path != "/v1" && path != "/v1/") return wrong("a path is not for it to choose");
    rest = rest.substr(0, slash);
    HttpTarget target{.host = {}, .port = kHttpPort, .token = key};
    const auto host_end = rest.starts_with('[') ? rest.find(']') : rest.find(':');
    const auto colon = rest.find(':', rest.starts_with('[') && host_end != std::string_view::npos ? host_end : 0);
    target.host = rest.starts_with('[') ? rest.substr(1, host_end - 1) : rest.substr(0, host_end);
    if (colon != std::string_view::npos) {
        const auto port = parse_port(rest.substr(colon + 1));
        if (!port) return wrong("its port is no number from 1 to 65535");
        target.port = *port;
    }
    if (target.host == "localhost") target.host = "127.0.0.1";
    if (!is_address(target.host)) return wrong("its host is neither an address nor localhost");
    return target;
}

Status check_one_each(const char *flag, const char *what, std::size_t given, std::size_t servers) {
    if (given == servers) return {};
    return fail(ErrorCode::invalid_argument,
                "{} is given {} times and --url {} times: give {} for each server, in the same order", flag, given,
                servers, what);
}

Result<std::vector<BenchTarget>> find_targets(const std::vector<std::string> &urls,
                                              const std::vector<std::string> &restarts, const std::string &key) {
    if (!restarts.empty()) {
        if (auto each = check_one_each("--restart-with", "a command", restarts.size(), urls.size()); !each)
            return fail(each.error());
    }
    std::vector<BenchTarget> targets;
    for (std::size_t i = 0; i < urls.size(); ++i) {
        auto target = parse_server_url(urls[i], key);
        if (!target) return fail(target.error());
        targets.push_back({urls[i], std::move(*target), restarts.empty() ? "" : restarts[i]});
    }
    return targets;
}

std::vector<NamedRun> named_by_server(std::vector<RunResult> runs) {
    std::map<std::string, int> times;
    for (const RunResult &run : runs)
        ++times[run.server];
    std::vector<NamedRun> named;
    for (RunResult &run : runs) {
        std::string name = run.server.empty() || times[run.server] > 1 ? run.url : run.server;
        named.push_back({std::move(name), std::move(run)});
    }
    return named;
}

Result<std::vector<Workload>> find_workloads(FileSystem &files, const std::vector<std::string> &names) {
    auto builtin = builtin_workloads();
    if (!builtin || names.empty()) return builtin;
    std::vector<Workload> chosen;
    for (const std::string &name : names) {
        const auto found = std::find_if(builtin->begin(), builtin->end(),
                                        [&](const Workload &workload) { return workload.name == name; });
        if (found != builtin->end()) {
            chosen.push_back(*found);
            continue;
        }
        auto read = read_workload(files, name, *builtin);
        if (!read) return fail(read.error());
        chosen.push_back(std::move(*read));
    }
    return chosen;
}

Result<std::vector<NamedRun>> read_runs(FileSystem &files, const std::vector<std::string> &froms) {
    std::vector<NamedRun> runs;
    for (const std::string &from : froms) {
        const auto equals = from.find('=');
        const std::string path = equals == std::string::npos ? from : from.substr(equals + 1);
        const auto text = read_text(files, path, kMostResultBytes);
        if (!text) return fail(text.error());
        auto run = parse_run_json(path, *text);
        if (!run) return fail(run.error());
        runs.push_back(
            {equals == std::string::npos ? std::filesystem::path(path).stem().string() : from.substr(0, equals),
             std::move(*run)});
    }
    return runs;
}

}  // namespace cairn
