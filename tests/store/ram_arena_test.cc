#include "store/ram_arena.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <random>
#include <vector>

namespace cairn {
namespace {

RamBlock take(RamArena &arena, std::size_t bytes) {
    auto block = arena.allocate(bytes);
    EXPECT_TRUE(block.has_value()) << bytes;
    return block ? std::move(*block) : RamBlock{};
}

TEST(RamArena, TakesNoMemoryBeforeTheFirstBlock) {
    RamArena arena(64_GiB);
    EXPECT_EQ(arena.committed(), 0u);
    EXPECT_EQ(arena.largest_free(), 64_GiB);
}

TEST(RamArena, CountsWholeGranulesAndGivesThemBack) {
    RamArena arena(1_KiB);
    {
        RamBlock block = take(arena, 65);
        EXPECT_EQ(block.bytes().size(), 65u);
        EXPECT_EQ(block.footprint(), 128u);
        EXPECT_EQ(arena.used(), 128u);
        EXPECT_EQ(arena.blocks(), 1u);
        arena.check_invariants();
    }
    EXPECT_EQ(arena.used(), 0u);
    EXPECT_EQ(arena.blocks(), 0u);
    EXPECT_EQ(arena.largest_free(), 1_KiB);
}

TEST(RamArena, BlockOfNoBytesCostsNothing) {
    RamArena arena(0);
    RamBlock block = take(arena, 0);
    EXPECT_TRUE(block.empty());
    EXPECT_EQ(arena.allocate(1).error().code, ErrorCode::capacity);
}

TEST(RamArena, BudgetIsRoundedDown) {
    RamArena arena(127);
    EXPECT_EQ(arena.budget(), 64u);
    EXPECT_EQ(arena.allocate(65).error().code, ErrorCode::capacity);
    EXPECT_TRUE(arena.allocate(64).has_value());
}

TEST(RamArena, HugeRequestsAreRefusedWithoutOverflow) {
    RamArena arena(1_KiB);
    EXPECT_EQ(arena.allocate(static_cast<std::size_t>(-1)).error().code, ErrorCode::capacity);
    EXPECT_EQ(arena.used(), 0u);
}

TEST(RamArena, BestFitTakesTheSmallestHoleThatIsLargeEnough) {
    RamArena arena(1_KiB);
    RamBlock a = take(arena, 256), b = take(arena, 64), c = take(arena, 128), d = take(arena, 64);
    const std::byte *hole = c.bytes().data();
    a = RamBlock{};
    c = RamBlock{};
    RamBlock fits = take(arena, 100);
    EXPECT_EQ(fits.bytes().data(), hole);
    arena.check_invariants();
}

TEST(RamArena, NeighbouringFreeRangesAreJoined) {
    RamArena arena(256);
    RamBlock a = take(arena, 64), b = take(arena, 64), c = take(arena, 64), d = take(arena, 64);
    a = RamBlock{};
    c = RamBlock{};
    EXPECT_EQ(arena.largest_free(), 64u);
    b = RamBlock{};
    EXPECT_EQ(arena.largest_free(), 192u);
    EXPECT_TRUE(arena.allocate(192).has_value());
    EXPECT_EQ(arena.moved(), 0u);
}

TEST(RamArena, HolesThatAreLargeEnoughTogetherAreJoinedByTheCheapestMove) {
    RamArena arena(1024);
    RamBlock a = take(arena, 64), big = take(arena, 512), b = take(arena, 64), small = take(arena, 60),
             c = take(arena, 64);
    RamBlock rest = take(arena, 256);
    std::memset(small.bytes().data(), 0x77, 60);
    a = RamBlock{};
    b = RamBlock{};
    c = RamBlock{};
    RamBlock fits = take(arena, 128);  // b and c with `small` between them, not a and b with `big`
    EXPECT_EQ(arena.moved(), 60u);
    EXPECT_EQ(arena.used(), 960u);
    for (std::byte byte : small.bytes())
        EXPECT_EQ(byte, std::byte{0x77});
    arena.check_invariants();
    EXPECT_EQ(arena.allocate(65).error().code, ErrorCode::capacity);
}

TEST(RamArena, ShrinkKeepsTheBytesAndFreesTheRest) {
    RamArena arena(256);
    RamBlock block = take(arena, 256);
    std::memset(block.bytes().data(), 0x5a, 256);
    block.shrink(65);
    EXPECT_EQ(block.size(), 65u);
    EXPECT_EQ(arena.used(), 128u);
    EXPECT_EQ(arena.blocks(), 1u);
    RamBlock other = take(arena, 128);
    std::memset(other.bytes().data(), 0, 128);
    for (std::byte byte : block.bytes())
        EXPECT_EQ(byte, std::byte{0x5a});
    block.shrink(0);
    EXPECT_TRUE(block.empty());
    EXPECT_EQ(arena.blocks(), 1u);
    arena.check_invariants();
}

TEST(RamArena, MovingABlockMovesItsMemory) {
    RamArena arena(256);
    RamBlock a = take(arena, 64);
    RamBlock b = std::move(a);
    a = take(arena, 128);
    b = std::move(a);  // what b held is free
    EXPECT_EQ(arena.used(), 128u);
    EXPECT_EQ(b.size(), 128u);
}

TEST(RamArena, CommitsAheadUntilEnoughIsFreeOrTheBudgetIsThere) {
    RamArena arena(3 * RamArena::kCommitStep);
    EXPECT_TRUE(arena.commit_ahead(RamArena::kCommitStep + 1));
    EXPECT_TRUE(arena.commit_ahead(RamArena::kCommitStep + 1));
    EXPECT_FALSE(arena.commit_ahead(RamArena::kCommitStep + 1));
    EXPECT_EQ(arena.committed(), 2 * RamArena::kCommitStep);
    EXPECT_TRUE(arena.commit_ahead(64_GiB));
    EXPECT_FALSE(arena.commit_ahead(64_GiB));
    EXPECT_EQ(arena.committed(), arena.budget());
}

TEST(RamArenaDeath, ABlockMustNotOutliveItsArena) {
    EXPECT_DEATH(
        {
            RamArena arena(64);
            (void)new RamBlock(std::move(*arena.allocate(1)));
        },
        "outlive");
}

struct Held {
    RamBlock block;
    std::byte canary;
};

/// What an arena must keep, seen in the simplest way: the blocks do not overlap, and their sizes add up.
void expect_sound(const RamArena &arena, const std::vector<Held> &held) {
    std::map<const std::byte *, std::size_t> owner;
    std::size_t used = 0;
    for (const Held &h : held) {
        owner.emplace(h.block.bytes().data(), h.block.footprint());
        used += h.block.footprint();
    }
    ASSERT_EQ(owner.size(), held.size());
    const std::byte *end = nullptr;
    for (const auto &[at, size] : owner) {
        ASSERT_LE(end, at);
        end = at + size;
    }
    ASSERT_EQ(arena.used(), used);
    ASSERT_EQ(arena.blocks(), held.size());
    ASSERT_LE(arena.used(), arena.budget());
    arena.check_invariants();
}

TEST(RamArena, RandomOperationsAgreeWithANaiveModelAndKeepContents) {
    constexpr std::size_t kBudget = 64_KiB;
    for (std::uint32_t seed = 1; seed <= 4; ++seed) {
        std::mt19937 random(seed);
        RamArena arena(kBudget);
        std::vector<Held> held;
        for (int step = 0; step < 2000; ++step) {
            const auto choice = random() % 10;
            if (choice < 6) {
                const std::size_t bytes = 1 + random() % (random() % 8 == 0 ? 16384 : 1024);
                const bool fits = ((bytes + 63) & ~std::size_t{63}) <= kBudget - arena.used();
                auto block = arena.allocate(bytes);
                ASSERT_EQ(block.has_value(), fits);
                if (!block) continue;
                const auto canary = static_cast<std::byte>(random());
                std::memset(block->bytes().data(), static_cast<int>(canary), bytes);
                held.push_back({std::move(*block), canary});
            } else if (!held.empty()) {
                Held &chosen = held[random() % held.size()];
                for (std::byte byte : chosen.block.bytes())
                    ASSERT_EQ(byte, chosen.canary);
                if (choice == 6) {
                    chosen.block.shrink(1 + random() % chosen.block.size());
                } else {
                    std::swap(chosen, held.back());
                    held.pop_back();
                }
            }
            expect_sound(arena, held);
        }
        EXPECT_GT(arena.moved(), 0u);
        for (const Held &h : held) {
            for (std::byte byte : h.block.bytes())
                ASSERT_EQ(byte, h.canary);
        }
    }
}

}  // namespace
}  // namespace cairn
