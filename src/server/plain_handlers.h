// The routes that are answered at once, without the engine. The table that names them is routes.cc.
//
// Threads: any.
#pragma once

#include <string_view>

#include "server/reply.h"
#include "server/request_head.h"

namespace cairn {

struct ServerContext;

[[nodiscard]] Reply handle_models(const ServerContext &context, const RequestHead &head, std::string_view parameter);
/// `id`: the model's name; 404 for any other than the one that is served.
[[nodiscard]] Reply handle_model(const ServerContext &context, const RequestHead &head, std::string_view id);
[[nodiscard]] Reply handle_health(const ServerContext &context, const RequestHead &head, std::string_view parameter);
[[nodiscard]] Reply handle_metrics(const ServerContext &context, const RequestHead &head, std::string_view parameter);
[[nodiscard]] Reply handle_home(const ServerContext &context, const RequestHead &head, std::string_view parameter);

}  // namespace cairn
