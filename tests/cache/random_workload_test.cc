// Thousands of seeded operations against the simplest oracle: the set of all prefixes ever published.
//
// Whatever find and adopt give must be a true prefix with the right state, within every budget, whatever fails on the
// way. With room for everything it must also be the deepest one that was published.
#include <gtest/gtest.h>

#include <random>
#include <set>

#include "tests/cache/cache_bench.h"

namespace cairn {
namespace {

class RandomWorkload {
public:
    RandomWorkload(SimFamily family, SnapshotPolicy policy, std::uint32_t seed, bool faults)
        : bench_(SimConfig{.family = family, .vocabulary = 300, .pool_cells = 3000}, policy),
          policy_(std::move(policy)),
          random_(seed),
          faults_(faults) {
        pool_.push_back(text(20 + below(40), seed));
        pool_.push_back(text(20 + below(40), seed + 50));
    }

    void run(int steps) {
        for (int i = 0; i < steps && !testing::Test::HasFailure(); ++i) {
            step();
            check();
        }
        leases_.clear();
        for (std::int32_t s = 0; s < 3; ++s)
            bench_.backend->clear(SeqId(s));
        bench_.expect_nothing_left();
        EXPECT_GT(hits_, static_cast<std::size_t>(steps) / 20);
    }
    std::size_t misses_of_the_deepest = 0;

private:
    [[nodiscard]] std::size_t below(std::size_t n) { return random_() % n; }

    void step() {
        if (faults_ && below(4) == 0) inject();
        const std::size_t choice = below(20);
        if (choice < 13) return request();
        if (choice < 15) return static_cast<void>(bench_.cache->idle_work());
        if (choice == 15) return free_cells();
        if (choice == 16) return hold();
        if (choice == 17) return leases_.clear();
        if (choice == 18) return bench_.backend->clear(any_seq());
        if (below(40) == 0) clear();
    }
    void inject() {
        constexpr SimCall kCalls[] = {SimCall::capture, SimCall::restore, SimCall::park, SimCall::adopt};
        constexpr ErrorCode kCodes[] = {ErrorCode::io, ErrorCode::corrupt, ErrorCode::capacity, ErrorCode::device};
        bench_.control->fail(kCalls[below(4)], 1 + below(3), Error{kCodes[below(4)], "injected"});
    }
    [[nodiscard]] SeqId any_seq() { return SeqId(static_cast<std::int32_t>(below(3))); }

    /// A prompt that extends, repeats, cuts or forks one of those before.
    [[nodiscard]] Tokens next_prompt() {
        Tokens prompt = pool_[below(pool_.size())];
        if (below(3) == 0) prompt.resize(1 + below(prompt.size()));
        if (below(3) != 0) prompt = prompt + text(1 + below(30), below(8));
        if (prompt.size() < 2) prompt.push_back(1);
        if (prompt.size() > 300) prompt.resize(2 + below(100));
        if (pool_.size() < 24) {
            pool_.push_back(prompt);
        } else {
            pool_[below(pool_.size())] = prompt;
        }
        return prompt;
    }

    void request() {
        const SeqId seq = any_seq();
        const Tokens prompt = next_prompt();
        const std::string tenant = below(5) == 0 ? "other" : "";
        const auto limit = static_cast<TokenPos>(prompt.size()) - 1;
        bench_.env.advance(1);
        bench_.backend->clear(seq);
        make_room(static_cast<TokenPos>(prompt.size()));
        Lookup lookup = bench_.cache->find(tenant, prompt, limit);
        expect_published(tenant, prompt, lookup, limit);
        if (lookup.lease != nullptr) {
            const TokenPos depth = lookup.depth;
            const auto adopted = bench_.cache->adopt(std::move(lookup), seq);
            if (adopted) ++hits_;
            ASSERT_TRUE(adopted || faults_) << adopted.error().what;
            ASSERT_EQ(bench_.backend->length(seq), adopted ? depth : 0);
            check();
        }
        while (bench_.backend->length(seq) < limit && below(3) != 0) {
            const TokenPos at =
                bench_.backend->length(seq) + 1 +
                static_cast<TokenPos>(below(static_cast<std::size_t>(limit - bench_.backend->length(seq))));
            bench_.compute_to(prompt, at, seq);
            publish(tenant, first_of(prompt, static_cast<std::size_t>(at)), seq);
        }
        bench_.compute_to(prompt, limit, seq);
        bench_.expect_next(prompt, seq);
    }
    void publish(const std::string &tenant, const Tokens &prefix, SeqId seq) {
        bench_.env.advance(0.01);
        const bool kept = bench_.cache->publish(tenant, prefix, seq, CheckpointKind::interval);
        if (kept) published_.insert({tenant, prefix});
        check();
    }
    /// As an engine does: parked cells go where the pool is too small for what is to come.
    void make_room(TokenPos cells) {
        const TokenPos room = bench_.backend->limits().pool_cells - bench_.backend->cells_used();
        if (room < 2 * cells) (void)bench_.cache->free_cells(2 * cells - room);
    }
    void free_cells() {
        const TokenPos before = bench_.backend->cells_used();
        const TokenPos freed = bench_.cache->free_cells(static_cast<TokenPos>(below(400)));
        EXPECT_EQ(before - bench_.backend->cells_used(), freed);
    }
    void hold() {
        const Tokens &prompt = pool_[below(pool_.size())];
        leases_.push_back(bench_.cache->find("", prompt, static_cast<TokenPos>(prompt.size())));
        if (leases_.back().lease == nullptr) leases_.pop_back();
    }
    void clear() {
        leases_.clear();
        published_.clear();
        bench_.cache->clear();
        EXPECT_EQ(bench_.cache->stats().snapshots, 0u);
        EXPECT_EQ(bench_.cache->stats().ram_bytes, 0u);
    }

