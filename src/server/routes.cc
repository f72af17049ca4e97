#include "server/routes.h"

#include <array>

#include "api/text_calls.h"
#include "server/plain_handlers.h"

namespace cairn {
namespace {

constexpr std::array<Route, 16> kRoutes{{
    {"POST", "/v1/chat/completions", "/chat/completions", CallKind::chat, Access::key,
     "Answers a conversation, whole or as a stream of server-sent events."},
    {"POST", "/v1/completions", "/completions", CallKind::completion, Access::key,
     "Continues a text or an array of token ids, whole or as a stream."},
    {"POST", "/tokenize", "", &tokenize_call, Access::key, "The tokens of a text."},
    {"POST", "/detokenize", "", &detokenize_call, Access::key, "The text of tokens."},
    {"POST", "/apply-template", "", &apply_template_call, Access::key, "The prompt that a conversation becomes."},
    {"GET", "/v1/models", "/models", &handle_models, Access::key, "Lists the model that is served."},
    {"GET", "/v1/models/{id}", "/models/{id}", &handle_model, Access::key, "Describes the model that is served."},
    {"GET", "/health", "/v1/health", &handle_health, Access::open, "Says whether the server takes calls."},
    {"GET", "/metrics", "", &handle_metrics, Access::key, "Counters and gauges in Prometheus' text format."},
    {"GET", "/", "", &handle_home, Access::open, "This page."},
    {"GET", "/admin/cache", "", &handle_cache_list, Access::admin, "For `cairn cache`: what is cached."},
    {"GET", "/admin/cache/tokens/{id}", "", &handle_cache_tokens, Access::admin, "The prefix of a snapshot."},
    {"POST", "/admin/cache/remove", "", &handle_cache_remove, Access::admin, "Removes snapshots."},
    {"POST", "/admin/cache/keep", "", &handle_cache_keep, Access::admin, "Has a snapshot written to disk."},
    {"POST", "/admin/cache/warm", "", &handle_cache_warm, Access::admin, "Computes a text and keeps its state."},
    {"POST", "/admin/cache/import", "", &handle_cache_import, Access::admin, "Takes in an archive."},
}};

/// Whether `path` is `pattern`; `rest` becomes what stands for "{...}".
bool fits(std::string_view pattern, std::string_view path, std::string_view &rest) {
    if (pattern.empty()) return false;
    const auto brace = pattern.find('{');
    if (brace == std::string_view::npos) return path == pattern;
    if (path.size() <= brace || !path.starts_with(pattern.substr(0, brace))) return false;
    rest = path.substr(brace);
    return true;
}

bool takes(const Route &route, std::string_view method) {
    return method == route.method || (method == "HEAD" && route.method == "GET");
}

}  // namespace

std::span<const Route> routes() noexcept {
    return kRoutes;
}

RouteMatch match_route(std::string_view method, std::string_view path) {
    RouteMatch match;
    for (const Route &route : kRoutes) {
        std::string_view rest;
        if (!fits(route.path, path, rest) && !fits(route.alias, path, rest)) continue;
        match.is_admins = match.is_admins || route.access == Access::admin;
        match.allowed += route.method;
        match.allowed += route.method == "GET" ? ", HEAD, " : ", ";
        if (match.route == nullptr && takes(route, method)) {
            match.route = &route;
            match.parameter = percent_decoded(rest);
        }
    }
    if (!match.allowed.empty()) match.allowed += "OPTIONS";
    return match;
}

}  // namespace cairn
