// Requests that share a prefix while it is computed, on the engine loop over simulated models of every family.
#include <gtest/gtest.h>

#include <random>

#include "tests/engine/loop_rig.h"

namespace cairn {
namespace {

class SharedPrefixOnEveryFamily : public testing::TestWithParam<SimFamily> {
protected:
    static LoopRigOptions options(std::int32_t sequences = 8) {
        LoopRigOptions made{.sim = {.family = GetParam()}};
        made.sim.live_sequences = sequences;
        made.sim.pool_cells = 8192;
        return made;
    }
    static bool shares() { return GetParam() != SimFamily::none; }
};

INSTANTIATE_TEST_SUITE_P(Families, SharedPrefixOnEveryFamily, testing::ValuesIn(kFamilies),
                         [](const auto &family) { return std::string(name_of(family.param)); });

TEST_P(SharedPrefixOnEveryFamily, RequestsThatComeTogetherComputeItOnce) {
    LoopRig rig(options());
    const Tokens system = tokens_of(1, 1000);
    std::vector<Tokens> prompts;
    std::vector<Answer *> answers;
    for (std::uint32_t i = 0; i < 6; ++i) {
        prompts.push_back(joined(system, tokens_of(10 + i, 40)));
        answers.push_back(&rig.ask(prompts.back(), 5));
    }
    rig.run();
    for (std::size_t i = 0; i < prompts.size(); ++i) {
        EXPECT_EQ(answers[i]->tokens, rig.expected(prompts[i], 5)) << i;
        EXPECT_EQ(answers[i]->starts, 1);
        if (!shares() || i == 0) continue;
        EXPECT_EQ(answers[i]->reuse->cached_tokens, 1000) << i;
        EXPECT_EQ(answers[i]->reuse->reason, MissReason::diverged) << i;
    }
    if (!shares()) return;
    EXPECT_EQ(rig.computed(), 1000u + 6 * 40 + 6 * 4);
    if (rig.backend->layout().can_park) {
        EXPECT_EQ(rig.metrics.value(Metric::shared_tokens_total), 5000);
    }
}

TEST_P(SharedPrefixOnEveryFamily, OneThatComesWhileItIsHalfDoneWaitsForTheRest) {
    LoopRig rig(options());
    const Tokens system = tokens_of(1, 1000);
    const Tokens one = joined(system, tokens_of(2, 300));
    const Tokens two = joined(system, tokens_of(3, 40));
    Answer &first = rig.ask(one, 5);
    for (int i = 0; i < 4; ++i)
        ASSERT_TRUE(rig.loop->step());
    Answer &second = rig.ask(two, 5);
    rig.run();
    EXPECT_EQ(first.tokens, rig.expected(one, 5));
    EXPECT_EQ(second.tokens, rig.expected(two, 5));
    if (shares()) {
        EXPECT_EQ(rig.computed(), 1300u + 40 + 2 * 4);
    }
}

TEST_P(SharedPrefixOnEveryFamily, SamplesOfOnePromptComputeItOnce) {
    LoopRig rig(options());
    const Tokens prompt = tokens_of(1, 700);
    std::vector<Answer *> answers;
    for (int i = 0; i < 5; ++i)
        answers.push_back(&rig.ask(prompt, 8));
    rig.run();
    for (const Answer *answer : answers)
        EXPECT_EQ(answer->tokens, rig.expected(prompt, 8));
    if (shares()) {
        EXPECT_EQ(rig.computed(), 699u + 5 + 5 * 7);
    }
}

TEST_P(SharedPrefixOnEveryFamily, ATreeOfPrefixesIsComputedOnceEach) {
    LoopRig rig(options());
    const Tokens system = tokens_of(1, 400);
    const Tokens left = joined(system, tokens_of(2, 200));
    const Tokens right = joined(system, tokens_of(3, 200));
    const std::vector<Tokens> prompts{joined(left, tokens_of(4, 30)), joined(right, tokens_of(5, 30)),
                                      joined(left, tokens_of(6, 30)), joined(right, tokens_of(7, 30))};
    std::vector<Answer *> answers;
    for (const Tokens &prompt : prompts)
        answers.push_back(&rig.ask(prompt, 3));
    rig.run();
    for (std::size_t i = 0; i < prompts.size(); ++i)
        EXPECT_EQ(answers[i]->tokens, rig.expected(prompts[i], 3)) << i;
    if (shares()) {
        EXPECT_EQ(rig.computed(), 400u + 2 * 200 + 4 * 30 + 4 * 2);
    }
}

TEST_P(SharedPrefixOnEveryFamily, ACancelledLeaderLeavesWhatItHasToThoseWhoWait) {
    LoopRig rig(options());
    const Tokens system = tokens_of(1, 1000);
    Answer &leader = rig.ask(joined(system, tokens_of(2, 40)), 5);
    const RequestId leading = rig.last_id;
    const Tokens two = joined(system, tokens_of(3, 40));
    const Tokens three = joined(system, tokens_of(4, 40));
    Answer &second = rig.ask(two, 5);
    Answer &third = rig.ask(three, 5);
    for (int i = 0; i < 4; ++i)
        ASSERT_TRUE(rig.loop->step());
    rig.loop->check_invariants();
    rig.loop->cancel(leading);
    rig.loop->check_invariants();
    rig.run();
    EXPECT_EQ(leader.reason, FinishReason::cancelled);
    EXPECT_EQ(second.tokens, rig.expected(two, 5));
    EXPECT_EQ(third.tokens, rig.expected(three, 5));
    if (shares()) {
        EXPECT_EQ(rig.computed(), 1000u + 2 * 40 + 2 * 4) << "the leader's progress was lost";
    }
}

TEST_P(SharedPrefixOnEveryFamily, MoreRequestsThanSequencesStillComputeItOnce) {
    LoopRig rig(options(3));
    const Tokens system = tokens_of(1, 600);
    std::vector<Tokens> prompts;
    std::vector<Answer *> answers;
    for (std::uint32_t i = 0; i < 9; ++i) {
        prompts.push_back(joined(system, tokens_of(10 + i, 20)));
        answers.push_back(&rig.ask(prompts.back(), 2));
    }
    rig.run();
    for (std::size_t i = 0; i < prompts.size(); ++i)
        EXPECT_EQ(answers[i]->tokens, rig.expected(prompts[i], 2)) << i;
    if (shares()) {
        EXPECT_EQ(rig.computed(), 600u + 9 * 20 + 9);
    }
}

TEST_P(SharedPrefixOnEveryFamily, TenantsAndThoseWhoWantNoCacheShareNothing) {
    LoopRig rig(options());
    const Tokens prompt = tokens_of(1, 300);
    Request other = LoopRig::greedy(prompt, 2);
    other.tenant = "another";
    Request alone = LoopRig::greedy(prompt, 2);
    alone.cache = false;
    rig.ask(prompt, 2);
    Answer &second = rig.ask(other);
    Answer &third = rig.ask(alone);
    rig.run();
    EXPECT_EQ(second.reuse->cached_tokens, 0);
    EXPECT_EQ(third.reuse->cached_tokens, 0);
    EXPECT_EQ(rig.computed(), 3u * 301);
}

/// A long prompt came first; a short one shares its beginning and is due sooner. What it waits for is as urgent.
TEST_P(SharedPrefixOnEveryFamily, ALeaderIsAsUrgentAsThoseWhoWaitForIt) {
    auto made = options();
    made.sim.context = 4096;
    LoopRig rig(made);
    rig.env.tick(0.01);
    const Tokens system = tokens_of(1, 200);
    // A pace is known now, so that urgency differs.
    rig.ask(tokens_of(9, 600), 1);
    rig.run();
    Answer &longest = rig.ask(joined(system, tokens_of(2, 2500)), 1);
    Answer &other = rig.ask(tokens_of(5, 1500), 1);
    const Tokens quick = joined(system, tokens_of(3, 10));
    Answer &second = rig.ask(quick, 1);
    int steps = 0;
    while (second.endings == 0 && steps < 1000) {
        ASSERT_TRUE(rig.loop->step());
        ++steps;
    }
    EXPECT_EQ(second.tokens, rig.expected(quick, 1));
    EXPECT_EQ(longest.endings, 0);
    EXPECT_EQ(other.endings, 0) << "the short one waited for a long one that has nothing to do with it";
    rig.run();
}

/// Random trees of prompts that come and go at random moments, with room for few: answers are the model's own.
TEST_P(SharedPrefixOnEveryFamily, RandomComingsAndGoingsGiveTheModelsAnswers) {
    for (std::uint32_t seed = 0; seed < 12; ++seed) {
        std::mt19937 random(seed);
        auto made = options(1 + static_cast<std::int32_t>(random() % 6));
        made.sim.pool_cells = 1200 + static_cast<TokenPos>(random() % 2000);
        made.sim.context = 1024;
        made.ram_bytes = (random() % 2 == 0) ? 8 << 20 : 64 << 10;
        made.device_bytes = (random() % 2 == 0) ? 1 << 20 : 0;
        LoopRig rig(made);
        struct Asked {
            Tokens prompt;
            Answer *answer;
            RequestId id;
            bool cancelled = false;
        };
        std::deque<Asked> asked;
        for (int round = 0; round < 300; ++round) {
            if (random() % 3 == 0) {
                Tokens prompt = tokens_of(random() % 2, 100 + static_cast<TokenPos>(random() % 3) * 100);
                for (std::uint32_t i = random() % 3; i > 0; --i)
                    prompt = joined(prompt, tokens_of(10 + random() % 3, 1 + static_cast<TokenPos>(random() % 90)));
                Answer &answer = rig.ask(prompt, static_cast<TokenPos>(random() % 12));
                asked.push_back({prompt, &answer, rig.last_id});
            }
            if (!asked.empty() && random() % 12 == 0) {
                Asked &one = asked[random() % asked.size()];
                rig.loop->cancel(one.id);
                one.cancelled = true;
            }
            rig.loop->step();
            rig.env.advance(0.01);
            rig.loop->check_invariants();
        }
        rig.run();
        for (const Asked &one : asked) {
            ASSERT_EQ(one.answer->endings, 1) << "seed " << seed;
            ASSERT_FALSE(one.answer->error) << one.answer->error->what;
            if (one.answer->reason == FinishReason::cancelled) {
                EXPECT_TRUE(one.cancelled);
                continue;
            }
            const auto count = static_cast<TokenPos>(one.answer->tokens.size());
            ASSERT_EQ(one.answer->tokens, rig.expected(one.prompt, count)) << "seed " << seed;
        }
        rig.loop->check_invariants();
        EXPECT_EQ(rig.backend->cells_used() - rig.backend->cells_only_parked(), 0);
    }
}

/// What had to give its place up goes on where it was, though the device keeps nothing.
TEST_P(SharedPrefixOnEveryFamily, APreemptedRequestComputesNothingAgain) {
    auto small = options(2);
    small.sim.pool_cells = 400;
    small.sim.context = 300;
    for (const std::size_t device_bytes : {std::size_t{0}, std::size_t{1} << 20}) {
        small.device_bytes = device_bytes;
        LoopRig rig(small);
        const Tokens one = tokens_of(1, 100);
        const Tokens two = tokens_of(2, 100);
        Answer &first = rig.ask(one, 190);
        Answer &second = rig.ask(two, 190);
        rig.run();
        EXPECT_EQ(first.tokens, rig.expected(one, 190));
        EXPECT_EQ(second.tokens, rig.expected(two, 190));
        if (GetParam() != SimFamily::recurrent) {
            EXPECT_GT(rig.metrics.value(Metric::preemptions_total), 0);
        }
        if (shares()) {
            EXPECT_EQ(rig.computed(), 2u * (100 + 189)) << device_bytes;
        }
    }
}

/// Conversations in turn, of which the pool holds two: each turn goes on from where that conversation was.
TEST_P(SharedPrefixOnEveryFamily, MoreConversationsThanThePoolHoldsAllResume) {
    auto made = options(4);
    made.sim.pool_cells = 900;
    made.sim.context = 450;
    made.device_bytes = std::size_t{64} << 20;
    LoopRig rig(made);
    std::vector<Tokens> conversations;
    for (std::uint32_t i = 0; i < 6; ++i)
        conversations.push_back(tokens_of(i, 300));
    for (std::uint32_t turn = 0; turn < 4; ++turn) {
        for (std::uint32_t i = 0; i < 6; ++i) {
            const auto before = rig.computed();
            const Answer &answer = rig.ask(conversations[i], 10);
            rig.run();
            ASSERT_EQ(answer.tokens, rig.expected(conversations[i], 10));
            if (turn > 0 && shares()) {
                EXPECT_EQ(rig.computed() - before, 21u + 9u) << "turn " << turn << " of conversation " << i;
            }
            conversations[i] = joined(joined(conversations[i], answer.tokens), tokens_of(100 * turn + i, 20));
        }
    }
}

}  // namespace
}  // namespace cairn
