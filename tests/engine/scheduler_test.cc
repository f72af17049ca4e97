#include "engine/scheduler.h"

#include <gtest/gtest.h>

#include <random>

namespace cairn {
namespace {

using Facts = std::vector<SequenceFacts>;
using Plan = std::vector<Slice>;

/// Limits that know no difference between prompts alone and prompts beside decoding.
StepLimits wide(TokenPos tokens) {
    return {tokens, tokens};
}

TEST(Scheduler, GivesNothingToNobody) {
    EXPECT_EQ(plan_step({}, wide(16)), Plan{});
}

TEST(Scheduler, DecodesBeforeItPrefills) {
    const Facts facts{{0, 100, 100}, {40, 41, 41}, {7, 8, 8}};
    EXPECT_EQ(plan_step(facts, wide(10)), (Plan{{1, {40, 41}, true}, {2, {7, 8}, true}, {0, {0, 8}, false}}));
}

TEST(Scheduler, EndsASliceAtTheCutHoweverWideTheStep) {
    const Facts facts{{0, 100, 30}};
    EXPECT_EQ(plan_step(facts, wide(2048)), (Plan{{0, {0, 30}, false}}));
}

TEST(Scheduler, WantsLogitsOnlyWhereThePromptEnds) {
    const Facts facts{{30, 100, 100}};
    EXPECT_EQ(plan_step(facts, wide(70)), (Plan{{0, {30, 100}, true}}));
    EXPECT_EQ(plan_step(facts, wide(69)), (Plan{{0, {30, 99}, false}}));
}

TEST(Scheduler, FillsWhatOnePrefillLeavesWithTheNext) {
    const Facts facts{{0, 100, 10}, {0, 50, 50}, {0, 50, 50}};
    EXPECT_EQ(plan_step(facts, wide(40)), (Plan{{0, {0, 10}, false}, {1, {0, 30}, false}}));
}

TEST(Scheduler, GivesPromptsALimitedShareOfAStepThatDecodes) {
    const Facts facts{{0, 100, 100}, {40, 41, 41}, {0, 50, 50}};
    EXPECT_EQ(plan_step(facts, {200, 30}), (Plan{{1, {40, 41}, true}, {0, {0, 30}, false}}));
    const Facts prompts{{0, 100, 100}, {0, 50, 50}};
    EXPECT_EQ(plan_step(prompts, {200, 30}), (Plan{{0, {0, 100}, true}, {1, {0, 50}, true}}));
}

TEST(Scheduler, DecodesAllStreamsHoweverSmallTheShareOfPrompts) {
    const Facts facts{{5, 6, 6}, {5, 6, 6}, {5, 6, 6}, {0, 9, 9}};
    EXPECT_EQ(plan_step(facts, {100, 1}).size(), 4u);
    EXPECT_EQ(plan_step(facts, {3, 1}).size(), 3u);
}

TEST(Scheduler, PlansNothingOfASequenceThatWaits) {
    const Facts facts{{0, 100, 100, true}, {0, 50, 50}, {0, 1, 1, true}};
    EXPECT_EQ(plan_step(facts, wide(200)), (Plan{{1, {0, 50}, true}}));
    const Facts all{{0, 100, 100, true}};
    EXPECT_EQ(plan_step(all, wide(200)), Plan{});
}

TEST(Scheduler, PrefillsTheMostUrgentFirstAndEqualsInOrderOfArrival) {
    const Facts facts{{0, 90, 90, false, 7}, {0, 30, 30, false, 2}, {0, 30, 30, false, 2}};
    EXPECT_EQ(plan_step(facts, wide(70)), (Plan{{1, {0, 30}, true}, {2, {0, 30}, true}, {0, {0, 10}, false}}));
}

/// A stream of short prompts and one long one: nobody waits for ever, and a short one passes a long one.
TEST(Scheduler, NobodyWaitsForEver) {
    constexpr double kPace = 0.01;  // seconds a token
    struct Prompt {
        double submitted_s;
        TokenPos size;
        TokenPos computed = 0;
    };
    std::vector<Prompt> prompts{{0, 5000}};
    double now = 0;
    double first_short_done = -1;
    // A prompt of 100 tokens comes each second, which is all that can be computed in a second.
    for (int step = 0; step < 1000 && prompts.front().computed < prompts.front().size; ++step) {
        prompts.push_back({now, 100});
        Facts facts;
        std::vector<std::size_t> who;
        for (std::size_t i = 0; i < prompts.size(); ++i) {
            const Prompt &p = prompts[i];
            if (p.computed == p.size) continue;
            facts.push_back(
                {p.computed, p.size, p.size, false, prefill_urgency(p.submitted_s, p.size - p.computed, kPace)});
            who.push_back(i);
        }
        for (const Slice &slice : plan_step(facts, wide(100))) {
            prompts[who[slice.sequence]].computed = slice.span.end;
            if (who[slice.sequence] == 1 && slice.output) first_short_done = now;
        }
        now += 100 * kPace;
    }
    EXPECT_EQ(prompts.front().computed, prompts.front().size) << "the long prompt starved";
    EXPECT_LE(now, 2.1 * 5000 * kPace) << "it waited for more than its own length";
    EXPECT_EQ(first_short_done, 0) << "the short prompt waited for the long one";
}

TEST(Scheduler, SizesAStepByWhatWasMeasured) {
    EXPECT_EQ(tokens_within(0.5, 140, 32, 2048), 70);
    EXPECT_EQ(tokens_within(0.5, 1e6, 32, 2048), 2048);
    EXPECT_EQ(tokens_within(0.5, 3, 32, 2048), 32);
    EXPECT_EQ(tokens_within(0.5, 0, 32, 2048), 32);
    EXPECT_EQ(tokens_within(0.5, 140, 32, 8), 8) << "the step's own limit holds";
    EXPECT_EQ(tokens_within(1e30, 1e30, 1, 2048), 2048);
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
        for (const Slice &slice : plan_step(facts, wide(most))) {
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
