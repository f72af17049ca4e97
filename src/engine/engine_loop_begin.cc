// How EngineLoop gives a request what is there already of its prompt: from the cache, or from others that run.
#include <algorithm>
#include <utility>

#include "engine/engine_loop.h"
#include "policy/checkpoint_plan.h"

namespace cairn {

/// Gives the request, whose sequence is empty, what others have computed of its tokens: a snapshot, the state of a
/// running request, or what a running request is about to compute, for which it waits then.
void EngineLoop::begin(ActiveRequest &request) {
    const double start = env_.now_s();
    request.computed = request.published = 0;
    request.waits_for.reset();
    ReuseReport report{.prompt_tokens = request.prompt_size(),
                       .cached_tokens = 0,
                       .tier = std::nullopt,
                       .reason = MissReason::disabled,
                       .engine = request.request.engine,
                       .first_difference = 0};
    std::optional<TokenPos> fork;
    if (caches(request)) {
        // The last token is computed whatever is cached: its logits are what comes next.
        Lookup lookup = request.set_aside.depth > 0
                            ? std::exchange(request.set_aside, {})
                            : cache_->find(request.request.tenant, request.tokens, request.size() - 1);
        report.reason = lookup.reason;
        report.first_difference = std::min(lookup.first_difference, request.prompt_size());
        if (lookup.first_difference > lookup.depth) fork = lookup.first_difference;
        const std::vector<const ActiveRequest *> leaders = possible_leaders(request);
        const auto shared = choose_leader_of(request, leaders, lookup);
        if (shared && !shared->now) return wait_for(request, leaders[shared->leader]->id, shared->at);
        if (shared && fork_from(*leaders[shared->leader], request, shared->at)) return;
        // What cannot be restored is dropped: the next best may be whole.
        while (lookup.depth > 0 && !report.tier) {
            const TokenPos depth = lookup.depth;
            report.tier = adopt(request, std::move(lookup));
            if (report.tier) {
                request.computed = request.published = depth;
                report.cached_tokens = std::min(depth, request.prompt_size());
            } else {
                report.reason = MissReason::restore_failed;
                lookup = cache_->find(request.request.tenant, request.tokens, depth - 1);
            }
        }
    }
    request.timings.restore_s += env_.now_s() - start;
    resume(request, report, fork);
}

std::optional<Tier> EngineLoop::adopt(ActiveRequest &request, Lookup lookup) {
    // What is parked there shares its cells; what comes in bytes needs cells of its own.
    if (lookup.tier != Tier::device) (void)make_room(lookup.depth);
    const auto adopted = cache_->adopt(std::move(lookup), request.seq);
    if (adopted) return *adopted;
    backend_.clear(request.seq);
    return std::nullopt;
}

void EngineLoop::wait_for(ActiveRequest &request, RequestId leader_id, TokenPos at) {
    const auto leader = std::find_if(running_.begin(), running_.end(),
                                     [leader_id](const ActiveRequest &other) { return other.id == leader_id; });
    if (leader->reached() < at) leader->cut_at(at);
    request.waits_for = {leader_id, at};
    plan_cuts(request, std::nullopt);
}

/// Where its prefill stops behind what it has reached. Positions at which others wait for it stay.
void EngineLoop::plan_cuts(ActiveRequest &request, std::optional<TokenPos> fork) const {
    const std::vector<PlannedCheckpoint> before =
        std::exchange(request.checkpoints, plan_checkpoints(request.prompt_size(), request.request.checkpoints,
                                                            config_.checkpoint_interval, fork, request.reached()));
    for (const PlannedCheckpoint &cut : before) {
        if (cut.kind == CheckpointKind::fork && cut.pos > request.reached()) request.cut_at(cut.pos);
    }
}

/// The request has what it will get: its prefill goes on from there.
void EngineLoop::resume(ActiveRequest &request, const ReuseReport &report, std::optional<TokenPos> fork) {
    request.waits_for.reset();
    if (caches(request)) plan_cuts(request, fork);
    if (!request.started) {
        request.started = true;
        request.reuse = report;
        count_reuse(request);
        if (request.events.started) request.events.started(request.reuse);
    }
    hand_over(request);
}

/// Running requests that came before it and may share what they compute.
std::vector<const ActiveRequest *> EngineLoop::possible_leaders(const ActiveRequest &request) const {
    std::vector<const ActiveRequest *> leaders;
    const StateLayout &layout = backend_.layout();
    if (!caches(request) || (!layout.can_park && layout.mode == CaptureMode::none)) return leaders;
    for (const ActiveRequest &other : running_) {
        if (other.id == request.id) break;
        const bool same = other.request.tenant == request.request.tenant;
        if (same && caches(other) && !other.ended) leaders.push_back(&other);
    }
    return leaders;
}

std::optional<SharedPrefix> EngineLoop::choose_leader_of(const ActiveRequest &request,
                                                         const std::vector<const ActiveRequest *> &leaders,
                                                         const Lookup &lookup) const {
    std::vector<LeaderFacts> facts;
    for (const ActiveRequest *leader : leaders) {
        const auto differ =
            std::mismatch(request.tokens.begin(), request.tokens.end(), leader->tokens.begin(), leader->tokens.end());
        facts.push_back({.common = static_cast<TokenPos>(differ.first - request.tokens.begin()),
                         .reached = leader->reached(),
                         .will_reach = leader->prompt_size(),
                         .waits = leader->waits_for.has_value()});
    }
    return choose_leader(facts, {.have = lookup.depth,
                                 .have_is_free = lookup.tier == Tier::device,
                                 .limit = request.size() - 1,
                                 .can_rewind = backend_.layout().can_rewind && backend_.layout().can_park});
}

/// Shares the first `at` tokens of the leader's state, copying nothing. False where the backend cannot.
bool EngineLoop::fork_from(const ActiveRequest &leader, ActiveRequest &request, TokenPos at) {
    Status forked = backend_.fork(leader.seq, request.seq);
    if (forked && at < leader.computed) forked = backend_.rewind(request.seq, at);
    if (!forked) {
        backend_.clear(request.seq);
        return false;
    }
    request.computed = request.published = at;
    const bool parts = at < leader.size() && at + 1 < request.size();
    const TokenPos shared = std::min(at, request.prompt_size());
    const ReuseReport report{.prompt_tokens = request.prompt_size(),
                             .cached_tokens = shared,
                             .tier = Tier::device,
                             .reason = parts ? MissReason::diverged : MissReason::none,
                             .engine = request.request.engine,
                             .first_difference = shared};
    if (!request.started) metrics_.add(Metric::shared_tokens_total, report.cached_tokens);
    resume(request, report, std::nullopt);
    return true;
}

/// Gives what the leader has to those who wait for no more than that; it is published.
void EngineLoop::hand_over(const ActiveRequest &leader) {
    for (ActiveRequest &request : running_) {
        if (!request.waits_for || request.waits_for->id != leader.id || request.waits_for->at > leader.computed)
            continue;
        // Where states cannot be shared on the device the cache has it in RAM.
        if (!fork_from(leader, request, request.waits_for->at)) begin(request);
    }
}

/// The leader leaves before it came to where others wait for it: each looks for itself again.
void EngineLoop::release_followers(const ActiveRequest &leader) {
    for (ActiveRequest &request : running_) {
        if (request.waits_for && request.waits_for->id == leader.id) begin(request);
    }
}

void EngineLoop::count_reuse(const ActiveRequest &request) {
    metrics_.add(Metric::prompt_tokens_total, request.prompt_size());
    const std::optional<Tier> tier = request.reuse.tier;
    if (tier) metrics_.add(Metric::cached_tokens_total, request.reuse.cached_tokens, name_of(*tier));
    if (const std::string &engine = request.request.engine; !engine.empty()) {
        metrics_.add(Metric::engine_prompt_tokens_total, request.prompt_size(), engine);
        metrics_.add(Metric::engine_cached_tokens_total, request.reuse.cached_tokens, engine);
    }
    // The cache itself counts restores that fail, each of them.
    const MissReason reason = request.reuse.reason;
    if (reason != MissReason::none && reason != MissReason::restore_failed) {
        metrics_.add(Metric::cache_shortfalls_total, 1, name_of(reason));
    }
}

}  // namespace cairn
