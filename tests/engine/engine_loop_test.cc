#include "engine/engine_loop.h"

#include <gtest/gtest.h>

#include "tests/engine/loop_rig.h"

namespace cairn {
namespace {

class EngineLoopOnEveryFamily : public testing::TestWithParam<SimFamily> {
protected:
    static LoopRigOptions options() { return {.sim = {.family = GetParam()}}; }
    static bool caches() { return GetParam() != SimFamily::none; }
};

INSTANTIATE_TEST_SUITE_P(Families, EngineLoopOnEveryFamily, testing::ValuesIn(kFamilies),
                         [](const auto &family) { return std::string(name_of(family.param)); });

TEST_P(EngineLoopOnEveryFamily, AnswersAsTheModelDoesWithoutACache) {
    auto without = options();
    without.cache = false;
    LoopRig rig(without);
    const Tokens prompt = tokens_of(1, 300);
    Answer &answer = rig.ask(prompt, 20);
    rig.run();
    EXPECT_EQ(answer.tokens, rig.expected(prompt, 20));
    EXPECT_EQ(answer.reason, FinishReason::length);
    EXPECT_EQ(answer.usage.prompt_tokens, 300);
    EXPECT_EQ(answer.usage.completion_tokens, 20);
    EXPECT_EQ(answer.reuse->reason, MissReason::disabled);
    EXPECT_EQ(rig.computed(), 300u + 19u);
    EXPECT_EQ(rig.backend->cells_used(), 0);
}

TEST_P(EngineLoopOnEveryFamily, ComputesOneTokenOfAPromptItHasSeen) {
    LoopRig rig(options());
    const Tokens prompt = tokens_of(1, 300);
    rig.ask(prompt, 5);
    rig.run();
    const auto before = rig.computed();
    Answer &again = rig.ask(prompt, 5);
    rig.run();
    EXPECT_EQ(again.tokens, rig.expected(prompt, 5));
    if (!caches()) return;
    EXPECT_EQ(again.reuse->cached_tokens, 299);
    EXPECT_EQ(again.reuse->reason, MissReason::none);
    EXPECT_EQ(rig.computed() - before, 1u + 4u);
}

TEST_P(EngineLoopOnEveryFamily, ContinuesAConversationAtTheEndOfItsLastAnswer) {
    LoopRig rig(options());
    Tokens conversation = tokens_of(3, 30);  // short: nothing is too small to be kept
    for (int turn = 0; turn < 6; ++turn) {
        const auto before = rig.computed();
        Answer &answer = rig.ask(conversation, 10);
        rig.run();
        EXPECT_EQ(answer.tokens, rig.expected(conversation, 10)) << "turn " << turn;
        if (caches() && turn > 0) {
            // The answer's last token was sampled, never computed; the user's 20 tokens are new.
            EXPECT_EQ(answer.reuse->cached_tokens, static_cast<TokenPos>(conversation.size()) - 21) << "turn " << turn;
            EXPECT_EQ(rig.computed() - before, 21u + 9u) << "turn " << turn;
        }
        conversation =
            joined(joined(conversation, answer.tokens), tokens_of(100 + static_cast<std::uint32_t>(turn), 20));
    }
}

TEST_P(EngineLoopOnEveryFamily, ResumesAtTheEndOfTheSharedPrefixForTailsOfEveryLength) {
    LoopRig rig(options());
    const Tokens shared = tokens_of(5, 200);
    rig.ask(shared, 1);
    rig.run();
    for (TokenPos tail = 1; tail <= 130; ++tail) {
        const Tokens prompt = joined(shared, tokens_of(1000 + static_cast<std::uint32_t>(tail), tail));
        Answer &answer = rig.ask(prompt, 3);
        rig.run();
        ASSERT_EQ(answer.tokens, rig.expected(prompt, 3)) << "tail " << tail;
        ASSERT_GE(answer.reuse->cached_tokens, caches() ? 199 : 0) << "tail " << tail;
    }
}

TEST_P(EngineLoopOnEveryFamily, RestoresTwoRequestsFromOneSnapshotAtOnce) {
    LoopRig rig(options());
    const Tokens shared = tokens_of(5, 200);
    rig.ask(shared, 1);
    rig.run();
    const Tokens one = joined(shared, tokens_of(6, 40));
    const Tokens two = joined(shared, tokens_of(7, 3));
    Answer &first = rig.ask(one, 12);
    Answer &second = rig.ask(two, 12);
    rig.run();
    EXPECT_EQ(first.tokens, rig.expected(one, 12));
    EXPECT_EQ(second.tokens, rig.expected(two, 12));
    if (!caches()) return;
    EXPECT_GE(first.reuse->cached_tokens, 199);
    EXPECT_GE(second.reuse->cached_tokens, 199) << "a hit takes nothing away";
}

TEST_P(EngineLoopOnEveryFamily, ServesMoreRequestsThanItHasSequences) {
    LoopRig rig(options());
    std::vector<Answer *> answers;
    for (std::uint32_t i = 0; i < 11; ++i)
        answers.push_back(&rig.ask(tokens_of(i, 20 + static_cast<TokenPos>(i)), 7));
    rig.run();
    for (std::uint32_t i = 0; i < 11; ++i) {
        EXPECT_EQ(answers[i]->tokens, rig.expected(tokens_of(i, 20 + static_cast<TokenPos>(i)), 7)) << i;
        EXPECT_EQ(answers[i]->endings, 1);
    }
}

TEST_P(EngineLoopOnEveryFamily, PreemptsInsteadOfFailingWhenThePoolIsFull) {
    auto small = options();
    small.sim.pool_cells = 400;
    small.sim.context = 300;
    LoopRig rig(small);
    const Tokens one = tokens_of(1, 100);
    const Tokens two = tokens_of(2, 100);
    Answer &first = rig.ask(one, 190);
    Answer &second = rig.ask(two, 190);
    rig.run();
    EXPECT_EQ(first.tokens, rig.expected(one, 190));
    EXPECT_EQ(second.tokens, rig.expected(two, 190));
    EXPECT_EQ(second.starts, 1) << "a preempted request does not start twice";
    const bool takes_cells = GetParam() != SimFamily::recurrent;
    EXPECT_EQ(rig.metrics.value(Metric::preemptions_total) > 0, takes_cells);
}

/// Several prompts that each fit, and do not together: none may be let in only to push another out, for ever.
TEST_P(EngineLoopOnEveryFamily, FinishesPromptsThatDoNotFitThePoolTogether) {
    for (const bool cache : {true, false}) {
        auto small = options();
        small.cache = cache;
        small.sim.pool_cells = 640;
        small.sim.context = 512;
        LoopRig rig(small);
        std::vector<Answer *> answers;
        for (std::uint32_t i = 0; i < 8; ++i)
            answers.push_back(&rig.ask(tokens_of(i, 250), 150));
        rig.run(20000);
        for (std::uint32_t i = 0; i < 8; ++i)
            EXPECT_EQ(answers[i]->tokens, rig.expected(tokens_of(i, 250), 150)) << i;
        EXPECT_LE(rig.metrics.value(Metric::preemptions_total), 16);
    }
}

TEST(EngineLoop, LeavesBystandersAloneWhenARequestIsCancelled) {
    LoopRig rig({});
    const Tokens one = tokens_of(1, 50);
    const Tokens two = tokens_of(2, 500);
    Answer &stays = rig.ask(one, 40);
    Answer &goes = rig.ask(two, 40);
    const RequestId id = rig.last_id;
    for (int i = 0; i < 3; ++i)
        rig.loop->step();
    rig.loop->cancel(id);
    rig.run();
    EXPECT_EQ(goes.reason, FinishReason::cancelled);
    EXPECT_EQ(goes.endings, 1);
    EXPECT_EQ(stays.tokens, rig.expected(one, 40));
}

TEST(EngineLoop, KeepsTheProgressOfACancelledPrefill) {
    LoopRig rig({});
    const Tokens prompt = tokens_of(1, 1000);
    TokenPos reached = 0;
    for (int attempt = 0; attempt < 3; ++attempt) {
        Answer &answer = rig.ask(prompt, 5);
        rig.loop->step();
        rig.loop->step();
        rig.loop->cancel(rig.last_id);
        rig.run();
        EXPECT_EQ(answer.reason, FinishReason::cancelled);
        EXPECT_EQ(answer.reuse->cached_tokens, reached) << "attempt " << attempt;
        reached += 256;
    }
    Answer &answer = rig.ask(prompt, 5);
    rig.run();
    EXPECT_EQ(answer.reuse->cached_tokens, reached);
    EXPECT_EQ(answer.tokens, rig.expected(prompt, 5));
}

TEST(EngineLoop, CancelsAWaitingRequestAndIgnoresUnknownOnes) {
    LoopRig rig({.sim = {.live_sequences = 1}});
    rig.ask(tokens_of(1, 50), 5);
    Answer &waiting = rig.ask(tokens_of(2, 50), 5);
    rig.loop->cancel(rig.last_id);
    rig.loop->cancel(RequestId(4711));
    EXPECT_EQ(waiting.reason, FinishReason::cancelled);
    EXPECT_EQ(waiting.starts, 0);
    rig.run();
}

TEST(EngineLoop, GivesOneRunningRequestItsTokensWhileALongPromptIsPrefilled) {
    LoopRig rig({});
    Answer &quick = rig.ask(tokens_of(1, 10), 30);
    rig.loop->step();
    rig.loop->step();
    rig.ask(tokens_of(2, 2000), 1);
    const std::size_t before = quick.tokens.size();
    for (int i = 0; i < 10; ++i)
        rig.loop->step();
    EXPECT_EQ(quick.tokens.size(), before + 10) << "one token a step, whatever else is computed";
    rig.run();
}

/// Steps take the time that so many tokens a second give. `last`: becomes the tokens of the step that was last.
void compute_at(LoopRig &rig, double tokens_per_s, std::size_t *last = nullptr) {
    rig.sim.control->before_run([&rig, tokens_per_s, last](const Batch &batch) {
        if (last != nullptr) *last = batch.size();
        rig.env.advance(static_cast<double>(batch.size()) / tokens_per_s);
    });
}

TEST(EngineLoop, StepsAreAsWideAsTheMeasuredPaceAllowsAndNeverTooNarrow) {
    struct Case {
        std::size_t pace;  // tokens per second
        std::size_t whole;
        std::size_t beside_decode;
    };
    for (const auto &[pace, whole, beside_decode] :
         {Case{10, 256, 128}, {400, 400, 128}, {1000, 1000, 250}, {100000, 2048, 2048}}) {
        SCOPED_TRACE(pace);
        LoopRig rig({.sim = {.context = 32768, .batch_tokens = 2048},
                     .loop = {.checkpoint_interval = 32768, .most_scheduled_tokens = 2048}});
        std::size_t last = 0;
        compute_at(rig, static_cast<double>(pace), &last);
        rig.ask(tokens_of(1, 16000), 1);
        rig.loop->step();
        EXPECT_EQ(last, 256u) << "the pace is not known yet";
        rig.loop->step();
        EXPECT_NEAR(static_cast<double>(last), static_cast<double>(whole), 1);
        rig.ask(tokens_of(2, 10), 1000);  // shorter, and so first
        rig.loop->step();
        rig.loop->step();
        rig.loop->step();
        EXPECT_NEAR(static_cast<double>(last), static_cast<double>(1 + beside_decode), 1);
        rig.run();
    }
}

/// Four prompts that share 1,024 tokens, of which the engine could compute the first whole in one step.
LoopRigOptions gathering(double seconds) {
    return {.sim = {.batch_tokens = 2048},
            .loop = {.checkpoint_interval = 8192, .most_scheduled_tokens = 2048, .most_gather_s = seconds}};
}

void know_pace(LoopRig &rig, double tokens_per_s) {
    compute_at(rig, tokens_per_s);
    Request request = LoopRig::greedy(tokens_of(77, 600), 1);
    request.cache = false;
    rig.ask(request);
    rig.run();
}

TEST(EngineLoop, LetsTheFirstPromptWaitForThoseThatAreSentWithIt) {
    for (const double seconds : {0.0, 0.01}) {
        SCOPED_TRACE(seconds);
        LoopRigOptions options = gathering(seconds);
        options.sim.live_sequences = 8;  // with all of them taken there is nobody to wait for
        LoopRig rig(std::move(options));
        know_pace(rig, 10000);
        const auto before = rig.computed();
        for (std::uint32_t i = 0; i < 4; ++i) {
            Tokens prompt = tokens_of(1, 1024);
            const Tokens own = tokens_of(i + 2, 40);
            prompt.insert(prompt.end(), own.begin(), own.end());
            rig.ask(prompt, 1);
            EXPECT_EQ(rig.loop->step(), seconds == 0) << i;
            rig.env.advance(0.0005);
        }
        if (seconds > 0) {
            const double left = rig.loop->wakes_in().value_or(-1);
            EXPECT_GT(left, 0);
            EXPECT_FALSE(rig.loop->idle_work()) << "nothing that takes time while somebody waits";
            rig.env.advance(left);
        }
        rig.run();
        EXPECT_EQ(rig.computed() - before, seconds > 0 ? 1024u + 4 * 40u : 2 * 1024u + 4 * 40u);
    }
}

TEST(EngineLoop, LetsNobodyWaitWhereThatIsNotWorthIt) {
    LoopRig rig(gathering(0.01));
    know_pace(rig, 1000);
    const Tokens prompt = tokens_of(1, 900);
    const auto waits = [&] {
        EXPECT_FALSE(rig.loop->step());
        return rig.loop->wakes_in().value_or(-1);
    };
    rig.ask(prompt, 1);
    EXPECT_NEAR(waits(), 0.01, 1e-9);
    rig.env.advance(0.01);
    EXPECT_TRUE(rig.loop->step());
    rig.ask(tokens_of(2, 900), 1);
    EXPECT_TRUE(rig.loop->step()) << "another one runs";
    rig.run();
    rig.ask(prompt, 1);
    EXPECT_NEAR(waits(), 0.02 * 0.001, 1e-9) << "two hundredths of what one token takes";
    rig.env.advance(0.001);
    rig.run();
    Request uncached = LoopRig::greedy(prompt, 1);
    uncached.cache = false;
    rig.ask(uncached);
    EXPECT_TRUE(rig.loop->step()) << "it shares nothing";
    rig.run();
    for (std::uint32_t i = 3; i < 7; ++i)
        rig.ask(tokens_of(i, 900), 1);
    EXPECT_TRUE(rig.loop->step()) << "no more have room";
    rig.run();
}

TEST(EngineLoop, TakesStepsAsLongAsAnswersMayStandStill) {
    LoopRig rig({.sim = {.context = 32768, .batch_tokens = 2048},
                 .loop = {.checkpoint_interval = 32768, .most_scheduled_tokens = 2048, .most_token_gap_s = 5}});
    std::size_t last = 0;
    compute_at(rig, 300, &last);
    rig.ask(tokens_of(1, 16000), 1);
    rig.loop->step();
    rig.loop->step();
    EXPECT_NEAR(static_cast<double>(last), 1500, 1);
    rig.ask(tokens_of(2, 10), 1000);
    for (int i = 0; i < 3; ++i)
        rig.loop->step();
    EXPECT_NEAR(static_cast<double>(last), 1500, 1) << "of which one decodes";
    rig.run();
}

TEST(EngineLoop, KnowsHowLongItTakesUntilAPlaceIsFreeWhileItHasWork) {
    LoopRig rig({.loop = {.checkpoint_interval = 512, .most_scheduled_tokens = 128, .most_running = 1}});
    EXPECT_EQ(rig.loop->stats().seconds_per_request, std::nullopt);
    rig.sim.control->before_run([&](const Batch &) { rig.env.advance(2); });
    for (std::uint32_t i = 0; i < 3; ++i)
        rig.ask(tokens_of(i, 10), 3);  // prompt less one token, then three
    rig.loop->step();
    rig.loop->step();
    EXPECT_DOUBLE_EQ(rig.loop->stats().seconds_per_request.value_or(0), 4) << "at least: none has ended yet";
    rig.run();
    EXPECT_DOUBLE_EQ(rig.loop->stats().seconds_per_request.value_or(0), 8);
    rig.env.advance(60);  // idle
    rig.ask(tokens_of(9, 10), 3);
    rig.run();
    EXPECT_DOUBLE_EQ(rig.loop->stats().seconds_per_request.value_or(0), 8);
    rig.ask(tokens_of(10, 10), 30);
    for (int i = 0; i < 10; ++i)
        rig.loop->step();
    EXPECT_DOUBLE_EQ(rig.loop->stats().seconds_per_request.value_or(0), 20) << "longer than they took";
    rig.run();
}

TEST(EngineLoop, ComputesColdWhatCannotBeRestored) {
    LoopRigOptions in_ram;
    in_ram.device_bytes = 0;
    LoopRig rig(in_ram);
    const Tokens prompt = tokens_of(1, 300);
    rig.ask(prompt, 5);
    rig.run();
    for (std::uint64_t nth = 1; nth <= 5; ++nth)
        rig.sim.control->fail(SimCall::restore, nth, {ErrorCode::corrupt, "damaged"});
    Answer &again = rig.ask(prompt, 5);
    rig.run();
    EXPECT_EQ(again.tokens, rig.expected(prompt, 5));
    EXPECT_EQ(again.reuse->reason, MissReason::restore_failed);
    EXPECT_EQ(again.reuse->cached_tokens, 0);
}

TEST(EngineLoop, TakesTheNextBestWhereTheBestCannotBeRestored) {
    LoopRigOptions in_ram{.sim = {.family = SimFamily::hybrid}};
    in_ram.device_bytes = 0;
    LoopRig rig(in_ram);
    Tokens conversation = tokens_of(1, 300);
    for (std::uint32_t turn = 0; turn < 4; ++turn) {
        const Answer &answer = rig.ask(conversation, 5);
        rig.run();
        conversation = joined(joined(conversation, answer.tokens), tokens_of(2 + turn, 20));
    }
    for (std::uint64_t nth = 1; nth <= 3; ++nth)
        rig.sim.control->fail(SimCall::restore, nth, {ErrorCode::corrupt, "damaged"});
    Answer &next = rig.ask(conversation, 5);
    rig.run();
    EXPECT_EQ(next.tokens, rig.expected(conversation, 5));
    EXPECT_EQ(next.reuse->reason, MissReason::restore_failed);
    EXPECT_GT(next.reuse->cached_tokens, 250);
    // What was damaged is kept again, so that the next one misses nothing.
    Answer &again = rig.ask(conversation, 5);
    rig.run();
    EXPECT_EQ(again.reuse->cached_tokens, static_cast<TokenPos>(conversation.size()) - 1);
}

TEST(EngineLoop, AnswersThoughNothingCanBeKept) {
    LoopRig rig({});
    for (std::uint64_t nth = 1; nth <= 20; ++nth) {
        rig.sim.control->fail(SimCall::park, nth, {ErrorCode::capacity, "none free"});
        rig.sim.control->fail(SimCall::capture, nth, {ErrorCode::no_memory, "no memory"});
    }
    const Tokens prompt = tokens_of(1, 300);
    Answer &answer = rig.ask(prompt, 5);
    rig.run();
    EXPECT_EQ(answer.tokens, rig.expected(prompt, 5));
}

TEST(EngineLoop, TellsTheRequestsOfAFailedStepAndServesTheNext) {
    LoopRig rig({});
    Answer &hit = rig.ask(tokens_of(1, 100), 5);
    rig.sim.control->fail(SimCall::run, 1, {ErrorCode::device, "lost"});
    rig.run();
    ASSERT_TRUE(hit.error.has_value());
    EXPECT_EQ(hit.error->code, ErrorCode::device);
    EXPECT_EQ(hit.endings, 1);
    Answer &next = rig.ask(tokens_of(1, 100), 5);
    rig.run();
    EXPECT_EQ(next.tokens, rig.expected(tokens_of(1, 100), 5));
}

TEST(EngineLoop, StopsAtAnEndTokenAndCountsIt) {
    LoopRig rig({.sim = {.forced_token = [](TokenPos length) -> std::optional<Token> {
                     return length == 24 ? std::optional<Token>(258) : std::nullopt;
                 }}});
    Answer &answer = rig.ask(tokens_of(1, 20), 50);
    rig.run();
    EXPECT_EQ(answer.reason, FinishReason::stop);
    EXPECT_EQ(answer.tokens.size(), 4u);
    EXPECT_EQ(answer.usage.completion_tokens, 5);
}

TEST(EngineLoop, GoesOnBehindAnEndTokenThatIsToBeIgnored) {
    LoopRig rig({.sim = {.forced_token = [](TokenPos length) -> std::optional<Token> {
                     return length == 24 ? std::optional<Token>(258) : std::nullopt;
                 }}});
    Request request = LoopRig::greedy(tokens_of(1, 20), 50);
    request.ignore_eos = true;
    Answer &answer = rig.ask(std::move(request));
    rig.run();
    EXPECT_EQ(answer.reason, FinishReason::length);
    EXPECT_EQ(answer.tokens.size(), 50u);
}

TEST(EngineLoop, EndsBeforeAStopString) {
    const auto text = std::make_shared<std::string>("yes. STOP no");
    LoopRig rig({.sim = {.forced_token = [text](TokenPos length) -> std::optional<Token> {
                     const auto at = static_cast<std::size_t>(length - 20);
                     return at < text->size() ? std::optional<Token>((*text)[at]) : std::nullopt;
                 }}});
    Request request = LoopRig::greedy(tokens_of(1, 20), 50);
    request.stop = {"STOP"};
    request.logprobs = 2;
    Answer &answer = rig.ask(std::move(request));
    rig.run();
    EXPECT_EQ(answer.text, "yes. ");
    EXPECT_EQ(answer.reason, FinishReason::stop);
    EXPECT_EQ(answer.logprobs.size(), 5u);
    EXPECT_EQ(answer.tokens.size(), 5u);
    EXPECT_EQ(answer.logprobs[0].chosen.text, "y");
    EXPECT_EQ(answer.logprobs[0].top.size(), 2u);
}

TEST(EngineLoop, EndsWhereTheContextIsFull) {
    LoopRig rig({.sim = {.context = 64}});
    Request request = LoopRig::greedy(tokens_of(1, 60), 0);
    request.max_tokens = std::nullopt;
    Answer &answer = rig.ask(std::move(request));
    rig.run();
    EXPECT_EQ(answer.reason, FinishReason::length);
    EXPECT_EQ(answer.usage.completion_tokens, 4);
}

TEST(EngineLoop, ComputesThePromptOnlyWhenNoTokenIsWanted) {
    LoopRig rig({});
    Answer &answer = rig.ask(tokens_of(1, 60), 0);
    rig.run();
    EXPECT_EQ(answer.reason, FinishReason::length);
    EXPECT_EQ(answer.usage.completion_tokens, 0);
    EXPECT_EQ(rig.ask(tokens_of(1, 60), 2).endings, 0);
    rig.run();
    EXPECT_EQ(rig.answers.back().reuse->cached_tokens, 59);
}

TEST(EngineLoop, NeitherLooksUpNorKeepsForARequestWithoutCache) {
    LoopRig rig({});
    const Tokens prompt = tokens_of(1, 100);
    Request request = LoopRig::greedy(prompt, 3);
    request.cache = false;
    rig.ask(request);
    rig.run();
    EXPECT_EQ(rig.cache->stats().snapshots, 0u);
    rig.ask(prompt, 3);
    rig.run();
    Answer &again = rig.ask(request);
    rig.run();
    EXPECT_EQ(again.reuse->cached_tokens, 0);
    EXPECT_EQ(again.reuse->reason, MissReason::disabled);
}

TEST(EngineLoop, KeepsTenantsApart) {
    LoopRig rig({});
    const Tokens prompt = tokens_of(1, 100);
    rig.ask(prompt, 3);
    rig.run();
    Request request = LoopRig::greedy(prompt, 3);
    request.tenant = "other";
    Answer &other = rig.ask(std::move(request));
    rig.run();
    EXPECT_EQ(other.reuse->cached_tokens, 0);
    EXPECT_EQ(other.tokens, rig.expected(prompt, 3));
}

// -- where checkpoints lie -----------------------------------------------------------------------------------------

TEST(EngineLoopCheckpoints, ResumeAtTheSystemPromptOfAnotherConversation) {
    LoopRig rig({});
    const Tokens system = tokens_of(1, 150);
    Request long_chat = LoopRig::greedy(joined(system, tokens_of(2, 700)), 5);
    long_chat.checkpoints = {{150, CheckpointKind::system_end}};
    rig.ask(long_chat);
    rig.run();
    const Tokens other = joined(system, tokens_of(3, 100));
    Answer &answer = rig.ask(other, 5);
    rig.run();
    EXPECT_EQ(answer.reuse->cached_tokens, 150);
    EXPECT_EQ(answer.reuse->reason, MissReason::diverged);
    EXPECT_EQ(answer.reuse->first_difference, 150);
    EXPECT_EQ(answer.tokens, rig.expected(other, 5));
    Answer &back = rig.ask(long_chat);
    rig.run();
    EXPECT_EQ(back.reuse->cached_tokens, 849) << "the long chat stays cached";
}

TEST(EngineLoopCheckpoints, ResumeWhereAnInsertionParts) {
    LoopRig rig({});
    const Tokens a = tokens_of(1, 300);
    const Tokens b = tokens_of(2, 300);
    rig.ask(joined(a, b), 5);
    rig.run();
    // The first prompt that parts there finds no checkpoint and leaves one; the second resumes.
    const Tokens inserted = joined(joined(a, tokens_of(3, 200)), b);
    Answer &first = rig.ask(inserted, 5);
    rig.run();
    EXPECT_EQ(first.reuse->reason, MissReason::no_checkpoint);
    EXPECT_EQ(first.reuse->first_difference, 300);
    const Tokens other = joined(joined(a, tokens_of(4, 200)), b);
    Answer &second = rig.ask(other, 5);
    rig.run();
    EXPECT_EQ(second.reuse->cached_tokens, 300);
    EXPECT_EQ(second.tokens, rig.expected(other, 5));
}

TEST(EngineLoopCheckpoints, LieEveryIntervalOfALongPrompt) {
    LoopRig rig({});
    rig.ask(tokens_of(1, 2000), 1);
    rig.run();
    Tokens early = tokens_of(1, 1300);
    early = joined(early, tokens_of(9, 50));
    Answer &answer = rig.ask(early, 3);
    rig.run();
    EXPECT_EQ(answer.reuse->cached_tokens, 1024);
    EXPECT_EQ(answer.tokens, rig.expected(early, 3));
}

TEST(EngineLoopCheckpoints, LetAnAgentGoBackTwoRounds) {
    LoopRig rig({});
    Tokens conversation = tokens_of(1, 100);
    std::vector<Tokens> rounds;
    for (std::uint32_t round = 0; round < 5; ++round) {
        Answer &answer = rig.ask(conversation, 15);
        rig.run();
        rounds.push_back(conversation);
        conversation = joined(joined(conversation, answer.tokens), tokens_of(50 + round, 60));
    }
    const Tokens retry = joined(rounds[2], tokens_of(99, 30));
    Answer &answer = rig.ask(retry, 5);
    rig.run();
    EXPECT_GE(answer.reuse->cached_tokens, static_cast<TokenPos>(rounds[2].size()) - 1);
    EXPECT_EQ(answer.tokens, rig.expected(retry, 5));
}

}  // namespace
}  // namespace cairn
