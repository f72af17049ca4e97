#include "app/running_cache.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/error_table.h"
#include "base/json_text.h"

namespace cairn {
namespace {

using Json = nlohmann::json;

/// Most things are done between two steps of the engine, which take seconds at worst.
constexpr double kSoonSeconds = 10;
/// Writing an archive's files; computing a long text behind others' requests.
constexpr double kImportSeconds = 1800;
constexpr double kWarmSeconds = 6 * 3600;
constexpr int kGood = 200;

Error error_in(const HttpReply &reply) {
    Error error{ErrorCode::internal, "the server answers with status " + std::to_string(reply.status)};
    const Json json = Json::parse(reply.body, nullptr, false);
    if (!json.is_object() || !json.contains("error") || !json["error"].is_object()) return error;
    error.what = json["error"].value("message", error.what);
    const std::string name = json["error"].value("code", "");
    const auto row =
        std::find_if(kErrorTable.begin(), kErrorTable.end(), [&](const ErrorRow &r) { return name == r.name; });
    if (row != kErrorTable.end()) error.code = row->code;
    return error;
}

/// What to do about a server that does not answer. Its LOCK is held, so the process is there.
Error no_answer(const Error &error, const std::string &holder) {
    const auto digits = holder.find_first_of("0123456789");
    const std::string pid = digits == std::string::npos
                                ? "PID"
                                : holder.substr(digits, holder.find_first_not_of("0123456789", digits) - digits);
    return {error.code,
            fmt::format("{}. It is {}: if it was stopped, `kill -CONT {}` lets it go on; if it is busy, try "
                        "again later; else end it with `kill {}` and ask again",
                        error.what, holder.empty() ? "a process that does not say who it is" : holder, pid, pid)};
}

/// The answer's JSON through `read`.
template <class T, class Read>
Result<T> answer_of(const Result<std::string> &body, Read read) {
    if (!body) return fail(body.error());
    try {
        return read(Json::parse(*body));
    } catch (const std::exception &error) {
        return fail(ErrorCode::internal, "the server's answer is not understood: {}", error.what());
    }
}

}  // namespace

Result<std::string> RunningCache::call(const char *method, const std::string &path, const std::string &body,
                                       double timeout_s) {
    auto reply = http_call(server_, method, "/admin/cache" + path, body, timeout_s);
    if (!reply) return fail(no_answer(reply.error(), holder_));
    if (reply->status != kGood) return fail(error_in(*reply));
    return std::move(reply->body);
}

Result<SnapshotListing> RunningCache::list() {
    const auto body = call("GET", "", "", kSoonSeconds);
    if (!body) return fail(body.error());
    auto listing = parse_snapshot_listing(*body);
    if (listing) listing->directory = directory_;
    return listing;
}

Result<Tokens> RunningCache::tokens_of(std::uint64_t id) {
    return answer_of<Tokens>(call("GET", "/tokens/" + std::to_string(id), "", kSoonSeconds),
                             [](const Json &json) { return json.at("tokens").get<Tokens>(); });
}

Status RunningCache::remove(std::span<const std::uint64_t> ids) {
    const Json body{{"ids", std::vector<std::uint64_t>(ids.begin(), ids.end())}};
    const auto done = call("POST", "/remove", body.dump(), kSoonSeconds);
    return done ? Status{} : fail(done.error());
}

Status RunningCache::keep(std::uint64_t id) {
    const auto done = call("POST", "/keep", Json{{"id", id}}.dump(), kSoonSeconds);
    return done ? Status{} : fail(done.error());
}

Result<ImportReport> RunningCache::import_archive(const std::string &path, const ImportOptions &options) {
    std::error_code ignored;  // the server's working directory is another one
    const std::string whole = std::filesystem::absolute(path, ignored).string();
    const Json body{{"path", whole}, {"any_model", options.any_model}};
    return answer_of<ImportReport>(call("POST", "/import", body.dump(), kImportSeconds), [](const Json &json) {
        return ImportReport{json.at("id").get<std::uint64_t>(), json.at("was_there").get<bool>()};
    });
}

Result<WarmReport> RunningCache::warm(const std::string &text) {
    const std::string body = json_text(Json{{"text", text}});
    return answer_of<WarmReport>(call("POST", "/warm", body, kWarmSeconds), [](const Json &json) {
        return WarmReport{json.at("id").get<std::uint64_t>(), json.at("tokens").get<TokenPos>(),
                          json.at("cached_tokens").get<TokenPos>()};
    });
}

}  // namespace cairn
