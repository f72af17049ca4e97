// How the cache joins index, store and policy: publication, budgets, refusals, reasons, idle work.
#include "cache/prefix_cache.h"

#include <gtest/gtest.h>

#include "tests/cache/cache_bench.h"

namespace cairn {
namespace {

// Bytes of a simulated hybrid payload in RAM: a header of 32 and 32 a row, in granules of 64; a boundary of 256.
constexpr std::size_t rows_of(std::size_t tokens) {
    return (32 + tokens * 32 + 63) / 64 * 64;
}
constexpr std::size_t kBoundary = 256;

TEST(PrefixCache, OffMeansOff) {
    CacheBench bench(SimFamily::hybrid, SnapshotPolicy{});
    const Tokens prompt = text(50);
    EXPECT_EQ(bench.serve(prompt, {49}).reason, MissReason::disabled);
    EXPECT_EQ(bench.serve(prompt, {49}).reason, MissReason::disabled);
    EXPECT_EQ(bench.cache->stats().snapshots, 0u);
    EXPECT_FALSE(bench.cache->idle_work());
}

TEST(PrefixCache, AModelWhoseStateCannotBeCarriedOverIsOff) {
    CacheBench bench(SimFamily::none);
    EXPECT_EQ(bench.serve(text(50), {49}).reason, MissReason::disabled);
    EXPECT_EQ(bench.cache->stats().snapshots, 0u);
}

TEST(PrefixCache, AnotherModelsStateIsNeverFound) {
    CacheBench bench(SimFamily::hybrid);
    CacheBench other(SimConfig{.family = SimFamily::hybrid, .weights = "other"});
    EXPECT_NE(bench.backend->layout().fingerprint, other.backend->layout().fingerprint);
}

TEST(PrefixCache, AKnownPositionIsRefreshedNotStoredAgain) {
    CacheBench bench(SimFamily::hybrid, ram_only(2 * (rows_of(100) + kBoundary)));
    const Tokens a = text(101, 1), b = text(101, 2), c = text(101, 3);
    bench.serve(a, {100});
    bench.serve(b, {100});
    const auto captures = bench.control->counters().captures;
    bench.serve(a, {100});  // consumed and published again
    EXPECT_EQ(bench.control->counters().captures, captures);
    EXPECT_EQ(bench.cache->stats().snapshots, 2u);
    bench.serve(c, {100});
    EXPECT_EQ(bench.serve(b, {}).reason, MissReason::evicted);
    EXPECT_EQ(bench.serve(a, {}).cached, 100);
}

TEST(PrefixCache, APrefixThatIsPublishedAgainWithoutAHitIsFreshToo) {
    CacheBench bench(SimFamily::hybrid, ram_only(2 * (rows_of(100) + kBoundary)));
    const Tokens a = text(101, 1), b = text(101, 2), c = text(101, 3);
    bench.serve(a, {100});
    bench.serve(b, {100});
    bench.env.advance(1);
    bench.continue_to(a, {100}, "", SeqId(1));  // computed cold beside it, and published
    bench.serve(c, {100});
    EXPECT_EQ(bench.serve(b, {}).reason, MissReason::evicted);
    EXPECT_EQ(bench.serve(a, {}).cached, 100);
}

TEST(PrefixCache, AHitRefreshesTheConsumedStateAndNotItsPath) {
    // Room for three states of one conversation: at 100, 200, 300.
    CacheBench bench(SimFamily::hybrid, ram_only(3 * (rows_of(100) + kBoundary)));
    const Tokens prompt = text(301);
    bench.serve(prompt, {100, 200, 300});
    bench.env.advance(1);
    EXPECT_EQ(bench.serve(prompt, {}).cached, 300);
    bench.serve(first_of(prompt, 201), {});  // consumes the state at 200
    // Another prompt needs a boundary: the state at 100 is the oldest, its rows stay for the others.
    bench.serve(first_of(prompt, 251), {250});
    EXPECT_EQ(bench.cache->find("", prompt, 150).depth, 0);
    EXPECT_EQ(bench.cache->find("", prompt, 220).depth, 200);
    EXPECT_EQ(bench.cache->find("", prompt, 300).depth, 300);
}

TEST(PrefixCache, RowsWhoseStateIsGoneAreNotReusable) {
    CacheBench bench(SimFamily::hybrid, ram_only(rows_of(200) + rows_of(100) + rows_of(1) + 2 * kBoundary));
    const Tokens prompt = text(301);
    bench.serve(prompt, {200, 300});
    bench.serve(prompt, {});       // 300 is consumed
    bench.serve(text(2, 2), {1});  // the boundary at 200 makes room; its rows are still needed
    EXPECT_EQ(bench.cache->stats().ram_bytes, rows_of(200) + rows_of(100) + rows_of(1) + 2 * kBoundary);
    {
        const Lookup lookup = bench.cache->find("", first_of(prompt, 231), 230);
        EXPECT_EQ(lookup.depth, 0);
        EXPECT_EQ(lookup.reason, MissReason::evicted);
    }
    EXPECT_EQ(bench.serve(prompt, {}).cached, 300);
    EXPECT_EQ(bench.cache->stats().snapshots, 2u);
}

TEST(PrefixCache, RowsOfAnEvictedConversationAreReclaimed) {
    CacheBench bench(SimFamily::hybrid, ram_only(rows_of(300) + kBoundary));
    bench.serve(text(301, 1), {300});
    bench.serve(text(301, 2), {300});
    EXPECT_EQ(bench.cache->stats().snapshots, 1u);
    EXPECT_EQ(bench.cache->stats().ram_bytes, rows_of(300) + kBoundary);
}

TEST(PrefixCache, ThreeChainsAndAForkDeepInOneOfThemWithRoomForFewStates) {
    // Checkpoints every 80 of 320 tokens, as every 8,192 of 32k. RAM holds the rows and nine boundaries.
    CacheBench bench(SimFamily::hybrid, ram_only(3 * 4 * rows_of(80) + 9 * kBoundary));
    const std::vector<TokenPos> checkpoints{80, 160, 240, 320};
    for (std::size_t chain = 1; chain <= 3; ++chain)
        bench.serve(text(321, chain), checkpoints);
    EXPECT_EQ(bench.cache->stats().snapshots, 9u);
    const Tokens fork = first_of(text(321, 3), 85) + text(200, 9);
    const Served served = bench.serve(fork, {80});
    EXPECT_EQ(served.cached, 80);
    EXPECT_EQ(served.reason, MissReason::no_checkpoint);
    EXPECT_EQ(served.first_difference, 85);
    for (std::size_t chain = 1; chain <= 3; ++chain)
        EXPECT_EQ(bench.serve(text(321, chain), {}).cached, 320);
}

TEST(PrefixCache, APromptLargerThanEveryBudgetIsServedAndNotKept) {
    SnapshotPolicy policy = ram_only(4_KiB);
    policy.max_device_snapshots = 4;
    policy.device_bytes = 4_KiB;
    CacheBench bench(SimFamily::hybrid, policy);
    const Tokens small = text(60, 2);
    bench.serve(small, {59});
    const Served served = bench.serve(text(5400), {1000, 5399});
    EXPECT_EQ(served.cached, 0);
    EXPECT_EQ(bench.metrics.value(Metric::snapshots_refused_total, "capacity"), 2);
    EXPECT_EQ(bench.serve(small, {}).cached, 59);
}

TEST(PrefixCache, PromptsWorthSeveralTimesTheBudgetStayWithinIt) {
    CacheBench bench(SimFamily::hybrid, ram_only(40_KiB));
    for (std::size_t seed = 1; seed <= 20; ++seed) {
        bench.serve(text(401, seed), {100, 200, 400});
        EXPECT_LE(bench.cache->stats().ram_bytes, 40_KiB);
        EXPECT_GE(bench.cache->stats().snapshots, 3u);
    }
    EXPECT_EQ(bench.serve(text(401, 20), {}).cached, 400);
    int evicted = 0;
    for (std::size_t seed = 1; seed <= 20; ++seed)
        evicted += bench.serve(text(401, seed), {}).reason == MissReason::evicted ? 1 : 0;
    EXPECT_GE(evicted, 15);
}

TEST(PrefixCache, LargeStatesAreLimitedByBytesNotByCount) {
    SimConfig config{.family = SimFamily::recurrent, .boundary_bytes = 150'000};
    CacheBench bench(config, ram_only(400'000));
    for (std::size_t seed = 1; seed <= 5; ++seed)
        bench.serve(text(50, seed), {49});
    EXPECT_EQ(bench.cache->stats().snapshots, 2u);
}

TEST(PrefixCache, TheDefaultKeepsTheLastStateOnTheDevice) {
    CacheBench bench(SimFamily::hybrid, device_only(1));
    const Tokens first = text(101);
    bench.serve(first, {50, 100});
    EXPECT_EQ(bench.cache->stats().device_snapshots, 1u);
    EXPECT_EQ(bench.cache->stats().ram_bytes, 0u);
    const Served again = bench.serve(first, {100});
    EXPECT_EQ(again.cached, 100);
    EXPECT_EQ(again.tier, Tier::device);
    EXPECT_EQ(bench.serve(first_of(first, 81), {}).reason, MissReason::evicted);  // 50 gave way to 100
}

TEST(PrefixCache, DeviceSnapshotsAgeIntoRamAndComeBackOnUse) {
    SnapshotPolicy policy = ram_only(1_MiB);
    policy.max_device_snapshots = 1;
    policy.device_bytes = 1_MiB;
    CacheBench bench(SimFamily::hybrid, policy);
    const Tokens a = text(101, 1), b = text(101, 2);
    bench.serve(a, {100});
    bench.serve(b, {100});
    EXPECT_EQ(bench.metrics.value(Metric::snapshots_demoted_total, "ram"), 1);
    EXPECT_EQ(bench.serve(a, {}).tier, Tier::ram);
    EXPECT_EQ(bench.serve(b, {}).tier, Tier::device);
    bench.backend->clear(SeqId(0));
    EXPECT_EQ(bench.cache->free_cells(100), 100);
    EXPECT_EQ(bench.serve(b, {}).tier, Tier::ram);
    EXPECT_EQ(bench.serve(b, {}).tier, Tier::device);  // promoted: the place was free
}

TEST(PrefixCache, AModelThatParkingSlowsDownKeepsItsStatesInRam) {
    SimConfig config{.family = SimFamily::attention, .tax = 0.001};  // 20 cells are tolerated
    CacheBench bench(config);
    bench.serve(text(101), {100});
    EXPECT_EQ(bench.cache->stats().device_snapshots, 0u);
    EXPECT_EQ(bench.serve(text(101), {}).tier, Tier::ram);
    bench.serve(text(15, 2), {14});
    EXPECT_EQ(bench.cache->stats().device_snapshots, 1u);
}

TEST(PrefixCache, OfEquallyDeepStatesTheOneOnTheDeviceIsUsed) {
    SnapshotPolicy policy = ram_only(1_MiB);
    policy.max_device_snapshots = 1;
    policy.device_bytes = 1_MiB;
    CacheBench bench(SimFamily::attention, policy);
    const Tokens prompt = text(301);
    bench.serve(prompt, {100, 300});  // 100 gave way to 300, which can be cut at 100
    EXPECT_EQ(bench.metrics.value(Metric::snapshots_demoted_total, "ram"), 1);
    const Served served = bench.serve(first_of(prompt, 101), {});
    EXPECT_EQ(served.cached, 100);
    EXPECT_EQ(served.tier, Tier::device);
}

TEST(PrefixCache, NothingNewIsBuiltOnRowsThatFailedToRestore) {
    CacheBench bench(SimFamily::hybrid, ram_only(1_MiB));
    int captures = 0;
    bench.control->after_capture([&](MutableBytes rows, MutableBytes) {
        if (++captures == 1) rows.back() ^= std::byte{1};
    });
    const Tokens prompt = text(151);
    bench.serve(prompt, {100, 150});  // the rows of both are damaged, and nobody knows
    EXPECT_EQ(bench.serve(first_of(prompt, 101), {}).reason, MissReason::restore_failed);
    const Tokens fork = first_of(prompt, 120) + text(50, 2);
    EXPECT_EQ(bench.serve(fork, {160}).cached, 0);
    const Served again = bench.serve(fork, {});
    EXPECT_EQ(again.cached, 160);
    EXPECT_EQ(again.reason, MissReason::none);
}

TEST(PrefixCache, APrefixOfACutableStateIsNotStoredAgain) {
    CacheBench bench(SimFamily::attention, ram_only(1_MiB));
    const Tokens prompt = text(301);
    bench.serve(prompt, {300});
    const auto bytes = bench.cache->stats().ram_bytes;
    bench.serve(first_of(prompt, 201), {200});
    EXPECT_EQ(bench.cache->stats().ram_bytes, bytes);
    EXPECT_EQ(bench.cache->stats().snapshots, 1u);
}

TEST(PrefixCache, AForkStoresNoSharedRowTwice) {
    for (const SimFamily family : {SimFamily::attention, SimFamily::hybrid, SimFamily::sliding_window}) {
        CacheBench bench(family, ram_only(1_MiB));
        bench.serve(text(301), {300});
        const auto before = bench.control->counters().captured_bytes;
        bench.serve(first_of(text(301), 150) + text(101, 2), {250});
        const std::size_t boundary = family == SimFamily::attention ? 0 : bench.backend->layout().boundary_bytes;
        EXPECT_EQ(bench.control->counters().captured_bytes - before, 32 + 100 * 32 + boundary) << name_of(family);
    }
}

TEST(PrefixCache, IdleWorkCopiesWhatIsOnTheDeviceOnlyAndEnds) {
    CacheBench bench(SimFamily::hybrid);
    bench.serve(text(101), {50, 100});
    EXPECT_EQ(bench.cache->stats().ram_bytes, 0u);
    int slices = 0;
    while (bench.cache->idle_work()) {
        bench.cache->check_invariants();
        ASSERT_LT(++slices, 100);
    }
    // The deeper one first: its rows hold those of the shallower one, which then costs its boundary only.
    EXPECT_EQ(bench.cache->stats().ram_bytes, rows_of(100) + 2 * kBoundary);
    const auto captures = bench.control->counters().captures;
    bench.backend->clear(SeqId(0));
    EXPECT_EQ(bench.cache->free_cells(1000), 100);
    EXPECT_EQ(bench.control->counters().captures, captures);
    EXPECT_EQ(bench.serve(text(101), {}).tier, Tier::ram);
}

TEST(PrefixCache, EvictionIsRememberedAcrossLookups) {
    CacheBench bench(SimFamily::hybrid, ram_only(rows_of(100) + kBoundary));
    bench.serve(text(101, 1), {100});
    bench.serve(text(101, 2), {100});
    for (int i = 0; i < 3; ++i) {
        const Lookup lookup = bench.cache->find("", text(101, 1), 100);
        EXPECT_EQ(lookup.reason, MissReason::evicted);
        EXPECT_EQ(lookup.first_difference, 100);
    }
    bench.serve(text(101, 1), {100});  // published again
    EXPECT_EQ(bench.cache->find("", text(101, 1), 100).depth, 100);
}

class Faults : public testing::TestWithParam<SimFamily> {};
INSTANTIATE_TEST_SUITE_P(Families, Faults, kFamilies, family_name);

TEST_P(Faults, FailingPublicationIsCountedAndCostsNothingElse) {
    CacheBench bench(GetParam(), ram_only(1_MiB));
    bench.control->fail(SimCall::capture, 1, Error{ErrorCode::io, "injected"});
    const Tokens prompt = text(101);
    bench.serve(prompt, {100});
    EXPECT_EQ(bench.metrics.value(Metric::snapshots_refused_total, "io"), 1);
    EXPECT_EQ(bench.cache->stats().ram_bytes, 0u);
    EXPECT_EQ(bench.serve(prompt, {100}).reason, MissReason::empty);
    EXPECT_EQ(bench.serve(prompt, {}).cached, 100);
}

TEST_P(Faults, WhereParkingFailsRamTakesTheState) {
    CacheBench bench(GetParam());
    bench.control->fail(SimCall::park, 1, Error{ErrorCode::internal, "injected"});
    bench.serve(text(101), {100});
    EXPECT_EQ(bench.cache->stats().device_snapshots, 0u);
    EXPECT_EQ(bench.serve(text(101), {}).tier, Tier::ram);
}

TEST_P(Faults, AFailingRestoreIsComputedColdAndExplained) {
    CacheBench bench(GetParam(), ram_only(1_MiB));
    const Tokens prompt = text(101);
    bench.serve(prompt, {100});
    bench.control->fail(SimCall::restore, 1, Error{ErrorCode::corrupt, "injected"});
    EXPECT_EQ(bench.serve(prompt, {100}).reason, MissReason::restore_failed);
    EXPECT_EQ(bench.metrics.value(Metric::cache_shortfalls_total, "restore_failed"), 1);
    EXPECT_EQ(bench.metrics.value(Metric::cache_hits_total, "ram"), 0);
    EXPECT_EQ(bench.serve(prompt, {}).cached, 100);  // published again by the cold run
    bench.backend->clear(SeqId(0));
    bench.expect_nothing_left();
}

TEST_P(Faults, DamagedBytesAreNeverServed) {
    CacheBench bench(GetParam(), ram_only(1_MiB));
    int captures = 0;
    bench.control->after_capture([&](MutableBytes rows, MutableBytes boundary) {
        if (++captures % 3 != 1) return;
        MutableBytes part = boundary.empty() ? rows : boundary;
        part[part.size() / 2] ^= std::byte{0x10};
    });
    for (int round = 0; round < 4; ++round) {
        for (std::size_t seed = 1; seed <= 3; ++seed)
            bench.serve(text(101, seed) + text(50, 9), {100, 149});
    }
    EXPECT_GT(bench.metrics.value(Metric::cache_hits_total, "ram"), 0);
    EXPECT_GT(bench.metrics.value(Metric::cache_shortfalls_total, "restore_failed"), 0);
}

TEST_P(Faults, ADeviceErrorPropagatesAndTheStateStays) {
    CacheBench bench(GetParam(), ram_only(1_MiB));
    bench.serve(text(101), {100});
    bench.control->fail(SimCall::restore, 1, Error{ErrorCode::device, "injected"});
    auto adopted = bench.cache->adopt(bench.cache->find("", text(101), 100), SeqId(1));
    ASSERT_FALSE(adopted.has_value());
    EXPECT_EQ(adopted.error().code, ErrorCode::device);
    EXPECT_EQ(bench.serve(text(101), {}).cached, 100);
}

class FaultsOfThePool : public Faults {};
INSTANTIATE_TEST_SUITE_P(Families, FaultsOfThePool,
                         testing::Values(SimFamily::attention, SimFamily::hybrid, SimFamily::sliding_window,
                                         SimFamily::whole),
                         family_name);

TEST_P(FaultsOfThePool, AFullPoolSaysNothingAboutTheState) {
    CacheBench bench(SimConfig{.family = GetParam(), .pool_cells = 250}, ram_only(1_MiB));
    bench.serve(text(101), {100});
    bench.compute_to(text(100, 7), 100, SeqId(2));
    auto adopted = bench.cache->adopt(bench.cache->find("", text(101), 100), SeqId(1));
    ASSERT_FALSE(adopted.has_value());
    EXPECT_EQ(adopted.error().code, ErrorCode::capacity);
    bench.backend->clear(SeqId(2));
    EXPECT_EQ(bench.serve(text(101), {}).cached, 100);
}

TEST_P(Faults, ClearBetweenFindAndAdoptIsNoDisaster) {
    CacheBench bench(GetParam());
    bench.serve(text(101), {100});
    Lookup lookup = bench.cache->find("", text(101), 100);
    bench.cache->clear();
    EXPECT_EQ(bench.cache->adopt(std::move(lookup), SeqId(1)).error().code, ErrorCode::not_found);
    EXPECT_EQ(bench.backend->length(SeqId(1)), 0);
    EXPECT_EQ(bench.serve(text(101), {100}).reason, MissReason::empty);
}

TEST(PrefixCache, ALookupMayOutliveTheCache) {
    CacheBench bench(SimFamily::hybrid);
    bench.serve(text(101), {100});
    const Lookup lookup = bench.cache->find("", text(101), 100);
    bench.cache.reset();
    EXPECT_EQ(lookup.depth, 100);
    EXPECT_EQ(bench.backend->parked_bytes(), 0u);
}

}  // namespace
}  // namespace cairn
