// BenchServer: what a bench asks an OpenAI-compatible server beside its questions.
//
//     auto server = BenchServer::find({"127.0.0.1", 8080, ""});
//     if (!server) ...                       // nobody is there
//     server->model();                       // for the requests
//     Units prompt = server->units_of(history, "");
//
// Where the server has llama-server's /apply-template and /tokenize, texts are counted in its own tokens, else in the
// characters of bench/conversation.h's plain_rendering.
//
// Threads: one. Errors: io where the server does not answer, with what to do.
#pragma once

#include <string>

#include "bench/conversation.h"
#include "bench/ideal.h"
#include "env/env.h"
#include "server/http_client.h"

namespace cairn {

class BenchServer {
public:
    /// Asks /v1/models, /props and the two routes above.
    [[nodiscard]] static Result<BenchServer> find(HttpTarget target);

    [[nodiscard]] const HttpTarget &target() const { return target_; }
    [[nodiscard]] const std::string &name() const { return name_; }    ///< "llama-server b1234"; may be empty
    [[nodiscard]] const std::string &model() const { return model_; }  ///< may be empty
    [[nodiscard]] bool counts_tokens() const { return counts_tokens_; }

    /// The prompt that the model sees for `history`, and `answer` behind it.
    [[nodiscard]] Result<Units> units_of(const Messages &history, const std::string &answer) const;
    /// A token that a text of nothing else is read back as. unsupported where the server does not say, or has none.
    [[nodiscard]] Result<std::uint32_t> steady_token() const;
    /// Waits until GET /health says 200.
    [[nodiscard]] Status wait_until_healthy(double timeout_s, Env &env) const;

private:
    BenchServer() = default;
    [[nodiscard]] Result<Units> tokens_of(const Messages &history, const std::string &answer) const;

    HttpTarget target_;
    std::string name_;
    std::string model_;
    bool counts_tokens_ = false;
};

}  // namespace cairn
