// The whole path on real models: engine, cache and libllama. A warm answer is the cold one, token for token, and its
// log-probabilities are the same numbers, when both are cut at the same boundaries.
//
// V is kept as bf16 here: with K and V of one type libllama's flash attention on the CPU adds up in tiles of the pool,
// so that the place of a state in the pool shows in the last digits (tests/contract/same_place_test.cc).
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <tuple>

#include "cache/prefix_cache.h"
#include "engine/engine_loop.h"
#include "llama/llama_backend.h"
#include "tests/support/fixtures.h"

namespace cairn {
namespace {

constexpr TokenPos kShared = 150;
constexpr TokenPos kGenerated = 6;

struct Told {
    Tokens tokens;
    std::vector<float> logprobs;
    ReuseReport reuse;
};

class WarmEqualsCold : public testing::TestWithParam<std::tuple<const char *, Tier>> {
protected:
    void SetUp() override {
        const auto &[fixture, tier] = GetParam();
        ModelConfig config = fixture_config(fixture);
        config.type_v = KvType::bf16;
        auto opened = open_llama_backend(config, fixture_sizes());
        ASSERT_TRUE(opened.has_value()) << opened.error().what;
        backend_ = std::move(*opened);
        SnapshotPolicy policy;
        policy.enabled = true;
        if (tier == Tier::device) {
            policy.device_bytes = std::size_t{64} << 20;
            policy.max_device_snapshots = 4;
        } else {
            policy.ram_bytes = std::size_t{64} << 20;
        }
        cache_ = std::make_unique<PrefixCache>(*backend_, policy, system_env(), metrics_);
        loop_ = std::make_unique<EngineLoop>(*backend_, cache_.get(), EngineLoopConfig{}, system_env(), metrics_);
    }

    /// Queues a request; what it is told goes into `told`.
    void ask(const Tokens &prompt, Told &told, TokenPos generated = kGenerated) {
        Request request;
        request.prompt = prompt;
        request.sampling.temperature = 0;
        request.max_tokens = generated;
        request.ignore_eos = true;
        request.logprobs = 0;
        // A cold run is cut where the run behind a warm one was: before and behind the last shared token.
        request.checkpoints = {{kShared - 1, CheckpointKind::system_end}, {kShared, CheckpointKind::system_end}};
        RequestEvents events;
        events.started = [&told](const ReuseReport &report) { told.reuse = report; };
        events.delta = [&told](std::string_view, const std::vector<TokenLogprobs> &logprobs, const Tokens &tokens) {
            told.tokens.insert(told.tokens.end(), tokens.begin(), tokens.end());
            for (const TokenLogprobs &logprob : logprobs)
                told.logprobs.push_back(logprob.chosen.logprob);
        };
        events.failed = [](const Error &error) { ADD_FAILURE() << error.what; };
        loop_->add(RequestId(++id_), std::move(request), std::move(events));
    }

    void run() {
        while (loop_->step())
            cache_->check_invariants();
    }

    Tokens tokens(std::uint32_t seed, TokenPos size) const {
        Tokens result;
        for (TokenPos i = 0; i < size; ++i) {
            seed = seed * 1664525u + 1013904223u;
            result.push_back(
                static_cast<Token>((seed >> 10) % static_cast<std::uint32_t>(backend_->vocabulary().size())));
        }
        return result;
    }

    static void expect_same(const Told &warm, const Told &cold, const std::string &what, float tolerance = 1e-5f) {
        EXPECT_EQ(warm.tokens, cold.tokens) << what;
        ASSERT_EQ(warm.logprobs.size(), cold.logprobs.size()) << what;
        for (std::size_t i = 0; i < warm.logprobs.size(); ++i) {
            EXPECT_NEAR(warm.logprobs[i], cold.logprobs[i], tolerance) << what << ", token " << i;
        }
    }

    Metrics metrics_;
    std::unique_ptr<Backend> backend_;
    std::unique_ptr<PrefixCache> cache_;
    std::unique_ptr<EngineLoop> loop_;
    std::uint64_t id_ = 0;
};

INSTANTIATE_TEST_SUITE_P(Fixtures, WarmEqualsCold,
                         testing::Combine(testing::ValuesIn(kFixtures), testing::Values(Tier::device, Tier::ram)),
                         [](const auto &rig) {
                             return std::string(std::get<0>(rig.param)) + "_" + name_of(std::get<1>(rig.param));
                         });

TEST_P(WarmEqualsCold, ForTailsBehindASharedPrefix) {
    const Tokens shared = tokens(1, kShared);
    for (const TokenPos tail : {1, 2, 3, 5, 8, 17, 31, 32, 33, 63, 64, 65, 100, 127, 128, 129, 130}) {
        Tokens prompt = shared;
        const Tokens more = tokens(100 + static_cast<std::uint32_t>(tail), tail);
        prompt.insert(prompt.end(), more.begin(), more.end());
        cache_->clear();
        Told cold;
        ask(prompt, cold);
        run();
        ASSERT_EQ(cold.reuse.cached_tokens, 0);

        cache_->clear();
        Told first;
        ask(shared, first, 1);  // its answer must not be the beginning of a tail
        run();
        Told warm;
        ask(prompt, warm);
        run();
        EXPECT_EQ(warm.reuse.cached_tokens, kShared - 1) << "tail " << tail;
        EXPECT_EQ(warm.reuse.tier, std::get<1>(GetParam()));
        expect_same(warm, cold, "tail " + std::to_string(tail));
    }
}

TEST_P(WarmEqualsCold, ForTwoRequestsRestoredFromOneSnapshotAtOnce) {
    const Tokens shared = tokens(1, kShared);
    Tokens one = shared;
    Tokens two = shared;
    one.insert(one.end(), {5, 6, 7, 8, 9, 10, 11});
    two.insert(two.end(), {50, 51, 52});
    const auto alone = [&](const Tokens &prompt, TokenPos generated) {
        cache_->clear();
        Told told;
        ask(prompt, told, generated);
        run();
        return told;
    };
    const Told cold_one = alone(one, kGenerated);
    const Told cold_two = alone(two, kGenerated);
    alone(shared, 1);
    Told warm_one;
    Told warm_two;
    ask(one, warm_one);
    ask(two, warm_two);
    run();
    EXPECT_EQ(warm_one.reuse.cached_tokens, kShared - 1);
    EXPECT_EQ(warm_two.reuse.cached_tokens, kShared - 1);
    // Two in a batch are added up in another order than one: digits, not answers.
    expect_same(warm_one, cold_one, "first", 2e-3f);
    expect_same(warm_two, cold_two, "second", 2e-3f);
}

}  // namespace
}  // namespace cairn
