#include "engine/engine_loop.h"

#include <algorithm>
#include <limits>

#include "base/check.h"
#include "engine/token_logprobs.h"
#include "policy/checkpoint_plan.h"

namespace cairn {

namespace {

/// Cells a request wants behind its tokens before it is let in: enough not to be preempted at once.
constexpr TokenPos kRoomToGenerate = 64;
/// Narrower steps compute fewer tokens a second: weights are read once per step, whatever its width.
constexpr TokenPos kLeastStep = 256;
constexpr TokenPos kLeastBesideDecode = 128;
/// Of the time that a prompt will take, to wait for others that may share it.
constexpr double kGatherShare = 0.02;

TokenPos cells_wanted(const ActiveRequest &request) {
    const TokenPos left = request.request.max_tokens.value_or(kRoomToGenerate) - request.generated();
    return request.size() + std::clamp<TokenPos>(left, 0, kRoomToGenerate);
}

/// Most of what the step computes are tokens of prompts, in pieces wide enough to tell how fast that is.
bool is_prefill(const std::vector<Slice> &plan) {
    constexpr TokenPos kWide = 32;
    TokenPos wide = 0;
    TokenPos all = 0;
    for (const Slice &slice : plan) {
        all += slice.span.length();
        if (slice.span.length() >= kWide) wide += slice.span.length();
    }
    return wide * 2 > all;
}

std::vector<std::pair<Token, float>> bias_against_ends(const Vocabulary &vocabulary) {
    std::vector<std::pair<Token, float>> bias;
    for (Token token = 0; token < vocabulary.size(); ++token) {
        if (vocabulary.ends_generation(token)) bias.emplace_back(token, -std::numeric_limits<float>::infinity());
    }
    return bias;
}

}  // namespace

EngineLoop::EngineLoop(Backend &backend, PrefixCache *cache, EngineLoopConfig config, Env &env, Metrics &metrics)
    : backend_(backend),
      cache_(cache),
      config_(config),
      env_(env),
      metrics_(metrics),
      no_end_bias_(bias_against_ends(backend.vocabulary())) {
    const std::int32_t live = backend_.limits().live_sequences;
    const std::int32_t used = config_.most_running > 0 ? std::min(live, config_.most_running) : live;
    for (std::int32_t i = used - 1; i >= 0; --i)
        free_sequences_.emplace_back(i);
    config_.most_scheduled_tokens = std::min<TokenPos>(config_.most_scheduled_tokens, backend_.limits().batch_tokens);
    metrics_.set(Metric::live_sequences, used);
    metrics_.set(Metric::pool_cells, backend_.limits().pool_cells);
    metrics_.set(Metric::context_tokens, backend_.limits().context);
    metrics_.set(Metric::parked_sequences, backend_.limits().parked_sequences);
    metrics_.set(Metric::scheduled_tokens, config_.most_scheduled_tokens);
    metrics_.set(Metric::waiting_limit, config_.most_waiting);
}

EngineLoop::~EngineLoop() {
    cancel_all();
}

void EngineLoop::add(RequestId id, Request request, RequestEvents events) {
    if (idle()) ended_s_ = env_.now_s();
    waiting_.emplace_back(id, std::move(request), std::move(events), env_.now_s());
    update_gauges();
}

// -- admission -----------------------------------------------------------------------------------------------------

bool EngineLoop::has_room_for(const ActiveRequest &request) const {
    if (running_.empty()) return true;  // whatever is parked goes, and a prompt that fits the context fits the pool
    // What the running ones will still take counts as taken, or all would be let in and then push each other out.
    TokenPos wanted = cells_wanted(request);
    for (const ActiveRequest &other : running_)
        wanted += cells_wanted(other) - other.reached();
    // Cells of a prefix that it will share with a running one are counted there.
    if (const auto shared = choose_leader_of(request, possible_leaders(request), {})) wanted -= shared->at;
    return backend_.cells_used() - backend_.cells_only_parked() + wanted <= backend_.limits().pool_cells;
}

/// When others that may share the prompt will have come. The past, where it is not worth waiting for.
double EngineLoop::end_of_gathering(const ActiveRequest &request) const {
    if (request.started || !caches(request)) return 0;
    const Lookup lookup = cache_->find(request.request.tenant, request.tokens, request.size() - 1);
    const auto pace = computing_.seconds_per_unit(env_.now_s());
    if (!pace) return request.submitted_s + config_.most_gather_s;
    const double seconds = *pace * (request.size() - lookup.depth);
    return request.submitted_s + std::min(config_.most_gather_s, kGatherShare * seconds);
}

bool EngineLoop::is_gathering() {
    if (config_.most_gather_s <= 0 || !running_.empty() || waiting_.empty()) return false;
    if (waiting_.size() >= free_sequences_.size()) return false;  // no more could be let in
    ActiveRequest &first = waiting_.front();
    if (!first.gathers_until_s) first.gathers_until_s = end_of_gathering(first);
    return env_.now_s() < *first.gathers_until_s;
}

void EngineLoop::admit() {
    // What was just preempted would be let in again at once, and pushed out again: first a step must have run.
    if (preempted_ && !running_.empty()) return;
    if (is_gathering()) return;
    while (!waiting_.empty() && !free_sequences_.empty() && has_room_for(waiting_.front())) {
        running_.splice(running_.end(), waiting_, waiting_.begin());
        ActiveRequest &request = running_.back();
        request.seq = free_sequences_.back();
        free_sequences_.pop_back();
        start(request);
    }
}

void EngineLoop::start(ActiveRequest &request) {
    request.admitted_s = env_.now_s();
    if (!request.started) {
        request.timings.queue_s = request.admitted_s - request.submitted_s;
        metrics_.observe(Metric::queue_seconds, request.timings.queue_s);
    }
    if (request.sampler == nullptr) prepare_sampler(request);
    begin(request);
}

void EngineLoop::prepare_sampler(ActiveRequest &request) {
    SamplingParams params = request.request.sampling;
    if (!params.seed) params.seed = static_cast<std::uint32_t>(env_.random_u64());
    if (request.request.ignore_eos) {
        params.logit_bias.insert(params.logit_bias.end(), no_end_bias_.begin(), no_end_bias_.end());
    }
    request.sampler = backend_.make_sampler(params);
    for (const Token token : request.tokens)
        request.sampler->accept(token);
}

// -- one step ------------------------------------------------------------------------------------------------------

std::vector<ActiveRequest *> EngineLoop::active() {
    std::vector<ActiveRequest *> requests;
    for (ActiveRequest &request : running_)
        requests.push_back(&request);
    return requests;
}

bool EngineLoop::step() {
    if (cache_ != nullptr) cache_->tend_disk(!idle());
    admit();
    if (running_.empty()) return false;
    const auto requests = active();
    const auto plan = plan_step(facts_of(requests), step_limits());
    const Status ran = run_plan(plan, requests);
    if (ran) {
        preempted_ = false;
        commit(plan, requests);
    } else if (ran.error().code != ErrorCode::capacity) {
        std::vector<ActiveRequest *> hit;
        for (const Slice &slice : plan)
            hit.push_back(requests[slice.sequence]);
        fail_all(hit, ran.error());
    } else if (running_.size() > 1) {
        preempt_youngest();
    } else {
        fail_all(requests, ran.error());
    }
    erase_gone();
    update_gauges();
    return true;
}

std::vector<SequenceFacts> EngineLoop::facts_of(const std::vector<ActiveRequest *> &requests) const {
    const double pace = computing_.seconds_per_unit(env_.now_s()).value_or(0);
    std::vector<SequenceFacts> facts;
    for (const ActiveRequest *request : requests) {
        facts.push_back({.computed = request->computed,
                         .size = request->size(),
                         .cut = request->next_cut(),
                         .waits = request->waits_for.has_value(),
                         .urgency = prefill_urgency(request->submitted_s, request->size() - request->computed, pace)});
    }
    // A leader comes before it in the list and is as urgent as those who wait for it.
    for (std::size_t i = requests.size(); i-- > 0;) {
        if (!requests[i]->waits_for) continue;
        for (std::size_t leader = 0; leader < i; ++leader) {
            if (requests[leader]->id != requests[i]->waits_for->id) continue;
            facts[leader].urgency = std::min(facts[leader].urgency, facts[i].urgency);
        }
    }
    return facts;
}

StepLimits EngineLoop::step_limits() const {
    const double pace = computing_.per_second(env_.now_s()).value_or(0);
    const TokenPos most = config_.most_scheduled_tokens;
    // Not known yet: a narrow step, which is measured. A wide one could take half a minute, and nobody else would be
    // heard.
    // Whoever lets answers stand still for longer wants throughput, and nobody then hears of anything sooner.
    const double whole_s = std::max(config_.most_step_s, config_.most_token_gap_s);
    const TokenPos whole = tokens_within(whole_s, pace, kLeastStep, most);
    return {.tokens = whole,
            .prompt_tokens_beside_decode = tokens_within(config_.most_token_gap_s, pace, kLeastBesideDecode, whole)};
}

Status EngineLoop::run_plan(const std::vector<Slice> &plan, const std::vector<ActiveRequest *> &requests) {
    Batch batch;
    for (const Slice &slice : plan) {
        const ActiveRequest &request = *requests[slice.sequence];
        for (TokenPos pos = slice.span.begin; pos < slice.span.end; ++pos) {
            batch.push_back({request.tokens[static_cast<std::size_t>(pos)], pos, request.seq,
                             slice.output && pos == slice.span.end - 1});
        }
    }
    const auto tokens = static_cast<TokenPos>(batch.size());
    if (!make_room(tokens)) return fail(ErrorCode::capacity, "no room for {} more tokens", tokens);
    metrics_.observe(Metric::step_tokens, tokens);
    const double start = env_.now_s();
    Status ran = backend_.run(batch);
    if (ran && is_prefill(plan)) {
        const double end = env_.now_s();
        computing_.add(tokens, end - start, end);
        if (cache_ != nullptr) cache_->note_prefill(tokens, end - start);
    }
    // The backend may need more than the cells it counts: window cells of parked sequences. Give up all of those, once.
    if (!ran && ran.error().code == ErrorCode::capacity && cache_ != nullptr &&
        cache_->free_cells(backend_.limits().pool_cells) > 0) {
        ran = backend_.run(batch);
    }
    return ran;
}

bool EngineLoop::make_room(TokenPos tokens) {
    const TokenPos missing = backend_.cells_used() + tokens - backend_.limits().pool_cells;
    if (missing <= 0) return true;
    return cache_ != nullptr && cache_->free_cells(missing) >= missing;
}

void EngineLoop::preempt_youngest() {
    metrics_.add(Metric::preemptions_total);
    preempted_ = true;
    ActiveRequest &request = running_.back();
    if (caches(request) && request.computed > 0) {
        request.set_aside = cache_->set_aside(request.request.tenant, request.prefix(request.computed), request.seq);
    }
    backend_.clear(request.seq);
    free_sequences_.push_back(request.seq);
    request.computed = 0;
    request.waits_for.reset();
    waiting_.splice(waiting_.begin(), running_, std::prev(running_.end()));
}

void EngineLoop::commit(const std::vector<Slice> &plan, const std::vector<ActiveRequest *> &requests) {
    std::size_t output = 0;
    for (const Slice &slice : plan) {
        ActiveRequest &request = *requests[slice.sequence];
        const TokenPos prompt_part = std::min(slice.span.end, request.prompt_size()) - slice.span.begin;
        if (prompt_part > 0) {
            request.timings.prefilled_tokens += prompt_part;
            metrics_.add(Metric::computed_prompt_tokens_total, prompt_part);
        }
        request.computed = slice.span.end;
        if (const auto kind = request.checkpoint_here()) {
            publish(request, *kind);
            hand_over(request);
        }
        if (slice.output) commit_token(request, backend_.logits(output++));
    }
}

void EngineLoop::commit_token(ActiveRequest &request, std::span<const float> logits) {
    if (request.request.max_tokens.value_or(1) <= 0) return finish(request, FinishReason::length);
    const Token token = request.sampler->sample(logits);
    request.sampler->accept(token);
    request.tokens.push_back(token);
    const double now = env_.now_s();
    if (!request.first_token_s) {
        request.first_token_s = now;
        metrics_.observe(Metric::first_token_seconds, now - request.submitted_s);
    } else {
        metrics_.observe(Metric::token_gap_seconds, now - request.last_token_s);
    }
    request.last_token_s = now;
    const bool ends = backend_.vocabulary().ends_generation(token) && !request.request.ignore_eos;
    if (ends) return finish(request, FinishReason::stop);
    if (request.request.logprobs) {
        request.held_logprobs.push_back(
            token_logprobs(logits, token, *request.request.logprobs, backend_.vocabulary()));
    }
    request.held_tokens.push_back(token);
    const TextAssembler::Output output = request.text.add(backend_.vocabulary().piece(token, false));
    request.emit(output);
    if (output.stopped) return finish(request, FinishReason::stop);
    const bool full = request.size() >= backend_.limits().context;
    if (full || request.generated() >= request.request.max_tokens.value_or(std::numeric_limits<TokenPos>::max())) {
        finish(request, FinishReason::length);
    }
}

void EngineLoop::publish(ActiveRequest &request, CheckpointKind kind) {
    if (!caches(request) || request.computed <= request.published) return;
    request.published = request.computed;
    cache_->publish(request.request.tenant, request.prefix(request.computed), request.seq, kind);
}

// -- endings -------------------------------------------------------------------------------------------------------

void EngineLoop::finish(ActiveRequest &request, FinishReason reason) {
    request.emit(request.text.finish());
    const double now = env_.now_s();
    const double first = request.first_token_s.value_or(now);
    request.timings.prefill_s = first - request.admitted_s;
    request.timings.decode_s = now - first;
    metrics_.add(Metric::completion_tokens_total, request.generated());
    metrics_.add(Metric::requests_total, 1, name_of(reason));
    // The client hears of the end before its state is kept: keeping may copy, and nobody should wait for that.
    if (request.events.finished) {
        request.events.finished(reason, {request.prompt_size(), request.generated(), request.reuse.cached_tokens},
                                request.timings);
    }
    // An answer of one token adds nothing to the checkpoint before the prompt's last token: that one was never
    // computed.
    if (request.computed > request.prompt_size()) publish(request, CheckpointKind::answer_end);
    if (reason == FinishReason::cancelled) publish(request, CheckpointKind::interval);
    leave(request);
}

void EngineLoop::fail_request(ActiveRequest &request, const Error &error) {
    metrics_.add(Metric::requests_total, 1, "failed");
    leave(request);
    if (request.events.failed) request.events.failed(error);
}

void EngineLoop::fail_all(const std::vector<ActiveRequest *> &requests, const Error &error) {
    for (ActiveRequest *request : requests)
        fail_request(*request, error);
}

void EngineLoop::leave(ActiveRequest &request) {
    backend_.clear(request.seq);
    free_sequences_.push_back(request.seq);
    gone_.push_back(request.id);
    request.ended = true;
    release_followers(request);
}

void EngineLoop::erase_gone() {
    if (gone_.empty()) return;
    const double now = env_.now_s();
    ending_.add(static_cast<double>(gone_.size()), now - ended_s_, now);
    ended_s_ = now;
    for (const RequestId id : gone_) {
        running_.remove_if([&](const ActiveRequest &request) { return request.id == id; });
    }
    gone_.clear();
}

void EngineLoop::cancel(RequestId id) {
    const auto is_it = [&](const ActiveRequest &request) { return request.id == id; };
    if (const auto it = std::find_if(running_.begin(), running_.end(), is_it); it != running_.end()) {
        finish(*it, FinishReason::cancelled);
        erase_gone();
    } else if (const auto queued = std::find_if(waiting_.begin(), waiting_.end(), is_it); queued != waiting_.end()) {
        metrics_.add(Metric::requests_total, 1, name_of(FinishReason::cancelled));
        const RequestEvents events = std::move(queued->events);
        const Usage usage{queued->prompt_size(), queued->generated(), queued->reuse.cached_tokens};
        const Timings timings = queued->timings;
        waiting_.erase(queued);
        if (events.finished) events.finished(FinishReason::cancelled, usage, timings);
    }
    update_gauges();
}

void EngineLoop::cancel_all() {
    while (!waiting_.empty())
        cancel(waiting_.front().id);
    while (!running_.empty())
        cancel(running_.front().id);
}

bool EngineLoop::idle_work() {
    return idle() && cache_ != nullptr && cache_->idle_work();
}

std::optional<double> EngineLoop::wakes_in() const {
    std::optional<double> seconds = cache_ == nullptr ? std::nullopt : cache_->disk_wakes_in();
    if (running_.empty() && !waiting_.empty() && waiting_.front().gathers_until_s) {
        const double left = std::max(0.0, *waiting_.front().gathers_until_s - env_.now_s());
        seconds = std::min(seconds.value_or(left), left);
    }
    return seconds;
}

void EngineLoop::save(double seconds) {
    if (cache_ != nullptr) cache_->save(seconds);
}

EngineStats EngineLoop::stats() const {
    EngineStats stats;
    stats.waiting = static_cast<std::int32_t>(waiting_.size());
    stats.running = static_cast<std::int32_t>(running_.size());
    stats.live_sequences = static_cast<std::int32_t>(free_sequences_.size() + running_.size());
    stats.context = backend_.limits().context;
    stats.pool_cells = backend_.limits().pool_cells;
    stats.cells_used = backend_.cells_used();
    stats.scheduled_tokens = config_.most_scheduled_tokens;
    stats.waiting_limit = config_.most_waiting;
    stats.seconds_per_request = ending_.seconds_per_unit(env_.now_s());
    // One that is late shows that they take longer than they did, or how long they take, before the first has ended.
    if (!idle()) stats.seconds_per_request = std::max(stats.seconds_per_request.value_or(0), env_.now_s() - ended_s_);
    if (cache_ != nullptr) {
        const CacheStats cache = cache_->stats();
        stats.device_bytes = cache.device_bytes;
        stats.ram_bytes = cache.ram_bytes;
        stats.disk_bytes = cache.disk_bytes;
        stats.snapshots = cache.snapshots;
    }
    return stats;
}

void EngineLoop::check_invariants() const {
    std::vector<SeqId> sequences = free_sequences_;
    std::vector<RequestId> earlier;
    std::size_t leases = 0;
    for (const ActiveRequest &request : running_) {
        sequences.push_back(request.seq);
        CAIRN_CHECK(!request.ended, "request {} has ended and runs", request.id.value());
        CAIRN_CHECK(backend_.length(request.seq) == request.computed,
                    "request {} has computed {} tokens, its sequence {}", request.id.value(), request.computed,
                    backend_.length(request.seq));
        CAIRN_CHECK(request.computed < request.size() && request.published <= request.computed,
                    "request {} of {} tokens: {} computed, {} published", request.id.value(), request.size(),
                    request.computed, request.published);
        if (request.waits_for) {
            CAIRN_CHECK(request.computed == 0 && std::count(earlier.begin(), earlier.end(), request.waits_for->id) == 1,
                        "request {} waits for {}, which does not run before it", request.id.value(),
                        request.waits_for->id.value());
        }
        earlier.push_back(request.id);
    }
    for (const ActiveRequest &request : waiting_) {
        CAIRN_CHECK(request.computed == 0, "request {} waits and holds state", request.id.value());
        if (request.set_aside.depth > 0) ++leases;
    }
    std::sort(sequences.begin(), sequences.end());
    CAIRN_CHECK(std::adjacent_find(sequences.begin(), sequences.end()) == sequences.end(), "a sequence has two owners");
    for (const SeqId seq : free_sequences_)
        CAIRN_CHECK(backend_.length(seq) == 0, "sequence {} is free and holds {} tokens", seq.value(),
                    backend_.length(seq));
    CAIRN_CHECK(backend_.cells_used() <= backend_.limits().pool_cells, "{} cells of {} are in use",
                backend_.cells_used(), backend_.limits().pool_cells);
    if (cache_ == nullptr) return;
    cache_->check_invariants();
    CAIRN_CHECK(cache_->stats().leases <= leases + 1, "{} leases for {} requests that were preempted",
                cache_->stats().leases, leases);
}

void EngineLoop::update_gauges() {
    metrics_.set(Metric::requests_waiting, static_cast<double>(waiting_.size()));
    metrics_.set(Metric::requests_running, static_cast<double>(running_.size()));
    metrics_.set(Metric::pool_cells_used, backend_.cells_used());
}

}  // namespace cairn