    void expect_published(const std::string &tenant, const Tokens &prompt, const Lookup &lookup, TokenPos limit) {
        const bool cuts = bench_.backend->layout().can_rewind;
        TokenPos deepest = 0;
        bool exact = lookup.depth == 0;
        for (const auto &[owner, prefix] : published_) {
            if (owner != tenant) continue;
            const auto differ = std::mismatch(prefix.begin(), prefix.end(), prompt.begin(), prompt.end()).first;
            const auto common = std::min(limit, static_cast<TokenPos>(differ - prefix.begin()));
            if (cuts || (differ == prefix.end() && static_cast<TokenPos>(prefix.size()) <= limit)) {
                deepest = std::max(deepest, common);
                exact = exact || common == lookup.depth || (cuts && common > lookup.depth);
            }
        }
        EXPECT_TRUE(exact) << "nothing of " << lookup.depth << " tokens was ever published";
        EXPECT_LE(lookup.depth, deepest);
        EXPECT_EQ(lookup.tier.has_value(), lookup.depth > 0);
        EXPECT_TRUE(lookup.depth == limit ? lookup.reason == MissReason::none : true);
        if (lookup.depth < deepest) ++misses_of_the_deepest;
        if (lookup.depth < deepest) {
            EXPECT_TRUE(lookup.reason == MissReason::evicted || lookup.reason == MissReason::no_checkpoint)
                << name_of(lookup.reason);
        }
    }
    void check() {
        bench_.cache->check_invariants();
        const CacheStats stats = bench_.cache->stats();
        ASSERT_LE(stats.ram_bytes, policy_.ram_bytes);
        ASSERT_LE(stats.device_bytes, policy_.device_bytes);
        ASSERT_LE(stats.device_snapshots, static_cast<std::size_t>(policy_.max_device_snapshots));
        ASSERT_LE(stats.snapshots, static_cast<std::size_t>(policy_.max_snapshots));
    }

    CacheBench bench_;
    SnapshotPolicy policy_;
    std::mt19937 random_;
    bool faults_;
    std::vector<Tokens> pool_;
    std::vector<Lookup> leases_;
    std::set<std::pair<std::string, Tokens>> published_;
    std::size_t hits_ = 0;
};

class Random : public testing::TestWithParam<SimFamily> {};
INSTANTIATE_TEST_SUITE_P(Families, Random, kFamilies, family_name);

TEST_P(Random, WithRoomForAllTheDeepestIsAlwaysFound) {
    SnapshotPolicy policy = ample_policy();
    policy.max_device_snapshots = 4;
    policy.ram_bytes = 64_MiB;
    RandomWorkload workload(GetParam(), policy, 1, false);
    workload.run(800);
    EXPECT_EQ(workload.misses_of_the_deepest, 0u);
}

TEST_P(Random, TightBudgetsHoldAndWhatIsServedIsRight) {
    for (std::uint32_t seed = 2; seed <= 4; ++seed) {
        SnapshotPolicy policy = ample_policy();
        policy.max_device_snapshots = static_cast<std::int32_t>(seed % 3);
        policy.device_bytes = 6_KiB;
        policy.ram_bytes = 12_KiB;
        policy.max_snapshots = seed == 3 ? 3 : 100;
        RandomWorkload(GetParam(), policy, seed, false).run(700);
    }
}

TEST_P(Random, FaultsCostTimeAndNothingElse) {
    for (std::uint32_t seed = 5; seed <= 7; ++seed) {
        SnapshotPolicy policy = ample_policy();
        policy.max_device_snapshots = 2;
        policy.device_bytes = 16_KiB;
        policy.ram_bytes = 30_KiB;
        RandomWorkload(GetParam(), policy, seed, true).run(700);
    }
}

TEST_P(Random, TheDeviceAloneIsEnough) {
    RandomWorkload(GetParam(), device_only(3), 8, true).run(700);
}

}  // namespace
}  // namespace cairn
