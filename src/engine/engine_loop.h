// EngineLoop: what an engine does, one step at a time, on whatever thread calls it. Engine gives it a thread and a
// queue; tests drive it by hand.
//
//     EngineLoop loop(backend, cache, config, env, metrics);
//     loop.add(id, request, events);
//     while (loop.step()) {}
//
// One step: admit -> plan (scheduler.h) -> make room -> run -> commit. Admission looks the prompt up and restores;
// commit publishes the checkpoints that were reached and samples. A step that cannot get room changes nothing: parked
// snapshots go first, then the youngest request is preempted (its state is published, so that it resumes without
// recomputing).
//
// Ownership: borrows backend and cache. Threads: one. Errors: per request, by its `failed` event.
#pragma once

#include <deque>
#include <list>
#include <memory>
#include <vector>

#include "cache/prefix_cache.h"
#include "engine/active_request.h"
#include "engine/engine.h"
#include "engine/scheduler.h"
#include "env/env.h"
#include "metrics/metrics.h"

namespace cairn {

struct EngineLoopConfig {
    TokenPos checkpoint_interval = 8192;
    TokenPos most_scheduled_tokens = 2048;  ///< of one step
    std::int32_t most_running = 0;          ///< 0: as many as the backend has live sequences
};

class EngineLoop {
public:
    EngineLoop(Backend &backend, PrefixCache *cache, EngineLoopConfig config, Env &env, Metrics &metrics);
    ~EngineLoop();

    void add(RequestId id, Request request, RequestEvents events);
    /// Ends the request as cancelled, keeping the progress of its prefill. Nothing for an unknown id.
    void cancel(RequestId id);
    void cancel_all();
    /// False where there was nothing to compute.
    bool step();
    /// One slice of housekeeping. False where there was none to do.
    bool idle_work();
    /// When step() will have something to do though no request comes; unit: seconds from now. None: never.
    [[nodiscard]] std::optional<double> wakes_in() const;
    /// Writes to disk what is worth keeping over the end of the program, for at most `seconds`.
    void save(double seconds);
    [[nodiscard]] bool idle() const { return waiting_.empty() && running_.empty(); }
    [[nodiscard]] EngineStats stats() const;

private:
    using RequestList = std::list<ActiveRequest>;

    void admit();
    [[nodiscard]] bool caches(const ActiveRequest &request) const { return cache_ != nullptr && request.request.cache; }
    [[nodiscard]] bool has_room_for(const ActiveRequest &request) const;
    void start(ActiveRequest &request);
    void look_up(ActiveRequest &request);
    void prepare_sampler(ActiveRequest &request);
    [[nodiscard]] std::vector<ActiveRequest *> active();
    [[nodiscard]] Status run_plan(const std::vector<Slice> &plan, const std::vector<ActiveRequest *> &requests);
    [[nodiscard]] bool make_room(TokenPos tokens);
    void preempt_youngest();
    void commit(const std::vector<Slice> &plan, const std::vector<ActiveRequest *> &requests);
    void commit_token(ActiveRequest &request, std::span<const float> logits);
    void publish(ActiveRequest &request, CheckpointKind kind);
    void finish(ActiveRequest &request, FinishReason reason);
    void fail_request(ActiveRequest &request, const Error &error);
    void fail_all(const std::vector<ActiveRequest *> &requests, const Error &error);
    void leave(ActiveRequest &request);
    void erase_gone();
    void count_reuse(const ActiveRequest &request);
    void update_gauges();

    Backend &backend_;
    PrefixCache *cache_;
    EngineLoopConfig config_;
    Env &env_;
    Metrics &metrics_;
    std::vector<std::pair<Token, float>> no_end_bias_;  ///< forbids every token that ends a generation
    RequestList waiting_;
    RequestList running_;  ///< in order of arrival
    std::vector<SeqId> free_sequences_;
    bool preempted_ = false;       ///< a request was, and no step has run since
    std::vector<RequestId> gone_;  ///< ended within this step, to be taken out of the lists
};

}  // namespace cairn
