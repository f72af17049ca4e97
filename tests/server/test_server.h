// TestServer: a whole server on a free loopback port, over a scripted service and the simulated vocabulary.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "api/api.h"
#include "metrics/metrics.h"
#include "server/server.h"
#include "sim/sim_vocabulary.h"
#include "tests/server/raw_client.h"
#include "tests/server/scripted_service.h"
#include "tests/support/manual_env.h"

namespace cairn {

/// What the formats need, without a model.
struct TestApi {
    SimVocabulary vocabulary{512, false};
    std::unique_ptr<ChatTemplate> chat_template = ChatTemplate::create("chatml", vocabulary).value();
    ModelInfo model{.name = "tiny",
                    .description = "a test's model",
                    .architecture = "sim",
                    .chat_template = "",
                    .file_bytes = 0,
                    .parameters = 0,
                    .trained_context = 4096};

    [[nodiscard]] ApiContext context() const {
        BackendLimits limits;
        limits.context = 4096;
        limits.pool_cells = 8192;
        limits.live_sequences = 4;
        limits.batch_tokens = 512;
        return {vocabulary, *chat_template, model, limits, "tiny"};
    }
};

class TestServer {
public:
    explicit TestServer(ScriptedService::Script script = {}, ServerConfig config = {}, ServerLimits limits = {})
        : service(std::move(script)) {
        config.port = 0;
        server = std::make_unique<Server>(ServerDependencies{.service = service,
                                                             .api = api.context(),
                                                             .config = std::move(config),
                                                             .env = env,
                                                             .metrics = metrics,
                                                             .log = [this](const std::string &line) { note(line); },
                                                             .limits = limits});
        port = server->start().value();
    }

    [[nodiscard]] std::vector<std::string> log() const {
        const std::lock_guard lock(mutex_);
        return lines_;
    }

private:
    void note(const std::string &line) {
        const std::lock_guard lock(mutex_);
        lines_.push_back(line);
    }

    mutable std::mutex mutex_;  // guards lines_
    std::vector<std::string> lines_;

public:
    TestApi api;
    ManualEnv env;
    Metrics metrics;
    ScriptedService service;
    std::uint16_t port = 0;
    std::unique_ptr<Server> server;  // goes first: it uses all above
};

inline constexpr const char *kChat = R"({"messages":[{"role":"user","content":"Hi"}]})";
inline constexpr const char *kChatStream = R"({"stream":true,"messages":[{"role":"user","content":"Hi"}]})";
inline constexpr const char *kChatPath = "/v1/chat/completions";

[[nodiscard]] inline nlohmann::json json_of(const std::optional<RawResponse> &response) {
    return response ? nlohmann::json::parse(response->body, nullptr, false) : nlohmann::json();
}

/// The `data:` lines of a stream.
[[nodiscard]] inline std::vector<std::string> data_of(const std::string &stream) {
    std::vector<std::string> result;
    for (std::size_t at = 0; (at = stream.find("data: ", at)) != std::string::npos;) {
        at += 6;
        const std::size_t end = stream.find("\n\n", at);
        result.push_back(stream.substr(at, end - at));
        if (end == std::string::npos) break;
        at = end;
    }
    return result;
}

}  // namespace cairn
