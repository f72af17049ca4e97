// EngineLoop: what an engine does, one step at a time, on whatever thread calls it. Engine gives it a thread and a
// queue; tests drive it by hand.
//
//     EngineLoop loop(backend, cache, config, env, metrics);
//     loop.add(id, request, events);
//     while (loop.step()) {}
//
// One step: admit -> plan (scheduler.h) -> make room -> run -> commit. Admission looks the prompt up and restores, or
// makes the request wait for another one that is computing the same prefix (prefix_sharing.h); commit publishes the
// checkpoints that were reached, hands shared prefixes over and samples. A step that cannot get room changes nothing:
// parked snapshots go first, then the youngest request is preempted (its state is set aside in RAM, so that it resumes
// without recomputing).
//
// Requests that are sent together come some milliseconds apart. The first of them, if the engine is idle, waits for the
// others for a share of the time that computing it will take, or they would come while a step is under way that goes
// past what they share: a state that cannot be cut is then not to be had where they part.
//
// How wide a step is, by measured pace: `most_token_gap_s` while streams run, but 128 tokens of prompts at least, else
// `most_step_s` or that gap, whichever is more, but 256 tokens: a stream goes on beside a long prompt, and whoever
// comes or leaves is soon noticed.
//
// Ownership: borrows backend and cache. Threads: one. Errors: per request, by its `failed` event.
#pragma once

#include <deque>
#include <list>
#include <memory>
#include <vector>

#include "cache/prefix_cache.h"
#include "engine/active_request.h"
#include "engine/engine_thread.h"
#include "engine/prefix_sharing.h"
#include "engine/scheduler.h"
#include "env/env.h"
#include "metrics/metrics.h"
#include "policy/rate.h"

namespace cairn {

struct EngineLoopConfig {
    TokenPos checkpoint_interval = 8192;
    TokenPos most_scheduled_tokens = 2048;  ///< of one step
    std::int32_t most_running = 0;          ///< 0: as many as the backend has live sequences
    std::int32_t most_waiting = 1024;       ///< Engine refuses more
    double most_token_gap_s = 0.25;         ///< of a running stream, while others prefill
    double most_step_s = 1;
    double most_gather_s = 0;  ///< how long an idle engine lets a prompt wait for others with the same prefix
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
    /// Recounts sequences, lengths, cells and what the cache holds; aborts with context where they disagree.
    void check_invariants() const;

private:
    using RequestList = std::list<ActiveRequest>;

    void admit();
    [[nodiscard]] double end_of_gathering(const ActiveRequest &request) const;
    [[nodiscard]] bool is_gathering();
    [[nodiscard]] bool caches(const ActiveRequest &request) const { return cache_ != nullptr && request.request.cache; }
    [[nodiscard]] bool has_room_for(const ActiveRequest &request) const;
    void start(ActiveRequest &request);
    void begin(ActiveRequest &request);
    void wait_for(ActiveRequest &request, RequestId leader, TokenPos at);
    void plan_cuts(ActiveRequest &request, std::optional<TokenPos> fork) const;
    void resume(ActiveRequest &request, const ReuseReport &report, std::optional<TokenPos> fork);
    [[nodiscard]] std::optional<Tier> adopt(ActiveRequest &request, Lookup lookup);
    [[nodiscard]] std::vector<const ActiveRequest *> possible_leaders(const ActiveRequest &request) const;
    [[nodiscard]] std::optional<SharedPrefix> choose_leader_of(const ActiveRequest &request,
                                                               const std::vector<const ActiveRequest *> &leaders,
                                                               const Lookup &lookup) const;
    [[nodiscard]] bool fork_from(const ActiveRequest &leader, ActiveRequest &request, TokenPos at);
    void hand_over(const ActiveRequest &leader);
    void release_followers(const ActiveRequest &leader);
    void prepare_sampler(ActiveRequest &request);
    [[nodiscard]] StepLimits step_limits() const;
    [[nodiscard]] std::vector<SequenceFacts> facts_of(const std::vector<ActiveRequest *> &requests) const;
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
    Rate computing_{kPrefill};     ///< tokens per second of steps that prefill
    Rate ending_{kEndings};        ///< requests per second, while there are any
    double ended_s_ = 0;           ///< when one ended last, or came where there was none
    bool preempted_ = false;       ///< a request was, and no step has run since
    std::vector<RequestId> gone_;  ///< ended within this step, to be taken out of the lists
};

}  // namespace cairn
