#include "server/admin_routes.h"

#include <charconv>
#include <nlohmann/json.hpp>
#include <vector>

namespace cairn {
namespace {

using Json = nlohmann::json;

Reply json_reply(const Json &json) {
    return Reply{.headers = {}, .body = json.dump()};
}

/// Answers `handle(body)`; 400 for a body that is not the JSON it must be.
template <class Handle>
Reply with_json(const std::string &body, Handle handle) {
    try {
        return handle(Json::parse(body));
    } catch (const nlohmann::json::exception &error) {
        return error_reply(
            {ErrorCode::invalid_argument, std::string("the body is not what it must be: ") + error.what()});
    }
}

Reply done_reply(const Status &status) {
    return status ? json_reply(Json::object()) : error_reply(status.error());
}

}  // namespace

Reply handle_cache_list(CacheAdmin &admin, std::string_view, const std::string &) {
    const auto listing = admin.list();
    if (!listing) return error_reply(listing.error());
    return Reply{.headers = {}, .body = to_json(*listing)};
}

Reply handle_cache_tokens(CacheAdmin &admin, std::string_view text, const std::string &) {
    std::uint64_t id = 0;
    const auto parsed = std::from_chars(text.data(), text.data() + text.size(), id);
    if (parsed.ec != std::errc{} || parsed.ptr != text.data() + text.size()) {
        return error_reply({ErrorCode::invalid_argument, "an id of a snapshot is a number"});
    }
    const auto tokens = admin.tokens_of(id);
    if (!tokens) return error_reply(tokens.error());
    return json_reply({{"tokens", *tokens}});
}

Reply handle_cache_remove(CacheAdmin &admin, std::string_view, const std::string &body) {
    return with_json(body, [&admin](const Json &json) {
        return done_reply(admin.remove(json.at("ids").get<std::vector<std::uint64_t>>()));
    });
}

Reply handle_cache_keep(CacheAdmin &admin, std::string_view, const std::string &body) {
    return with_json(body,
                     [&admin](const Json &json) { return done_reply(admin.keep(json.at("id").get<std::uint64_t>())); });
}

Reply handle_cache_warm(CacheAdmin &admin, std::string_view, const std::string &body) {
    return with_json(body, [&admin](const Json &json) {
        const auto report = admin.warm(json.at("text").get<std::string>());
        if (!report) return error_reply(report.error());
        return json_reply({{"id", report->id}, {"tokens", report->tokens}, {"cached_tokens", report->cached_tokens}});
    });
}

Reply handle_cache_import(CacheAdmin &admin, std::string_view, const std::string &body) {
    return with_json(body, [&admin](const Json &json) {
        const ImportOptions options{.any_model = json.value("any_model", false)};
        const auto report = admin.import_archive(json.at("path").get<std::string>(), options);
        if (!report) return error_reply(report.error());
        return json_reply({{"id", report->id}, {"was_there", report->was_there}});
    });
}

}  // namespace cairn
