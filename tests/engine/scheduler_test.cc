#include "engine/scheduler.h"

#include <gtest/gtest.h>

#include <random>

namespace cairn {
namespace {

using Facts = std::vector<SequenceFacts>;
using Plan = std::vector<Slice>;

TEST(Scheduler, GivesNothingToNobody) {
    EXPECT_EQ(plan_step({}, 16), Plan{});
}

TEST(Scheduler, DecodesBeforeItPrefills) {
    const Facts facts{{0, 100, 100}, {40, 41, 41}, {7, 8, 8}};
    EXPECT_EQ(plan_step(facts, 10), (Plan{{1, {40, 41}, true}, {2, {7, 8}, true}, {0, {0, 8}, false}}));
}

TEST(Scheduler, EndsASliceAtTheCutHoweverWideTheStep) {
    const Facts facts{{0, 100, 30}};
    EXPECT_EQ(plan_step(facts, 2048), (Plan{{0, {0, 30}, false}}));
}

TEST(Scheduler, WantsLogitsOnlyWhereThePromptEnds) {
    const Facts facts{{30, 100, 100}};
    EXPECT_EQ(plan_step(facts, 70), (Plan{{0, {30, 100}, true}}));
    EXPECT_EQ(plan_step(facts, 69), (Plan{{0, {30, 99}, false}}));
}

TEST(Scheduler, FillsWhatOnePrefillLeavesWithTheNext) {
    const Facts facts{{0, 100, 10}, {0, 50, 50}, {0, 50, 50}};
    EXPECT_EQ(plan_step(facts, 40), (Plan{{0, {0, 10}, false}, {1, {0, 30}, false}}));
}

TEST(Scheduler, NeverPlansMoreThanAllowedNorASequenceTwice) {
    std::mt19937 random(7);
    for (int round = 0; round < 500; ++round) {
        Facts facts;
        for (std::size_t i = 0; i < random() % 20; ++i) {
            const auto computed = static_cast<TokenPos>(random() % 50);
            const auto size = computed + 1 + static_cast<TokenPos>(random() % 50);
            const auto cut = computed + 1 + static_cast<TokenPos>(random() % static_cast<unsigned>(size - computed));
            facts.push_back({computed, size, cut});
        }
        const auto most = static_cast<TokenPos>(1 + random() % 64);
        TokenPos planned = 0;
        std::vector<int> seen(facts.size(), 0);
        for (const Slice &slice : plan_step(facts, most)) {
            const SequenceFacts &sequence = facts[slice.sequence];
            EXPECT_EQ(++seen[slice.sequence], 1);
            EXPECT_EQ(slice.span.begin, sequence.computed);
            EXPECT_GT(slice.span.end, slice.span.begin);
            EXPECT_LE(slice.span.end, sequence.cut);
            EXPECT_EQ(slice.output, slice.span.end == sequence.size);
            planned += slice.span.length();
        }
        EXPECT_LE(planned, most);
        EXPECT_EQ(planned > 0, !facts.empty());
    }
}

}  // namespace
}  // namespace cairn
