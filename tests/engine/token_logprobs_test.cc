#include "engine/token_logprobs.h"

#include <gtest/gtest.h>

#include <cmath>

#include "sim/sim_vocabulary.h"

namespace cairn {
namespace {

TEST(TokenLogprobs, AreTheSoftmaxOfTheLogits) {
    const SimVocabulary vocabulary(512, false);
    std::vector<float> logits(512, -1000.0f);
    logits['a'] = 1.0f;
    logits['b'] = 3.0f;
    logits['c'] = 2.0f;
    const double sum = std::exp(1.0) + std::exp(3.0) + std::exp(2.0);
    const TokenLogprobs result = token_logprobs(logits, 'a', 2, vocabulary);
    EXPECT_EQ(result.chosen.token, 'a');
    EXPECT_EQ(result.chosen.text, "a");
    EXPECT_NEAR(result.chosen.logprob, 1.0 - std::log(sum), 1e-5);
    ASSERT_EQ(result.top.size(), 2u);
    EXPECT_EQ(result.top[0].token, 'b');
    EXPECT_NEAR(result.top[0].logprob, 3.0 - std::log(sum), 1e-5);
    EXPECT_EQ(result.top[1].token, 'c');
}

TEST(TokenLogprobs, StayFiniteForLargeLogits) {
    const SimVocabulary vocabulary(512, false);
    const std::vector<float> logits(512, 5000.0f);
    EXPECT_NEAR(token_logprobs(logits, 3, 0, vocabulary).chosen.logprob, -std::log(512.0), 1e-3);
}

TEST(TokenLogprobs, BreakTiesByTheLowerId) {
    const SimVocabulary vocabulary(512, false);
    const std::vector<float> logits(512, 0.0f);
    const auto result = token_logprobs(logits, 9, 3, vocabulary);
    EXPECT_EQ(result.top[0].token, 0);
    EXPECT_EQ(result.top[1].token, 1);
    EXPECT_EQ(result.top[2].token, 2);
}

}  // namespace
}  // namespace cairn
