#include "sim/sim_sampler.h"

#include <gtest/gtest.h>

#include <set>

namespace cairn {
namespace {

SamplingParams params(float temperature, std::uint32_t seed = 0) {
    SamplingParams result;
    result.temperature = temperature;
    result.seed = seed;
    return result;
}

TEST(SimSampler, GreedyTakesTheLowestIdAmongEquals) {
    SimSampler sampler(params(0.0f));
    EXPECT_EQ(sampler.sample(std::vector<float>{1, 5, 5, 2}), 1);
}

TEST(SimSampler, BiasMovesTheChoiceAndLeavesTheLogits) {
    SamplingParams biased = params(0.0f);
    biased.logit_bias = {{3, 10.0f}, {99, 1.0f}, {-1, 1.0f}};
    SimSampler sampler(biased);
    const std::vector<float> logits{1, 5, 5, 2};
    EXPECT_EQ(sampler.sample(logits), 3);
    EXPECT_EQ(logits, (std::vector<float>{1, 5, 5, 2}));
}

TEST(SimSampler, TheSameSeedAndHistoryDrawTheSame) {
    const std::vector<float> logits(64, 0.0f);
    std::vector<Token> first, second, other;
    SimSampler a(params(1.0f, 7)), b(params(1.0f, 7));
    SimSampler c(params(1.0f, 8));
    for (int i = 0; i < 32; ++i) {
        first.push_back(a.sample(logits));
        second.push_back(b.sample(logits));
        other.push_back(c.sample(logits));
        a.accept(first.back());
        b.accept(second.back());
        c.accept(other.back());
    }
    EXPECT_EQ(first, second);
    EXPECT_NE(first, other);
    EXPECT_GT(std::set<Token>(first.begin(), first.end()).size(), 10u);
}

}  // namespace
}  // namespace cairn
