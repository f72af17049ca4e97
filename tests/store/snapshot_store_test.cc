#include "store/snapshot_store.h"

#include <gtest/gtest.h>

#include "tests/store/store_bench.h"

namespace cairn {
namespace {

using Where = StoreBench::Where;

class EveryFamily : public testing::TestWithParam<SimFamily> {};

INSTANTIATE_TEST_SUITE_P(Families, EveryFamily,
                         testing::Values(SimFamily::attention, SimFamily::hybrid, SimFamily::recurrent,
                                         SimFamily::sliding_window, SimFamily::whole),
                         [](const auto &param) { return std::string(name_of(param.param)); });

TEST_P(EveryFamily, WhatIsKeptIsRestoredExactlyFromBothTiers) {
    StoreBench bench(GetParam());
    const Tokens tokens = StoreBench::text(600);
    const auto parked = bench.must_keep(tokens, Where::device);
    const auto copied = bench.must_keep(tokens, Where::ram);
    bench.expect_restores(parked, tokens, Tier::device);
    bench.expect_restores(copied, tokens, Tier::ram);
    EXPECT_EQ(bench.metrics.value(Metric::cache_hits_total, "device"), 1);
    EXPECT_EQ(bench.metrics.value(Metric::cache_hits_total, "ram"), 1);
    EXPECT_EQ(copied->hits(), 1u);
    bench.expect_nothing_left();
}

TEST_P(EveryFamily, ADemotedSnapshotIsTheSameSnapshot) {
    StoreBudgets budgets{.max_snapshots = 10, .ram_bytes = 1_MiB, .device = StoreBench::kRoomy};
    budgets.device.parked = 1;
    StoreBench bench(GetParam(), budgets);
    const Tokens first = StoreBench::text(300, 1), second = StoreBench::text(200, 2);
    const auto a = bench.must_keep(first, Where::device);
    const auto b = bench.must_keep(second, Where::device);
    EXPECT_EQ(a->where(), "ram");
    EXPECT_EQ(b->where(), "device");
    EXPECT_EQ(bench.metrics.value(Metric::snapshots_demoted_total, "ram"), 1);
    bench.expect_restores(a, first, Tier::ram);
    bench.expect_restores(b, second, Tier::device);
    bench.expect_nothing_left();
}

TEST_P(EveryFamily, TwoAdoptersGetTheSameStateAndTheSnapshotStays) {
    StoreBench bench(GetParam());
    const Tokens tokens = StoreBench::text(100);
    for (const Where where : {Where::device, Where::ram}) {
        const auto snapshot = bench.must_keep(tokens, where);
        ASSERT_TRUE(bench.store->restore(SnapshotLease(snapshot, 100), SeqId(2)).has_value());
        ASSERT_TRUE(bench.store->restore(SnapshotLease(snapshot, 100), SeqId(3)).has_value());
        bench.extend({1, 2, 3}, SeqId(2));
        bench.extend({4, 5}, SeqId(3));
        bench.expect_holds(SeqId(2), StoreBench::joined(tokens, {1, 2, 3}));
        bench.expect_holds(SeqId(3), StoreBench::joined(tokens, {4, 5}));
        bench.backend->clear(SeqId(2));
        bench.backend->clear(SeqId(3));
        bench.expect_restores(snapshot, tokens, where == Where::device ? Tier::device : Tier::ram);
        EXPECT_EQ(snapshot->hits(), 3u);
    }
}

TEST_P(EveryFamily, FailingCaptureOrParkLeavesNothingBehind) {
    StoreBench bench(GetParam());
    for (const auto &[call, where] :
         {std::pair{SimCall::capture, Where::ram}, std::pair{SimCall::park, Where::device}}) {
        bench.control->fail(call, 1, Error{ErrorCode::io, "injected"});
        const auto snapshot = bench.keep(StoreBench::text(64), where);
        ASSERT_FALSE(snapshot.has_value());
        EXPECT_EQ(snapshot.error().code, ErrorCode::io);
        EXPECT_EQ(bench.store->ram_bytes(), 0u);
        EXPECT_EQ(bench.store->device_bytes(), 0u);
        bench.store->check_invariants();
    }
}

TEST_P(EveryFamily, AFailingDemotionGivesTheSnapshotUpAndLeaksNothing) {
    StoreBudgets budgets{.max_snapshots = 10, .ram_bytes = 1_MiB, .device = StoreBench::kRoomy};
    budgets.device.parked = 1;
    StoreBench bench(GetParam(), budgets);
    const auto a = bench.must_keep(StoreBench::text(50, 1), Where::device);
    bench.control->fail(SimCall::capture, 1, Error{ErrorCode::io, "injected"});
    bench.must_keep(StoreBench::text(50, 2), Where::device);
    EXPECT_TRUE(a->gone());
    EXPECT_EQ(bench.forgotten, 1);
    EXPECT_EQ(bench.store->ram_bytes(), 0u);
    EXPECT_EQ(bench.metrics.value(Metric::snapshots_evicted_total, "device"), 1);
}

TEST_P(EveryFamily, ADamagedPayloadIsDroppedOnceAndNotCountedAsAHit) {
    StoreBench bench(GetParam());
    bench.control->after_capture([](MutableBytes rows, MutableBytes boundary) {
        MutableBytes part = rows.empty() ? boundary : rows;
        part.back() ^= std::byte{1};
    });
    const auto snapshot = bench.must_keep(StoreBench::text(90), Where::ram);
    const auto restored = bench.store->restore(SnapshotLease(snapshot, 90), SeqId(1));
    ASSERT_FALSE(restored.has_value());
    EXPECT_EQ(restored.error().code, ErrorCode::corrupt);
    EXPECT_TRUE(snapshot->gone());
    EXPECT_EQ(bench.backend->length(SeqId(1)), 0);
    EXPECT_EQ(bench.store->ram_bytes(), 0u);
    EXPECT_EQ(bench.metrics.value(Metric::cache_hits_total, "ram"), 0);
    bench.store->check_invariants();
}

TEST_P(EveryFamily, ADeviceErrorSaysNothingAboutTheSnapshot) {
    StoreBench bench(GetParam());
    const Tokens tokens = StoreBench::text(90);
    const auto snapshot = bench.must_keep(tokens, Where::ram);
    bench.control->fail(SimCall::restore, 1, Error{ErrorCode::device, "injected"});
    EXPECT_EQ(bench.store->restore(SnapshotLease(snapshot, 90), SeqId(1)).error().code, ErrorCode::device);
    bench.expect_restores(snapshot, tokens, Tier::ram);
}

TEST_P(EveryFamily, WhenTheDeviceFailsTheCopyInRamServes) {
    StoreBench bench(GetParam());
    const Tokens tokens = StoreBench::text(90);
    const auto snapshot = bench.must_keep(tokens, Where::device);
    ASSERT_TRUE(bench.store->write_behind());
    EXPECT_EQ(snapshot->where(), "device and ram");
    bench.control->fail(SimCall::adopt, 1, Error{ErrorCode::internal, "injected"});
    bench.expect_restores(snapshot, tokens, Tier::ram);
    EXPECT_EQ(snapshot->where(), "ram");
    EXPECT_EQ(bench.store->device_bytes(), 0u);
}

TEST_P(EveryFamily, ALeasedSnapshotIsNeitherEvictedNorDemoted) {
    StoreBudgets budgets{.max_snapshots = 2, .ram_bytes = 1_MiB, .device = StoreBench::kRoomy};
    budgets.device.parked = 1;
    StoreBench bench(GetParam(), budgets);
    const Tokens tokens = StoreBench::text(80, 1);
    const auto pinned = bench.must_keep(tokens, Where::device);
    const SnapshotLease lease(pinned, 80);
    EXPECT_EQ(bench.store->leases(), 1u);
    EXPECT_EQ(bench.keep(StoreBench::text(80, 2), Where::device).error().code, ErrorCode::capacity);
    bench.must_keep(StoreBench::text(80, 3), Where::ram);
    bench.must_keep(StoreBench::text(80, 4), Where::ram);  // takes the place of the third, not of the leased one
    EXPECT_EQ(pinned->where(), "device");
    EXPECT_EQ(bench.store->free_cells(1000), 0);
    EXPECT_EQ(pinned->where(), "device");
    bench.expect_restores(pinned, tokens, Tier::device);
}

TEST_P(EveryFamily, ClearTakesLeasedSnapshotsTooAndTheirHoldersAreTold) {
    StoreBench bench(GetParam());
    const auto snapshot = bench.must_keep(StoreBench::text(80), Where::ram);
    const SnapshotLease lease(snapshot, 80);
    bench.expect_nothing_left();
    EXPECT_EQ(bench.store->restore(lease, SeqId(1)).error().code, ErrorCode::not_found);
}

TEST_P(EveryFamily, TheNumberOfSnapshotsIsALimitOfItsOwn) {
    StoreBudgets budgets{.max_snapshots = 3, .ram_bytes = 1_MiB, .device = StoreBench::kRoomy};
    StoreBench bench(GetParam(), budgets);
    std::vector<SnapshotPtr> kept;
    for (Token seed = 1; seed <= 5; ++seed)
        kept.push_back(bench.must_keep(StoreBench::text(40, seed), Where::ram));
    EXPECT_EQ(bench.store->live().size(), 3u);
    EXPECT_TRUE(kept[0]->gone() && kept[1]->gone());
    EXPECT_TRUE(kept[2]->in_ram() && kept[3]->in_ram() && kept[4]->in_ram());
}

TEST_P(EveryFamily, WriteBehindMakesDemotionFree) {
    StoreBench bench(GetParam());
    const Tokens tokens = StoreBench::text(200);
    const auto snapshot = bench.must_keep(tokens, Where::device);
    EXPECT_TRUE(bench.store->write_behind());
    EXPECT_FALSE(bench.store->write_behind());
    bench.store->check_invariants();
    bench.backend->clear(SeqId(0));
    const auto captures = bench.control->counters().captures;
    const TokenPos freed = bench.store->free_cells(GetParam() == SimFamily::recurrent ? 0 : 200);
    EXPECT_EQ(freed, GetParam() == SimFamily::recurrent ? 0 : 200);
    EXPECT_EQ(bench.control->counters().captures, captures);
    bench.expect_restores(snapshot, tokens, GetParam() == SimFamily::recurrent ? Tier::device : Tier::ram);
}

TEST_P(EveryFamily, WriteBehindDoesNotRepeatWhatFails) {
    StoreBench bench(GetParam());
    bench.must_keep(StoreBench::text(200), Where::device);
    bench.control->fail(SimCall::capture, 1, Error{ErrorCode::io, "injected"});
    EXPECT_FALSE(bench.store->write_behind());
    EXPECT_FALSE(bench.store->write_behind());
    EXPECT_EQ(bench.store->ram_bytes(), 0u);
    bench.store->check_invariants();
}

// -- rows ----------------------------------------------------------------------------------------------------------

TEST(Rows, AForkInTheMiddleOfAnEdgeStoresNoRowsTwice) {
    StoreBench bench(SimFamily::hybrid);
    const Tokens trunk = StoreBench::text(1000, 1);
    const auto first = bench.must_keep(trunk, Where::ram);
    const Tokens fork = StoreBench::joined(Tokens(trunk.begin(), trunk.begin() + 400), StoreBench::text(100, 9));
    const auto before = bench.control->counters().captured_bytes;
    const auto second = bench.must_keep(fork, Where::ram);
    // 100 rows of 32 bytes with their header, and a boundary: not one row of the shared 400.
    EXPECT_EQ(bench.control->counters().captured_bytes - before, 32u + 100 * 32 + 256);
    EXPECT_EQ(second->rows().segment->parent(), first->rows().segment);
    bench.expect_restores(second, fork, Tier::ram);
    bench.expect_restores(first, trunk, Tier::ram);
}

TEST(Rows, ASnapshotInsideStoredRowsCostsItsBoundaryOnly) {
    StoreBench bench(SimFamily::hybrid);
    const Tokens trunk = StoreBench::text(1000, 1);
    bench.must_keep(trunk, Where::ram);
    const std::size_t before = bench.store->ram_bytes();
    const Tokens middle(trunk.begin(), trunk.begin() + 700);
    const auto snapshot = bench.must_keep(middle, Where::ram);
    EXPECT_EQ(bench.store->ram_bytes() - before, 256u);
    bench.expect_restores(snapshot, middle, Tier::ram);
}

TEST(Rows, ATurnStoresOnlyItsOwnTokens) {
    StoreBench bench(SimFamily::hybrid);
    Tokens conversation = StoreBench::text(500, 1);
    bench.must_keep(conversation, Where::ram);
    for (Token turn = 2; turn <= 6; ++turn) {
        conversation = StoreBench::joined(conversation, StoreBench::text(60, turn));
        const auto before = bench.control->counters().captured_bytes;
        const auto snapshot = bench.must_keep(conversation, Where::ram);
        EXPECT_EQ(bench.control->counters().captured_bytes - before, 32u + 60 * 32 + 256);
        bench.expect_restores(snapshot, conversation, Tier::ram);
    }
}

TEST(Rows, RowsStayWhileADescendantNeedsThemAndGoWithTheLastOne) {
    StoreBudgets budgets{.max_snapshots = 2, .ram_bytes = 1_MiB, .device = {}};
    StoreBench bench(SimFamily::hybrid, budgets);
    const Tokens parent = StoreBench::text(500, 1);
    const Tokens child = StoreBench::joined(parent, StoreBench::text(100, 2));
    const auto a = bench.must_keep(parent, Where::ram);
    const auto b = bench.must_keep(child, Where::ram);
    bench.must_keep(StoreBench::text(10, 3), Where::ram);  // evicts the parent: its boundary goes, its rows stay
    EXPECT_TRUE(a->gone());
    bench.expect_restores(b, child, Tier::ram);
    const std::size_t with_child = bench.store->ram_bytes();
    bench.known.erase(bench.known.begin(), bench.known.begin() + 2);
    bench.must_keep(StoreBench::text(10, 4), Where::ram);
    bench.must_keep(StoreBench::text(10, 5), Where::ram);  // the child goes, and all its rows
    EXPECT_TRUE(b->gone());
    EXPECT_LT(bench.store->ram_bytes(), with_child);
    EXPECT_EQ(bench.store->ram_bytes(), 2 * (384u + 256u));
}

TEST(Rows, NothingNewIsBuiltOnRowsThatFailedToRestore) {
    StoreBench bench(SimFamily::hybrid);
    bool damage = true;
    bench.control->after_capture([&](MutableBytes rows, MutableBytes) {
        if (damage) rows.back() ^= std::byte{1};
    });
    const Tokens parent = StoreBench::text(500, 1);
    const auto a = bench.must_keep(parent, Where::ram);
    damage = false;
    const Tokens child = StoreBench::joined(parent, StoreBench::text(100, 2));
    const auto b = bench.must_keep(child, Where::ram);  // on rows whose damage nobody knows of yet
    EXPECT_FALSE(bench.store->restore(SnapshotLease(a, 500), SeqId(1)).has_value());
    const Tokens sibling = StoreBench::joined(parent, StoreBench::text(50, 3));
    const auto c = bench.must_keep(sibling, Where::ram);
    EXPECT_EQ(c->rows().segment->parent(), nullptr);
    bench.expect_restores(c, sibling, Tier::ram);
    EXPECT_FALSE(bench.store->restore(SnapshotLease(b, 600), SeqId(2)).has_value());
    bench.store->check_invariants();
}

TEST(Rows, APrefixOfARowsOnlySnapshotIsRestoredByACut) {
    StoreBench bench(SimFamily::attention);
    const Tokens tokens = StoreBench::text(300);
    for (const auto &[where, tier] : {std::pair{Where::device, Tier::device}, std::pair{Where::ram, Tier::ram}}) {
        bench.expect_restores(bench.must_keep(tokens, where), Tokens(tokens.begin(), tokens.begin() + 123), tier);
    }
}

// -- budgets -------------------------------------------------------------------------------------------------------

TEST(Budgets, TheLeastRecentlyUsedLeavesRamFirst) {
    // Room for two of 100 tokens: 32 + 100 * 32 -> 3264 bytes of rows, 256 of boundary.
    StoreBench bench(SimFamily::hybrid, {.max_snapshots = 100, .ram_bytes = 2 * (3264 + 256), .device = {}});
    const auto a = bench.must_keep(StoreBench::text(100, 1), Where::ram);
    const auto b = bench.must_keep(StoreBench::text(100, 2), Where::ram);
    bench.env.advance(1);
    bench.expect_restores(a, StoreBench::text(100, 1), Tier::ram);  // consumed: earns its stay
    const auto c = bench.must_keep(StoreBench::text(100, 3), Where::ram);
    EXPECT_TRUE(b->gone());
    EXPECT_TRUE(a->in_ram() && c->in_ram());
    EXPECT_EQ(bench.store->ram_bytes(), 2u * (3264 + 256));
}

TEST(Budgets, WhatDoesNotFitIsRefusedAndSacrificesNothing) {
    StoreBench bench(SimFamily::hybrid, {.max_snapshots = 100, .ram_bytes = 8_KiB, .device = {}});
    const auto small = bench.must_keep(StoreBench::text(100, 1), Where::ram);
    EXPECT_EQ(bench.keep(StoreBench::text(400, 2), Where::ram).error().code, ErrorCode::capacity);
    EXPECT_TRUE(small->in_ram());
    bench.store->check_invariants();
    // A continuation that would fit alone, but not beside the rows it builds on.
    const Tokens longer = StoreBench::joined(StoreBench::text(100, 1), StoreBench::text(200, 3));
    EXPECT_EQ(bench.keep(longer, Where::ram).error().code, ErrorCode::capacity);
    EXPECT_TRUE(small->in_ram());
    bench.expect_restores(small, StoreBench::text(100, 1), Tier::ram);
}

TEST(Budgets, ALeasedSnapshotIsNoRoomForOthers) {
    StoreBench bench(SimFamily::hybrid, {.max_snapshots = 100, .ram_bytes = 4096, .device = {}});
    const auto snapshot = bench.must_keep(StoreBench::text(100, 1), Where::ram);
    {
        const SnapshotLease lease(snapshot, 100);
        EXPECT_EQ(bench.keep(StoreBench::text(100, 2), Where::ram).error().code, ErrorCode::capacity);
        EXPECT_TRUE(snapshot->in_ram());
    }
    bench.must_keep(StoreBench::text(100, 2), Where::ram);
    EXPECT_TRUE(snapshot->gone());
}

TEST(Budgets, OfRowsOnlyTheLeafOfTheColdestConversationGoesFirst) {
    // Two conversations of two turns each; segments of 100 rows are 3264 bytes. Room for exactly four.
    StoreBench bench(SimFamily::attention, {.max_snapshots = 100, .ram_bytes = 4 * 3264, .device = {}});
    const Tokens a1 = StoreBench::text(100, 1), b1 = StoreBench::text(100, 2);
    const Tokens a2 = StoreBench::joined(a1, StoreBench::text(100, 3)),
                 b2 = StoreBench::joined(b1, StoreBench::text(100, 4));
    const auto cold = bench.must_keep(a1, Where::ram), cold_leaf = bench.must_keep(a2, Where::ram);
    const auto warm = bench.must_keep(b1, Where::ram), warm_leaf = bench.must_keep(b2, Where::ram);
    bench.must_keep(StoreBench::text(100, 5), Where::ram);
    EXPECT_TRUE(cold_leaf->gone());
    EXPECT_TRUE(cold->in_ram());
    bench.must_keep(StoreBench::text(100, 6),
                    Where::ram);  // now the cold root is a leaf, and colder than the warm leaf
    EXPECT_TRUE(cold->gone());
    EXPECT_TRUE(warm->in_ram() && warm_leaf->in_ram());
    bench.expect_restores(warm_leaf, b2, Tier::ram);
}

TEST(Budgets, OneEvictionMayTakeALeafAndThenItsParent) {
    StoreBench bench(SimFamily::attention, {.max_snapshots = 100, .ram_bytes = 3 * 3264, .device = {}});
    const Tokens a1 = StoreBench::text(100, 1);
    bench.must_keep(a1, Where::ram);
    bench.must_keep(StoreBench::joined(a1, StoreBench::text(100, 2)), Where::ram);
    const auto big = bench.must_keep(StoreBench::text(300, 3), Where::ram);  // 32 + 300 * 32
    EXPECT_EQ(bench.store->live().size(), 1u);
    EXPECT_EQ(big->where(), "ram");
}

TEST(Budgets, SnapshotsOnOneSegmentOfRowsOnlyLeaveTogether) {
    StoreBench bench(SimFamily::attention, {.max_snapshots = 100, .ram_bytes = 3264, .device = {}});
    const Tokens tokens = StoreBench::text(100, 1);
    const auto whole = bench.must_keep(tokens, Where::ram);
    const auto half = bench.must_keep(Tokens(tokens.begin(), tokens.begin() + 50), Where::ram);
    EXPECT_EQ(bench.store->ram_bytes(), 3264u);
    bench.must_keep(StoreBench::text(100, 2), Where::ram);
    EXPECT_TRUE(whole->gone() && half->gone());
}

TEST(Budgets, HolesCostNobodyItsPlace) {
    // Twelve of 384 bytes fill the budget; every other one is used again, so that what leaves lies in pieces.
    StoreBench bench(SimFamily::attention, {.max_snapshots = 100, .ram_bytes = 12 * 384, .device = {}});
    std::vector<SnapshotPtr> kept;
    for (Token seed = 1; seed <= 12; ++seed)
        kept.push_back(bench.must_keep(StoreBench::text(10, seed), Where::ram));
    bench.env.advance(1);
    for (std::size_t i = 1; i < 12; i += 2)
        bench.expect_restores(kept[i], StoreBench::text(10, static_cast<Token>(i + 1)), Tier::ram);
    const auto big = bench.must_keep(StoreBench::text(40, 50), Where::ram);  // 32 + 40 * 32 -> 1344 bytes: four pieces
    EXPECT_GT(bench.store->arena().moved(), 0u);
    EXPECT_EQ(bench.store->live().size(), 12u - 4 + 1);
    EXPECT_TRUE(kept[8]->in_ram() && kept[10]->in_ram());
    bench.expect_restores(big, StoreBench::text(40, 50), Tier::ram);
    for (std::size_t i = 1; i < 12; i += 2)
        bench.expect_restores(kept[i], StoreBench::text(10, static_cast<Token>(i + 1)), Tier::ram);
}

TEST(Budgets, TheDeviceBudgetIsInBytesToo) {
    StoreBudgets budgets{.max_snapshots = 100, .ram_bytes = 1_MiB, .device = StoreBench::kRoomy};
    budgets.device.bytes = 250 * 32 + 2 * 256;  // two of 100 tokens, not three
    StoreBench bench(SimFamily::hybrid, budgets);
    const auto a = bench.must_keep(StoreBench::text(100, 1), Where::device);
    bench.must_keep(StoreBench::text(100, 2), Where::device);
    bench.must_keep(StoreBench::text(100, 3), Where::device);
    EXPECT_EQ(bench.store->device_snapshots(), 2u);
    EXPECT_EQ(bench.store->device_bytes(), 200u * 32 + 2 * 256);
    EXPECT_EQ(a->where(), "ram");
    EXPECT_EQ(bench.keep(StoreBench::text(300, 4), Where::device).error().code, ErrorCode::capacity);
    EXPECT_EQ(bench.store->device_snapshots(), 2u);
}

TEST(Budgets, CellsThatWouldSlowEverybodyAreALimit) {
    StoreBudgets budgets{.max_snapshots = 100, .ram_bytes = 1_MiB, .device = StoreBench::kRoomy};
    budgets.device.cells = 150;
    StoreBench bench(SimFamily::hybrid, budgets);
    const Tokens tokens = StoreBench::text(100, 1);
    bench.must_keep(tokens, Where::device);
    bench.compute(tokens);
    // The continuation of the very sequence shares its cells: 140 in all.
    const auto longer = StoreBench::joined(tokens, StoreBench::text(40, 2));
    bench.must_keep(longer, Where::device);
    EXPECT_LE(bench.backend->cells_only_parked(), 150);
    EXPECT_EQ(bench.keep(StoreBench::text(151, 3), Where::device).error().code, ErrorCode::capacity);
    EXPECT_EQ(bench.keep(StoreBench::text(150, 3), Where::device)->get()->where(), "device");
    EXPECT_EQ(bench.store->device_snapshots(), 1u);
}

TEST(Budgets, DemotionTakesNoRoomFromWhatIsWorthMore) {
    StoreBudgets budgets{.max_snapshots = 100, .ram_bytes = 3264 + 256, .device = StoreBench::kRoomy};
    budgets.device.parked = 1;
    StoreBench bench(SimFamily::hybrid, budgets);
    const auto old = bench.must_keep(StoreBench::text(100, 1), Where::device);
    const auto ram = bench.must_keep(StoreBench::text(100, 2), Where::ram);
    bench.must_keep(StoreBench::text(100, 3), Where::device);
    EXPECT_TRUE(old->gone());
    EXPECT_TRUE(ram->in_ram());
}

TEST(Budgets, PromotionTakesFreeRoomOnly) {
    StoreBudgets budgets{.max_snapshots = 100, .ram_bytes = 1_MiB, .device = StoreBench::kRoomy};
    budgets.device.parked = 1;
    StoreBench bench(SimFamily::hybrid, budgets);
    const Tokens first = StoreBench::text(100, 1), second = StoreBench::text(100, 2);
    const auto a = bench.must_keep(first, Where::ram);
    const auto b = bench.must_keep(second, Where::ram);
    ASSERT_TRUE(bench.store->restore(SnapshotLease(a, 100), SeqId(1)).has_value());
    bench.store->promote(*a, SeqId(1));
    EXPECT_EQ(a->where(), "device and ram");
    ASSERT_TRUE(bench.store->restore(SnapshotLease(b, 100), SeqId(2)).has_value());
    bench.store->promote(*b, SeqId(2));
    EXPECT_EQ(b->where(), "ram");
    bench.store->check_invariants();
    bench.backend->clear(SeqId(1));
    bench.expect_restores(a, first, Tier::device);
}

TEST(Budgets, BackendsThatCannotParkHaveNoDeviceTier) {
    StoreBudgets budgets{.max_snapshots = 100, .ram_bytes = 1_MiB, .device = StoreBench::kRoomy};
    StoreBench bench(SimConfig{.family = SimFamily::hybrid, .parked_sequences = 0}, budgets);
    bench.compute(StoreBench::text(10));
    EXPECT_FALSE(bench.store->could_park(SeqId(0)));
    EXPECT_EQ(bench.keep(StoreBench::text(10), Where::device).error().code, ErrorCode::capacity);
}

}  // namespace
}  // namespace cairn
