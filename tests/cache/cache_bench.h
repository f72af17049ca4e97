// CacheBench: a PrefixCache on a simulated backend, used as an engine uses it: find, adopt, compute, publish.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cache/prefix_cache.h"
#include "sim/sim_backend.h"
#include "store/lease.h"
#include "tests/support/manual_env.h"

namespace cairn {

inline SnapshotPolicy ample_policy() {
    SnapshotPolicy policy;
    policy.enabled = true;
    policy.max_device_snapshots = 8;
    policy.device_bytes = 16_MiB;
    policy.ram_bytes = 16_MiB;
    return policy;
}

inline SnapshotPolicy ram_only(std::size_t bytes) {
    SnapshotPolicy policy;
    policy.enabled = true;
    policy.ram_bytes = bytes;
    return policy;
}

inline SnapshotPolicy device_only(std::int32_t snapshots) {
    SnapshotPolicy policy;
    policy.enabled = true;
    policy.max_device_snapshots = snapshots;
    policy.device_bytes = 16_MiB;
    return policy;
}

/// Different texts for different seeds, from the first token on.
inline Tokens text(std::size_t count, std::size_t seed = 1) {
    Tokens tokens(count);
    for (std::size_t i = 0; i < count; ++i)
        tokens[i] = static_cast<Token>((i * 7 + seed * 13 + i * i % (seed + 3)) % 250);
    tokens.front() = static_cast<Token>(seed % 250);
    return tokens;
}
inline Tokens operator+(Tokens a, const Tokens &b) {
    a.insert(a.end(), b.begin(), b.end());
    return a;
}
inline Tokens first_of(const Tokens &tokens, std::size_t count) {
    return {tokens.begin(), tokens.begin() + static_cast<std::ptrdiff_t>(count)};
}

/// What a request got from the cache.
struct Served {
    TokenPos cached = 0;
    std::optional<Tier> tier;
    MissReason reason = MissReason::none;
    TokenPos first_difference = 0;
};

class CacheBench {
public:
    explicit CacheBench(SimConfig sim, SnapshotPolicy policy = ample_policy()) : config(std::move(sim)) {
        config.control = control;
        backend = std::move(*open_sim_backend(config));
        cache = std::make_unique<PrefixCache>(*backend, std::move(policy), env, metrics);
    }
    explicit CacheBench(SimFamily family, SnapshotPolicy policy = ample_policy())
        : CacheBench(SimConfig{.family = family}, std::move(policy)) {}

    /// One request: the prompt less its last token is looked up, adopted and computed, and published at `checkpoints`.
    /// Ends with the state of the whole prompt in `seq`, whose logits are compared with those of a cold run.
    Served serve(const Tokens &prompt, const std::vector<TokenPos> &checkpoints, const std::string &tenant = "",
                 SeqId seq = SeqId(0)) {
        env.advance(1);
        backend->clear(seq);
        Lookup lookup = cache->find(tenant, prompt, static_cast<TokenPos>(prompt.size()) - 1);
        Served served{lookup.depth, lookup.tier, lookup.reason, lookup.first_difference};
        if (lookup.lease != nullptr) {
            const auto adopted = cache->adopt(std::move(lookup), seq);
            if (adopted) {
                EXPECT_EQ(*adopted, *served.tier);
                EXPECT_EQ(backend->length(seq), served.cached);
            } else {
                EXPECT_EQ(backend->length(seq), 0);
                served = {0, std::nullopt, MissReason::restore_failed, served.first_difference};
            }
        }
        cache->check_invariants();
        continue_to(prompt, checkpoints, tenant, seq);
        return served;
    }
    /// Computes the rest of `prompt`, stops at each checkpoint to publish.
    void continue_to(const Tokens &prompt, std::vector<TokenPos> checkpoints, const std::string &tenant, SeqId seq) {
        std::sort(checkpoints.begin(), checkpoints.end());
        for (const TokenPos at : checkpoints) {
            if (at < backend->length(seq)) continue;
            compute_to(prompt, at, seq);
            env.advance(0.01);
            (void)cache->publish(tenant, TokenView(prompt).first(static_cast<std::size_t>(at)), seq,
                                 CheckpointKind::prompt_end);
            cache->check_invariants();
        }
        compute_to(prompt, static_cast<TokenPos>(prompt.size()) - 1, seq);
        expect_next(prompt, seq);
    }
    void compute_to(const Tokens &tokens, TokenPos end, SeqId seq) {
        while (backend->length(seq) < end) {
            Batch batch;
            const TokenPos begin = backend->length(seq);
            for (TokenPos i = begin; i < std::min(end, begin + 512); ++i)
                batch.push_back({tokens[static_cast<std::size_t>(i)], i, seq, false});
            ASSERT_TRUE(backend->run(batch).has_value());
        }
    }
    /// Runs the last token of `tokens` and compares the logits with a cold run's.
    void expect_next(const Tokens &tokens, SeqId seq) {
        const auto last = static_cast<TokenPos>(tokens.size()) - 1;
        if (backend->length(seq) == last) {
            ASSERT_TRUE(backend->run({{tokens.back(), last, seq, true}}).has_value());
            const auto warm = backend->logits(0);
            const auto cold = sim_logits(config, tokens);
            ASSERT_TRUE(std::equal(warm.begin(), warm.end(), cold.begin(), cold.end())) << "wrong state";
        }
    }
    void expect_nothing_left() {
        cache->clear();
        cache->check_invariants();
        const CacheStats stats = cache->stats();
        EXPECT_EQ(stats.snapshots, 0u);
        EXPECT_EQ(stats.device_snapshots, 0u);
        EXPECT_EQ(stats.device_bytes, 0u);
        EXPECT_EQ(stats.ram_bytes, 0u);
        EXPECT_EQ(stats.leases, 0u);
        EXPECT_EQ(backend->parked_bytes(), 0u);
    }

    SimConfig config;
    std::shared_ptr<SimControl> control = std::make_shared<SimControl>();
    ManualEnv env;
    Metrics metrics;
    std::unique_ptr<Backend> backend;
    std::unique_ptr<PrefixCache> cache;
};

inline const auto kFamilies = testing::Values(SimFamily::attention, SimFamily::hybrid, SimFamily::recurrent,
                                              SimFamily::sliding_window, SimFamily::whole);
inline std::string family_name(const testing::TestParamInfo<SimFamily> &info) {
    return name_of(info.param);
}

}  // namespace cairn
