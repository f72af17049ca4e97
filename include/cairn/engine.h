// Engine: takes requests for a model from any thread, and never has a prefix computed twice.
//
//     cairn::Engine engine(model, {.name = "summaries"});
//     auto id = engine.submit(std::move(request), {.delta = ..., .finished = ..., .failed = ...});
//     engine.cancel(*id);
//
// Scope: engines of CacheScope::model use what any engine or generator of that scope has computed on the model. One of
// CacheScope::engine shares with none but those of its own name, and finds its own again after a restart.
//
// Ownership: shares the model. The destructor cancels what is left and waits for its last event.
// Threads: every call from any thread. Events come on the model's thread, in the order request.h gives: return soon,
// and call nothing of the engine there but cancel().
// Errors: submit refuses at once what can never run (empty or foreign tokens, a prompt longer than the context) and
// what finds the queue full (ErrorCode::capacity); later failures arrive as the `failed` event.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "cairn/error.h"
#include "cairn/model.h"
#include "cairn/request.h"

namespace cairn {

enum class CacheScope : std::uint8_t { model, engine };

struct EngineOptions {
    std::string name = "engine";  ///< in reports (ReuseReport::engine) and in metrics
    CacheScope scope = CacheScope::model;
};

class Engine {
public:
    explicit Engine(std::shared_ptr<Model> model, EngineOptions options = {});
    ~Engine();
    Engine(const Engine &) = delete;
    Engine &operator=(const Engine &) = delete;

    [[nodiscard]] Result<RequestId> submit(Request request, RequestEvents events);
    /// The request ends with FinishReason::cancelled soon; nothing happens if it has ended or is unknown.
    void cancel(RequestId id);
    [[nodiscard]] const EngineOptions &options() const;
    [[nodiscard]] const std::shared_ptr<Model> &model() const;

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace cairn
