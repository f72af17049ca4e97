// EngineThread: takes requests from any thread, computes them on one thread of its own, never computes a cached prefix
// twice. Engines and generators (cairn/engine.h) and the server stand on it.
//
//     EngineThread engine({std::move(backend), std::move(cache), config, env});
//     auto id = engine.submit(std::move(request), {.started = ..., .delta = ..., .finished = ..., .failed = ...});
//     engine.cancel(*id);
//
// A step of the loop: plan (scheduler.h, pure) -> make room -> run -> commit. Decode goes first, then prefill chunks,
// cut at planned checkpoints whatever the chunk width.
//
// Ownership: owns backend and cache; requests are owned by the engine until their last event.
// Threads: submit, cancel, with_cache, stats and the const facts from any thread. Events are called on the engine's
// thread, in the order request.h gives; after the destructor (which cancels what is left and joins) none comes.
// Errors: submit refuses at once what can never run (empty or foreign tokens, a prompt longer than the context); later
// failures arrive as the `failed` event. A cache that fails costs time, never an answer.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "cairn/config.h"
#include "cairn/engine_stats.h"
#include "cairn/error.h"
#include "cairn/request.h"
#include "model/backend.h"

namespace cairn {

class Env;
class Metrics;
class PrefixCache;

struct EngineDependencies {
    std::unique_ptr<Backend> backend;
    std::unique_ptr<PrefixCache> cache;  ///< null: no caching
    EngineConfig config;
    Env &env;
    Metrics &metrics;
};

class EngineThread {
public:
    explicit EngineThread(EngineDependencies dependencies);
    ~EngineThread();
    EngineThread(const EngineThread &) = delete;
    EngineThread &operator=(const EngineThread &) = delete;

    [[nodiscard]] Result<RequestId> submit(Request request, RequestEvents events);
    /// The request ends with FinishReason::cancelled soon; nothing happens if it has ended or is unknown.
    void cancel(RequestId id);
    /// Takes no more requests; those running end as cancelled once `deadline_s` seconds have passed. Blocks until idle.
    void drain(double deadline_s);
    /// After drain(): writes to disk what is worth keeping over a restart, for at most `seconds`. Blocks. Does nothing
    /// without a disk tier.
    void save(double seconds);

    /// Runs `work` on the engine's thread, between two steps, and waits for it: it should be short. From any other
    /// thread. Errors: unsupported where there is no cache; shutting_down: `work` is not run.
    [[nodiscard]] Status with_cache(std::function<void(PrefixCache &)> work);

    [[nodiscard]] const ModelInfo &model() const;
    [[nodiscard]] const BackendLimits &limits() const;
    [[nodiscard]] const StateLayout &layout() const;
    [[nodiscard]] const Vocabulary &vocabulary() const;
    [[nodiscard]] EngineStats stats() const;

private:
    class Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace cairn
