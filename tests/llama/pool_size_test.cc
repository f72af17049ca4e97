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

}  // namespace
}  // namespace cairn
