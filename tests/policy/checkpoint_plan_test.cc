#include "policy/checkpoint_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ostream>
#include <random>
#include <set>

namespace cairn {

void PrintTo(const PlannedCheckpoint &c, std::ostream *out) {
    *out << c.pos << ":" << static_cast<int>(c.kind);
}

namespace {

using Plan = std::vector<PlannedCheckpoint>;
constexpr auto system_end = CheckpointKind::system_end;
constexpr auto last_user = CheckpointKind::last_user;
constexpr auto prompt_end = CheckpointKind::prompt_end;
constexpr auto interval = CheckpointKind::interval;
constexpr auto fork = CheckpointKind::fork;
constexpr auto none = std::nullopt;

TEST(CheckpointPlan, PromptEndLeavesOneTokenUncomputed) {
    EXPECT_EQ(plan_checkpoints(100, {}, 0, none, 0), (Plan{{99, prompt_end}}));
    EXPECT_EQ(plan_checkpoints(2, {}, 0, none, 0), (Plan{{1, prompt_end}}));
}

TEST(CheckpointPlan, OneTokenOrNonePlansNothing) {
    const CheckpointHint hints[] = {{0, system_end}, {1, last_user}};
    EXPECT_EQ(plan_checkpoints(1, hints, 1, 0, 0), Plan{});
    EXPECT_EQ(plan_checkpoints(0, hints, 1, 0, 0), Plan{});
}

TEST(CheckpointPlan, IdenticalPromptPlansNothing) {
    const CheckpointHint hints[] = {{50, system_end}};
    EXPECT_EQ(plan_checkpoints(100, hints, 10, none, 99), Plan{});
}

TEST(CheckpointPlan, HintsAreSortedAndThoseOutsideIgnored) {
    const CheckpointHint hints[] = {{700, last_user},  {-5, system_end},  {0, system_end},
                                    {300, system_end}, {1000, last_user}, {2000, last_user}};
    EXPECT_EQ(plan_checkpoints(1000, hints, 0, none, 0),
              (Plan{{300, system_end}, {700, last_user}, {999, prompt_end}}));
}

TEST(CheckpointPlan, WhatIsRestoredIsNotPlannedAgain) {
    const CheckpointHint hints[] = {{300, system_end}, {700, last_user}};
    EXPECT_EQ(plan_checkpoints(1000, hints, 100, 200, 300), (Plan{{400, interval},
                                                                  {500, interval},
                                                                  {600, interval},
                                                                  {700, last_user},
                                                                  {800, interval},
                                                                  {900, interval},
                                                                  {999, prompt_end}}));
}

TEST(CheckpointPlan, CoincidingKindsKeepTheMostImportant) {
    const CheckpointHint hints[] = {{512, last_user}, {512, system_end}, {999, last_user}};
    EXPECT_EQ(plan_checkpoints(1000, hints, 512, 512, 0), (Plan{{512, system_end}, {999, last_user}}));
    EXPECT_EQ(plan_checkpoints(1000, {}, 512, 512, 0), (Plan{{512, fork}, {999, prompt_end}}));
}

TEST(CheckpointPlan, HintsAndPromptEndStayHoweverClose) {
    const CheckpointHint hints[] = {{1, system_end}, {2, last_user}};
    EXPECT_EQ(plan_checkpoints(4, hints, 0, none, 0), (Plan{{1, system_end}, {2, last_user}, {3, prompt_end}}));
}

TEST(CheckpointPlan, AUserMessageThatBeginsJustBehindTheResumePointResumesThere) {
    const CheckpointHint near[] = {{300 + kMinHintSpacing - 1, last_user}};
    EXPECT_EQ(plan_checkpoints(1000, near, 0, none, 300), (Plan{{999, prompt_end}}));
    const CheckpointHint far[] = {{300 + kMinHintSpacing, last_user}};
    EXPECT_EQ(plan_checkpoints(1000, far, 0, none, 300), (Plan{{300 + kMinHintSpacing, last_user}, {999, prompt_end}}));
    const CheckpointHint system[] = {{310, system_end}};
    EXPECT_EQ(plan_checkpoints(1000, system, 0, none, 300), (Plan{{310, system_end}, {999, prompt_end}}));
    const CheckpointHint first[] = {{5, last_user}};
    EXPECT_EQ(plan_checkpoints(1000, first, 0, none, 0), (Plan{{5, last_user}, {999, prompt_end}}))
        << "nothing is there";
}

TEST(CheckpointPlan, IntervalsAreMultiplesFromTheResumePositionOn) {
    EXPECT_EQ(plan_checkpoints(20000, {}, 8192, none, 0),
              (Plan{{8192, interval}, {16384, interval}, {19999, prompt_end}}));
    EXPECT_EQ(plan_checkpoints(20000, {}, 8192, none, 8192), (Plan{{16384, interval}, {19999, prompt_end}}));
    EXPECT_EQ(plan_checkpoints(20000, {}, 8192, none, 8000),
              (Plan{{8192, interval}, {16384, interval}, {19999, prompt_end}}));
    EXPECT_EQ(plan_checkpoints(8192, {}, 8192, none, 0), (Plan{{8191, prompt_end}}));
    EXPECT_EQ(plan_checkpoints(20000, {}, 0, none, 0), (Plan{{19999, prompt_end}}));
    EXPECT_EQ(plan_checkpoints(20000, {}, -3, none, 0), (Plan{{19999, prompt_end}}));
}

struct SpacingCase {
    TokenPos prompt_size;
    TokenPos hint;
    TokenPos resume_pos;
    bool kept;
};

TEST(CheckpointPlan, IntervalNeedsTheSpacingOnBothSides) {
    // The interval is 1000, the spacing 64; prompt_end is far away unless said otherwise.
    const SpacingCase cases[] = {
        {1500, 936, 0, true},  {1500, 937, 0, false},   // a hint before
        {1500, 1064, 0, true}, {1500, 1063, 0, false},  // a hint behind
        {1500, 0, 936, true},  {1500, 0, 937, false},   // the resume position
        {1065, 0, 0, true},    {1064, 0, 0, false},     // prompt_end
    };
    for (const auto &c : cases) {
        SCOPED_TRACE(::testing::Message() << c.prompt_size << " " << c.hint << " " << c.resume_pos);
        const CheckpointHint hints[] = {{c.hint, system_end}};
        const auto plan = plan_checkpoints(c.prompt_size, hints, 1000, none, c.resume_pos, 64);
        EXPECT_EQ(std::count(plan.begin(), plan.end(), PlannedCheckpoint{1000, interval}), c.kept ? 1 : 0);
    }
}

TEST(CheckpointPlan, ForkDropsANearbyInterval) {
    EXPECT_EQ(plan_checkpoints(2000, {}, 1000, 970, 0), (Plan{{970, fork}, {1999, prompt_end}}));
    EXPECT_EQ(plan_checkpoints(2000, {}, 1000, 936, 0), (Plan{{936, fork}, {1000, interval}, {1999, prompt_end}}));
}

TEST(CheckpointPlan, ForkNeedsTheSpacingOnlyBeforeIt) {
    const CheckpointHint hints[] = {{100, system_end}};
    EXPECT_EQ(plan_checkpoints(1000, hints, 0, 163, 0), (Plan{{100, system_end}, {999, prompt_end}}));
    EXPECT_EQ(plan_checkpoints(1000, hints, 0, 164, 0), (Plan{{100, system_end}, {164, fork}, {999, prompt_end}}));
    EXPECT_EQ(plan_checkpoints(1000, hints, 0, 98, 0), (Plan{{98, fork}, {100, system_end}, {999, prompt_end}}));
    // A private tail of one token behind the shared prefix.
    EXPECT_EQ(plan_checkpoints(102, {}, 0, 100, 0), (Plan{{100, fork}, {101, prompt_end}}));
}

TEST(CheckpointPlan, ForkNearTheStartOrTheResumePositionIsDropped) {
    EXPECT_EQ(plan_checkpoints(1000, {}, 0, 63, 0), (Plan{{999, prompt_end}}));
    EXPECT_EQ(plan_checkpoints(1000, {}, 0, 64, 0), (Plan{{64, fork}, {999, prompt_end}}));
    EXPECT_EQ(plan_checkpoints(1000, {}, 0, 563, 500), (Plan{{999, prompt_end}}));
    EXPECT_EQ(plan_checkpoints(1000, {}, 0, 564, 500), (Plan{{564, fork}, {999, prompt_end}}));
    EXPECT_EQ(plan_checkpoints(1000, {}, 0, 500, 500), (Plan{{999, prompt_end}}));
    EXPECT_EQ(plan_checkpoints(1000, {}, 0, 3, 0, 1), (Plan{{3, fork}, {999, prompt_end}}));
}

TEST(CheckpointPlan, SmallIntervalIsItsOwnSpacing) {
    EXPECT_EQ(plan_checkpoints(50, {}, 16, none, 0), (Plan{{16, interval}, {32, interval}, {49, prompt_end}}));
    EXPECT_EQ(plan_checkpoints(4, {}, 1, none, 0), (Plan{{1, interval}, {2, interval}, {3, prompt_end}}));
}

TEST(CheckpointPlan, NearTheLargestPositionNothingOverflows) {
    constexpr TokenPos kMost = std::numeric_limits<TokenPos>::max();
    EXPECT_EQ(plan_checkpoints(kMost, {}, 1 << 30, none, 0), (Plan{{1 << 30, interval}, {kMost - 1, prompt_end}}));
    EXPECT_EQ(plan_checkpoints(kMost, {}, kMost, none, 5), (Plan{{kMost - 1, prompt_end}}));
}

TEST(CheckpointPlan, AlwaysAscendingUniqueInsideAndComplete) {
    std::mt19937 random(42);
    const auto below = [&](int n) { return static_cast<TokenPos>(random() % static_cast<unsigned>(n)); };
    for (int round = 0; round < 2000; ++round) {
        const TokenPos size = 1 + below(600);
        const TokenPos resume = below(size);
        const CheckpointHint hints[] = {{below(700), system_end}, {below(700), last_user}};
        const auto plan = plan_checkpoints(size, hints, below(200), below(700), resume, below(100));
        std::set<TokenPos> positions;
        TokenPos last = resume;
        for (const auto &c : plan) {
            ASSERT_GT(c.pos, last);
            ASSERT_LT(c.pos, size);
            last = c.pos;
            positions.insert(c.pos);
        }
        for (const auto &hint : hints) {
            const bool near = resume > 0 && hint.pos - resume < kMinHintSpacing && hint.kind == last_user;
            if (hint.pos > resume && hint.pos < size && !near) {
                ASSERT_TRUE(positions.contains(hint.pos));
            }
        }
        if (size - 1 > resume) {
            ASSERT_EQ(last, size - 1);
        }
    }
}

}  // namespace
}  // namespace cairn
