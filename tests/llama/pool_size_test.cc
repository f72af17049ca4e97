#include "llama/pool_size.h"

#include <gtest/gtest.h>

namespace cairn {
namespace {

PoolFacts facts() {
    PoolFacts facts;
    facts.trained_context = 32768;
    facts.live_sequences = 4;
    facts.parked_sequences = 16;
    facts.device_bytes = 64 << 20;
    facts.row_bytes = 1024;
    facts.boundary_bytes = 1 << 20;
    facts.free_bytes = std::size_t{8} << 30;
    return facts;
}

TEST(PoolSize, HoldsTheContextAndWhatTheBudgetBuys) {
    const PoolSize size = size_pool(facts());
    EXPECT_EQ(size.context, 32768);
    EXPECT_EQ(size.live_sequences, 4);
    EXPECT_EQ(size.parked_sequences, 16);
    EXPECT_EQ(size.cells, 32768 + 32768) << "48 MiB would buy 49,152 cells: no more than the context has";
}

TEST(PoolSize, GivesBoundariesNoMoreThanHalfTheBudget) {
    PoolFacts large = facts();
    large.boundary_bytes = 20 << 20;
    const PoolSize size = size_pool(large);
    EXPECT_EQ(size.parked_sequences, 1);
    EXPECT_EQ(size.cells, 32768 + 32768);
}

TEST(PoolSize, ParksNothingWithoutABudget) {
    PoolFacts none = facts();
    none.device_bytes = 0;
    EXPECT_EQ(size_pool(none).parked_sequences, 0);
    EXPECT_EQ(size_pool(none).cells, 32768);
}

TEST(PoolSize, HalvesAContextThatWasNotAskedForUntilItFits) {
    PoolFacts small = facts();
    small.free_bytes = 20 << 20;
    EXPECT_EQ(size_pool(small).context, 8192);
    small.free_bytes = 1;
    EXPECT_EQ(size_pool(small).context, 4096);
    small.asked_context = 32768;
    EXPECT_EQ(size_pool(small).context, 32768) << "what was asked for is not second-guessed";
}

TEST(PoolSize, IsNeverSmallerThanLibllamaMakesIt) {
    PoolFacts tiny = facts();
    tiny.asked_context = 1;
    tiny.device_bytes = 0;
    EXPECT_EQ(size_pool(tiny).context, 1);
    EXPECT_EQ(size_pool(tiny).cells, 256);
    tiny.asked_context = 257;
    EXPECT_EQ(size_pool(tiny).cells, 512);
}

TEST(PoolSize, LeavesTheContextAloneWhereTheModelComputesByIt) {
    PoolFacts fixed = facts();
    fixed.keep_context = true;
    EXPECT_EQ(size_pool(fixed).cells, 32768);
}

TEST(PoolSize, StaysWithinTheSequencesThereAre) {
    PoolFacts many = facts();
    many.live_sequences = 300;
    EXPECT_EQ(size_pool(many).live_sequences, 255);
    EXPECT_EQ(size_pool(many).parked_sequences, 0);
    many.live_sequences = 250;
    EXPECT_EQ(size_pool(many).parked_sequences, 5);
}

TEST(StateBudget, IsTheTightestOfTheLimits) {
    constexpr DeviceMemory kMemory{.free = 6000, .total = 10000};
    EXPECT_EQ(state_budget({}, kMemory), std::nullopt);
    EXPECT_EQ(state_budget({.budget_bytes = 5000}, kMemory), 5000u);
    EXPECT_EQ(state_budget({.headroom_bytes = 2000}, kMemory), 4000u);
    EXPECT_EQ(state_budget({.headroom_bytes = 7000}, kMemory), 0u);
    EXPECT_EQ(state_budget({.utilization = 0.9}, kMemory), 5000u) << "4000 are taken by others";
    EXPECT_EQ(state_budget({.utilization = 0.3}, kMemory), 0u);
    EXPECT_EQ(state_budget({.budget_bytes = 4500, .headroom_bytes = 2000, .utilization = 0.9}, kMemory), 4000u);
    EXPECT_EQ(state_budget({.headroom_bytes = 2000, .utilization = 0.9}, {}), std::nullopt) << "nothing is known";
    EXPECT_EQ(state_budget({.budget_bytes = 5000, .headroom_bytes = 2000}, {}), 5000u);
}

/// What the sequences of a pool take: libllama has one more, for copying.
std::size_t bytes_of(const PoolSize &size, const PoolFacts &facts) {
    return static_cast<std::size_t>(size.live_sequences + size.parked_sequences + 1) * facts.boundary_bytes +
           static_cast<std::size_t>(size.cells) * facts.row_bytes;
}

TEST(PoolSize, NeverTakesMoreThanTheStatesMayTake) {
    for (const std::size_t row : {0, 100, 1024, 40000}) {
        for (const std::size_t boundary : {std::size_t{0}, std::size_t{5000}, std::size_t{20} << 20}) {
            for (std::size_t budget = 1 << 16; budget < (std::size_t{4} << 30); budget = budget * 3 / 2) {
                PoolFacts tight = facts();
                tight.row_bytes = row;
                tight.boundary_bytes = boundary;
                tight.state_bytes = budget;
                const PoolSize size = size_pool(tight);
                if (size.cells == 0) {
                    EXPECT_LT(budget, least_state_bytes(tight));
                    continue;
                }
                EXPECT_LE(bytes_of(size, tight), budget) << row << " " << boundary;
                EXPECT_GE(size.live_sequences, 1);
                EXPECT_GE(size.cells, 256);
                EXPECT_LE(size.context, size.cells);
                EXPECT_LE(size.context, 32768);
            }
        }
    }
}

TEST(PoolSize, UsesABudgetForMoreThanOneContextWhereItHoldsMore) {
    PoolFacts wide = facts();
    wide.asked_context = 4096;
    wide.state_bytes = std::size_t{1} << 30;
    const PoolSize size = size_pool(wide);
    EXPECT_EQ(size.context, 4096);
    EXPECT_EQ(size.cells, 5 * 4096) << "four sequences, and as much as one context parked";
}

TEST(PoolSize, GivesUpSequencesWhoseBoundariesWouldTakeMoreThanHalf) {
    PoolFacts tight = facts();
    tight.boundary_bytes = 10 << 20;
    tight.state_bytes = std::size_t{50} << 20;
    const PoolSize size = size_pool(tight);
    EXPECT_EQ(size.live_sequences, 2);
    EXPECT_LE(bytes_of(size, tight), std::size_t{50} << 20);
}

TEST(PoolSize, IsNothingWhereNoSequenceFits) {
    PoolFacts none = facts();
    none.state_bytes = least_state_bytes(none) - 1;
    EXPECT_EQ(size_pool(none).cells, 0);
    none.state_bytes = least_state_bytes(none);
    EXPECT_EQ(size_pool(none).cells, 256);
    EXPECT_EQ(size_pool(none).live_sequences, 1);
}

}  // namespace
}  // namespace cairn
