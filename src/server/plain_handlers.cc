#include "server/plain_handlers.h"

#include <fmt/format.h>

#include <iterator>
#include <nlohmann/json.hpp>
#include <string>

#include "server/routes.h"
#include "server/server_context.h"

namespace cairn {

Reply handle_models(const ServerContext &context, const RequestHead &, std::string_view) {
    return Reply{.headers = {}, .body = models_body(context.api, context.started_unix_s)};
}

Reply handle_model(const ServerContext &context, const RequestHead &, std::string_view id) {
    const auto list = nlohmann::json::parse(models_body(context.api, context.started_unix_s));
    for (const auto &model : list.at("data")) {
        if (model.at("id").get_ref<const std::string &>() == id) return Reply{.headers = {}, .body = model.dump()};
    }
    return error_reply(404, "invalid_request_error", "model_not_found",
                       fmt::format("the model \"{}\" is not served here: use \"{}\"", id, context.api.model_name));
}

Reply handle_health(const ServerContext &, const RequestHead &, std::string_view) {
    return Reply{.headers = {}, .body = R"({"status":"ok"})"};
}

Reply handle_metrics(const ServerContext &context, const RequestHead &, std::string_view) {
    return Reply{.content_type = "text/plain; version=0.0.4; charset=utf-8",
                 .headers = {},
                 .body = context.metrics.prometheus_text()};
}

Reply handle_home(const ServerContext &context, const RequestHead &head, std::string_view) {
    std::string text = fmt::format("cairn serves {}\n\n", context.api.model_name);
    for (const Route &route : routes()) {
        fmt::format_to(std::back_inserter(text), "{:<4} {:<24} {}\n", route.method, route.path, route.help);
    }
    const std::string here =
        head.host.empty() ? fmt::format("{}:{}", context.config.host, context.config.port) : head.host;
    fmt::format_to(std::back_inserter(text),
                   "\ncurl http://{}/v1/chat/completions "
                   "-d '{{\"messages\": [{{\"role\": \"user\", \"content\": \"Hello\"}}]}}'\n",
                   here);
    return Reply{.content_type = "text/plain; charset=utf-8", .headers = {}, .body = text};
}

}  // namespace cairn
