#include "bench/bench_server.h"

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <thread>
#include <utility>

#include "base/json_text.h"

namespace cairn {
namespace {

using Json = nlohmann::json;

constexpr double kSoonSeconds = 30;
constexpr auto kBetweenLooks = std::chrono::milliseconds(100);
constexpr int kGood = 200;

/// The answer's JSON; discarded where it is another status than 200, or none.
Json answer_of(const Result<HttpReply> &reply) {
    return reply && reply->status == kGood ? Json::parse(reply->body, nullptr, false) : Json(Json::value_t::discarded);
}

std::string text_at(const Json &json, const char *key) {
    const auto found = json.is_object() ? json.find(key) : json.end();
    return found != json.end() && found->is_string() ? found->get<std::string>() : std::string();
}

}  // namespace

Result<BenchServer> BenchServer::find(HttpTarget target) {
    BenchServer server;
    server.target_ = std::move(target);
    const auto models = http_call(server.target_, "GET", "/v1/models", "", kSoonSeconds);
    if (!models) return fail(models.error().code, "{}. Start it, or name another one with --url", models.error().what);
    if (models->status == 401 || models->status == 403)
        return fail(ErrorCode::invalid_argument, "the server wants a key (status {}): give --api-key", models->status);
    const Json listed = answer_of(models);
    if (listed.is_object() && listed.contains("data") && listed["data"].is_array() && !listed["data"].empty()) {
        server.model_ = text_at(listed["data"][0], "id");
        server.name_ = text_at(listed["data"][0], "owned_by");
    }
    const std::string build =
        text_at(answer_of(http_call(server.target_, "GET", "/props", "", kSoonSeconds)), "build_info");
    if (!build.empty()) server.name_ = "llama-server " + build;
    server.counts_tokens_ = server.tokens_of({{"user", "Hello", ""}}, "").has_value();
    return server;
}

Result<Units> BenchServer::tokens_of(const Messages &history, const std::string &answer) const {
    const Json rendered =
        answer_of(http_call(target_, "POST", "/apply-template", messages_body(history), kSoonSeconds));
    const std::string prompt = text_at(rendered, "prompt");
    if (prompt.empty()) return fail(ErrorCode::unsupported, "the server does not show what a prompt becomes");
    const Json asked{{"content", prompt + answer}, {"add_special", true}, {"parse_special", true}};
    const Json counted = answer_of(http_call(target_, "POST", "/tokenize", json_text(asked), kSoonSeconds));
    if (!counted.is_object() || !counted.contains("tokens") || !counted["tokens"].is_array())
        return fail(ErrorCode::unsupported, "the server does not tokenize for clients");
    Units tokens;
    for (const Json &token : counted["tokens"]) {
        if (!token.is_number_integer()) return fail(ErrorCode::unsupported, "the server's tokens are no numbers");
        tokens.push_back(token.get<std::uint32_t>());
    }
    return tokens;
}

Result<Units> BenchServer::units_of(const Messages &history, const std::string &answer) const {
    if (counts_tokens_) return tokens_of(history, answer);
    const std::string text = plain_rendering(history) + answer;
    return Units(text.begin(), text.end());
}

Result<std::uint32_t> BenchServer::steady_token() const {
    constexpr std::size_t kTimes = 12;
    for (const char *word : {" the", "7", "the", "."}) {
        std::string answer;
        for (std::size_t i = 0; i < kTimes; ++i)
            answer += word;
        // Also inside a conversation, where a template may trim it.
        const auto tokens = tokens_of({{"user", "Hello", ""}, {"assistant", answer, ""}, {"user", "Go on", ""}}, "");
        if (!tokens) return fail(tokens.error());
        const auto run = [&](std::uint32_t token) {
            return std::search_n(tokens->begin(), tokens->end(), kTimes, token) != tokens->end();
        };
        const auto found = std::find_if(tokens->begin(), tokens->end(), run);
        if (found != tokens->end()) return *found;
    }
    return fail(ErrorCode::unsupported, "no token of this model stays one when it is repeated");
}

Status BenchServer::wait_until_healthy(double timeout_s, Env &env) const {
    const double until_s = env.now_s() + timeout_s;
    while (true) {
        const auto health = http_call(target_, "GET", "/health", "", kSoonSeconds);
        if (health && health->status == kGood) return {};
        if (env.now_s() >= until_s) {
            return fail(ErrorCode::io, "the server did not come back within {} s: {}", timeout_s,
                        health ? fmt::format("/health says {}", health->status) : health.error().what);
        }
        std::this_thread::sleep_for(kBetweenLooks);
    }
}

}  // namespace cairn
