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
    EXPECT_EQ(arena.allocate(128).error().code, ErrorCode::capacity);
    b = RamBlock{};
    EXPECT_EQ(arena.largest_free(), 192u);
    EXPECT_TRUE(arena.allocate(192).has_value());
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

/// What an arena must do, in the simplest way: which bytes are whose.
class NaiveArena {
public:
    void add(const RamBlock &block) { owner_.emplace(block.bytes().data(), block.footprint()); }
    void remove(const RamBlock &block) { owner_.erase(block.bytes().data()); }
    [[nodiscard]] std::size_t used() const {
        std::size_t sum = 0;
        for (const auto &[at, size] : owner_)
            sum += size;
        return sum;
    }
    [[nodiscard]] bool disjoint() const {
        const std::byte *end = nullptr;
        for (const auto &[at, size] : owner_) {
            if (at < end) return false;
            end = at + size;
        }
        return true;
    }
    /// The largest gap in [base, base + budget).
    [[nodiscard]] std::size_t largest_gap(const std::byte *base, std::size_t budget) const {
        std::size_t largest = 0;
        const std::byte *at = base;
        for (const auto &[begin, size] : owner_) {
            largest = std::max(largest, static_cast<std::size_t>(begin - at));
            at = begin + size;
        }
        return std::max(largest, static_cast<std::size_t>(base + budget - at));
    }

private:
    std::map<const std::byte *, std::size_t> owner_;
};

TEST(RamArena, RandomOperationsAgreeWithANaiveModelAndKeepContents) {
    struct Held {
        RamBlock block;
        std::byte canary;
    };
    constexpr std::size_t kBudget = 64_KiB;
    for (std::uint32_t seed = 1; seed <= 4; ++seed) {
        std::mt19937 random(seed);
        RamArena arena(kBudget);
        const std::byte *base = take(arena, 1).bytes().data();
        NaiveArena naive;
        std::vector<Held> held;
        for (int step = 0; step < 3000; ++step) {
            const auto choice = random() % 10;
            if (choice < 5) {
                const std::size_t bytes = 1 + random() % (random() % 8 == 0 ? 16384 : 1024);
                const std::size_t largest = naive.largest_gap(base, kBudget);
                auto block = arena.allocate(bytes);
                ASSERT_EQ(block.has_value(), ((bytes + 63) & ~std::size_t{63}) <= largest);
                if (!block) continue;
                const auto canary = static_cast<std::byte>(random());
                std::memset(block->bytes().data(), static_cast<int>(canary), bytes);
                naive.add(*block);
                held.push_back({std::move(*block), canary});
            } else if (!held.empty()) {
                const std::size_t at = random() % held.size();
                Held &chosen = held[at];
                for (std::byte byte : chosen.block.bytes())
                    ASSERT_EQ(byte, chosen.canary);
                naive.remove(chosen.block);
                if (choice < 7) {
                    chosen.block.shrink(1 + random() % chosen.block.size());
                    naive.add(chosen.block);
                } else {
                    std::swap(chosen, held.back());
                    held.pop_back();
                }
            }
            ASSERT_TRUE(naive.disjoint());
            ASSERT_EQ(arena.used(), naive.used());
            ASSERT_EQ(arena.blocks(), held.size());
            ASSERT_EQ(arena.largest_free(), naive.largest_gap(base, kBudget));
            arena.check_invariants();
        }
    }
}

}  // namespace
}  // namespace cairn
