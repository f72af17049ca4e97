#include "policy/load_or_compute.h"

#include <gtest/gtest.h>

#include <limits>

namespace cairn {
namespace {

// 1 s of reading against 2 s of computing.
constexpr LoadFacts kFacts{
    .bytes = 500'000'000, .bytes_per_s = 1e9, .fixed_s = 0.5, .tokens_saved = 1000, .seconds_per_token = 0.002};

LoadFacts with_rate(double bytes_per_s) {
    LoadFacts facts = kFacts;
    facts.bytes_per_s = bytes_per_s;
    return facts;
}

TEST(LoadOrCompute, TheFasterWayWins) {
    EXPECT_EQ(load_or_compute(kFacts), LoadVerdict::load);
    EXPECT_EQ(load_or_compute(with_rate(1e8)), LoadVerdict::compute);
    EXPECT_EQ(load_seconds(kFacts), 1.0);
    EXPECT_EQ(compute_seconds(kFacts), 2.0);
}

TEST(LoadOrCompute, LoadingHasToWinByTheMargin) {
    LoadFacts facts = kFacts;
    facts.seconds_per_token = 1.01e-3 * kLoadMargin;
    EXPECT_EQ(load_or_compute(facts), LoadVerdict::load);
    facts.seconds_per_token = 0.99e-3 * kLoadMargin;
    EXPECT_EQ(load_or_compute(facts), LoadVerdict::compute);
}

TEST(LoadOrCompute, TheFixedPartOfAReadCounts) {
    LoadFacts facts = kFacts;
    facts.fixed_s = 5;
    EXPECT_EQ(load_or_compute(facts), LoadVerdict::compute);
    facts.fixed_s = -5;  // makes no sense
    EXPECT_EQ(load_seconds(facts), 0.5);
}

TEST(LoadOrCompute, WhatIsNotKnownIsMeasuredByLoading) {
    LoadFacts facts = with_rate(1);
    EXPECT_EQ(load_or_compute(facts), LoadVerdict::compute);
    facts.bytes_per_s = std::nullopt;
    EXPECT_EQ(load_or_compute(facts), LoadVerdict::load);
    facts.bytes_per_s = 1;
    facts.seconds_per_token = std::nullopt;
    EXPECT_EQ(load_or_compute(facts), LoadVerdict::load);
    for (double odd : {0.0, -1.0, std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
        EXPECT_EQ(load_or_compute(with_rate(odd)), LoadVerdict::load);
        EXPECT_EQ(load_seconds(with_rate(odd)), std::nullopt);
    }
}

TEST(LoadOrCompute, NothingToSaveIsNeverLoaded) {
    for (TokenPos saved : {0, -3}) {
        LoadFacts facts = kFacts;
        facts.tokens_saved = saved;
        EXPECT_EQ(load_or_compute(facts), LoadVerdict::compute);
        facts.bytes_per_s = std::nullopt;
        EXPECT_EQ(load_or_compute(facts), LoadVerdict::compute);
    }
}

}  // namespace
}  // namespace cairn
