// LoopRig: an EngineLoop over a simulated backend with a cache, driven by hand, and what its requests were told.
//
//     LoopRig rig({.family = SimFamily::hybrid});
//     Answer &answer = rig.ask(prompt, 8);
//     rig.run();
//     EXPECT_EQ(answer.tokens, rig.expected(prompt, 8));
#pragma once

#include <gtest/gtest.h>

#include <deque>
#include <memory>
#include <optional>
#include <string>

#include "cache/prefix_cache.h"
#include "engine/engine_loop.h"
#include "sim/sim_backend.h"
#include "tests/support/manual_env.h"

namespace cairn {

inline constexpr SimFamily kFamilies[] = {SimFamily::attention,      SimFamily::hybrid, SimFamily::recurrent,
                                          SimFamily::sliding_window, SimFamily::whole,  SimFamily::none};

/// What one request was told.
struct Answer {
    std::optional<ReuseReport> reuse;
    std::string text;
    Tokens tokens;
    std::vector<TokenLogprobs> logprobs;
    std::optional<FinishReason> reason;
    std::optional<Error> error;
    Usage usage;
    int starts = 0;
    int endings = 0;
};

inline RequestEvents events_into(Answer &answer) {
    RequestEvents events;
    events.started = [&answer](const ReuseReport &report) {
        answer.reuse = report;
        ++answer.starts;
    };
    events.delta = [&answer](std::string_view text, const std::vector<TokenLogprobs> &logprobs, const Tokens &tokens) {
        EXPECT_EQ(answer.endings, 0) << "a delta after the end";
        answer.text += text;
        answer.logprobs.insert(answer.logprobs.end(), logprobs.begin(), logprobs.end());
        answer.tokens.insert(answer.tokens.end(), tokens.begin(), tokens.end());
    };
    events.finished = [&answer](FinishReason reason, const Usage &usage, const Timings &) {
        answer.reason = reason;
        answer.usage = usage;
        ++answer.endings;
    };
    events.failed = [&answer](const Error &error) {
        answer.error = error;
        ++answer.endings;
    };
    return events;
}

struct LoopRigOptions {
    SimConfig sim = {};
    bool cache = true;
    std::size_t device_bytes = 1 << 20;
    std::size_t ram_bytes = 8 << 20;
    EngineLoopConfig loop{.checkpoint_interval = 512, .most_scheduled_tokens = 128};
};

/// Generations of the simulated model never end by themselves here, so that lengths are what tests ask for.
inline SimConfig endless(SimConfig sim) {
    if (!sim.forced_token) sim.end_bias = -1e9f;
    if (sim.control == nullptr) sim.control = std::make_shared<SimControl>();
    return sim;
}

class LoopRig {
public:
    explicit LoopRig(LoopRigOptions options) : sim(endless(std::move(options.sim))) {
        auto opened = open_sim_backend(sim);
        EXPECT_TRUE(opened.has_value()) << opened.error().what;
        backend = std::move(*opened);
        if (options.cache) {
            SnapshotPolicy policy;
            policy.enabled = true;
            policy.max_device_snapshots = SnapshotPolicy::kUnlimited;
            policy.device_bytes = options.device_bytes;
            policy.ram_bytes = options.ram_bytes;
            cache = std::make_unique<PrefixCache>(*backend, policy, env, metrics);
        }
        loop = std::make_unique<EngineLoop>(*backend, cache.get(), options.loop, env, metrics);
    }

    Answer &ask(Request request) {
        answers.emplace_back();
        last_id = RequestId(++next_id_);
        loop->add(last_id, std::move(request), events_into(answers.back()));
        return answers.back();
    }

    Answer &ask(const Tokens &prompt, TokenPos max_tokens) { return ask(greedy(prompt, max_tokens)); }

    static Request greedy(const Tokens &prompt, TokenPos max_tokens) {
        Request request;
        request.prompt = prompt;
        request.sampling.temperature = 0;
        request.max_tokens = max_tokens;
        return request;
    }

    /// Steps until nothing is left to compute; bounded, so that a loop that never ends fails.
    void run(int most_steps = 100000) {
        while (loop->step()) {
            ASSERT_GT(--most_steps, 0) << "the loop does not come to an end";
            if (cache) cache->check_invariants();
        }
    }

    [[nodiscard]] Tokens expected(const Tokens &prompt, TokenPos count) const {
        return sim_continuation(sim, prompt, count);
    }
    [[nodiscard]] std::uint64_t computed() const { return sim.control->counters().tokens; }

    SimConfig sim;
    ManualEnv env;
    Metrics metrics;
    std::unique_ptr<Backend> backend;
    std::unique_ptr<PrefixCache> cache;
    std::unique_ptr<EngineLoop> loop;
    std::deque<Answer> answers;
    RequestId last_id;

private:
    std::uint64_t next_id_ = 0;
};

/// `size` tokens that differ for different seeds from the first on.
inline Tokens tokens_of(std::uint32_t seed, TokenPos size) {
    Tokens tokens;
    std::uint32_t state = seed * 2654435761u + 1;
    for (TokenPos i = 0; i < size; ++i) {
        state = state * 1664525u + 1013904223u;
        tokens.push_back(static_cast<Token>((state >> 16) % 250));
    }
    tokens.front() = static_cast<Token>(seed % 250);
    return tokens;
}

inline Tokens joined(Tokens first, const Tokens &second) {
    first.insert(first.end(), second.begin(), second.end());
    return first;
}

}  // namespace cairn
