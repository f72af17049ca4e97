// THE route table: every path the server answers, once (routes.cc has the rows).
//
//     RouteMatch match = match_route("GET", "/v1/models/demo");
//     if (match.route) ...  match.parameter == "demo"
//     else if (!match.allowed.empty()) 405 else 404
//
// A path that ends in "{...}" takes any non-empty rest. HEAD goes wherever GET does.
// Thread rule: constants and pure functions.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "api/api.h"
#include "server/admin_routes.h"
#include "server/reply.h"
#include "server/request_head.h"

namespace cairn {

struct ServerContext;

/// Answers at once. `parameter`: what stands for "{...}", decoded.
using PlainHandler = Reply (*)(const ServerContext &context, const RequestHead &head, std::string_view parameter);

/// Answers from the body alone, on a thread that may take its time.
using TextHandler = Result<std::string> (*)(std::string_view body, const ApiContext &context);

/// Who may ask.
enum class Access : std::uint8_t {
    open,   ///< anybody
    key,    ///< who has the API key, where there is one
    admin,  ///< who has the admin token or the API key; there at all only where the server has a CacheAdmin
};

struct Route {
    std::string_view method;
    std::string_view path;
    std::string_view alias;  ///< the same under another path, as llama-server has it; or empty
    /// A CallKind: the body is a call for the engine.
    std::variant<PlainHandler, CallKind, TextHandler, AdminHandler> handler;
    Access access;
    std::string_view help;
};

struct RouteMatch {
    const Route *route = nullptr;
    std::string parameter;
    bool is_admins = false;  ///< the path is one of Access::admin, whatever the method
    std::string allowed;     ///< methods the path takes, "GET, HEAD, OPTIONS"; empty for an unknown path
};

[[nodiscard]] std::span<const Route> routes() noexcept;
[[nodiscard]] RouteMatch match_route(std::string_view method, std::string_view path);

}  // namespace cairn
