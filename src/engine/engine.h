// Engine: takes requests from any thread, computes them on one thread of its own, never computes a cached prefix twice.
//
//     Engine engine({std::move(backend), std::move(cache), config, env});
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

#include "base/strong_id.h"
#include "cairn/config.h"
#include "cairn/error.h"
#include "cairn/request.h"
#include "model/backend.h"

namespace cairn {

class Env;
class Metrics;
class PrefixCache;

using RequestId = StrongId<struct RequestTag>;

struct EngineDependencies {
    std::unique_ptr<Backend> backend;
    std::unique_ptr<PrefixCache> cache;  ///< null: no caching
    EngineConfig config;
    Env &env;
    Metrics &metrics;
};

/// What goes on in an engine right now.
struct EngineStats {
    std::int32_t waiting = 0;
    std::int32_t running = 0;
    std::int32_t live_sequences = 0;  ///< effective number of slots
    TokenPos context = 0;
    TokenPos pool_cells = 0;
    TokenPos cells_used = 0;
    TokenPos scheduled_tokens = 0;   ///< most of one step
    std::int32_t waiting_limit = 0;  ///< further requests are refused
    std::size_t device_bytes = 0;    ///< of parked snapshots
    std::size_t ram_bytes = 0;       ///< of snapshots in RAM
    std::size_t disk_bytes = 0;      ///< of files of the disk tier
    std::size_t snapshots = 0;       ///< that a lookup may find
};

class Engine {
public:
    explicit Engine(EngineDependencies dependencies);
    ~Engine();
    Engine(const Engine &) = delete;
    Engine &operator=(const Engine &) = delete;

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
