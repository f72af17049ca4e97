#include "bench/cold_speed.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace cairn {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

RequestResult took(long tokens, double seconds, std::optional<long> cached = 0) {
    RequestResult result;
    result.prompt_tokens = tokens;
    result.cached_tokens = cached;
    result.first_token_s = seconds;
    return result;
}

TEST(ColdSpeed, IsTheLineThroughTheMeansOfAllPasses) {
    ColdSamples samples;
    ASSERT_TRUE(samples.add({took(1000, 10.0), took(100, 1.5)}).has_value());
    ASSERT_TRUE(samples.add({took(1000, 11.0), took(100, 1.5)}).has_value());
    const ColdSpeed speed = samples.speed();
    EXPECT_DOUBLE_EQ(speed.tokens_per_s, 100);
    EXPECT_DOUBLE_EQ(speed.request_s, 0.5);
    EXPECT_DOUBLE_EQ(speed.seconds(2, 300), 4);
    EXPECT_THAT(samples.notes(), IsEmpty());
}

TEST(ColdSpeed, AShortPromptThatWasNotClearlyQuickerTellsNothing) {
    ColdSamples samples;
    ASSERT_TRUE(samples.add({took(1000, 10.0), took(100, 12.0)}).has_value());
    EXPECT_DOUBLE_EQ(samples.speed().tokens_per_s, 100);
    EXPECT_DOUBLE_EQ(samples.speed().request_s, 0);
}

TEST(ColdSpeed, WhatMakesItDoubtfulIsNoted) {
    ColdSamples warm;
    ASSERT_TRUE(warm.add({took(1000, 1.0, 900), took(100, 0.5)}).has_value());
    EXPECT_THAT(warm.notes(), ElementsAre(HasSubstr("--seed")));
    ColdSamples silent;
    ASSERT_TRUE(silent.add({took(1000, 1.0, {}), took(100, 0.5, {})}).has_value());
    EXPECT_THAT(silent.notes(), ElementsAre(HasSubstr("does not say")));
}

TEST(ColdSpeed, AnAnswerThatFailedOrSaysNothingOfTokensIsAnError) {
    ColdSamples samples;
    RequestResult failed;
    failed.error = "status 500";
    EXPECT_THAT(samples.add({took(1000, 1.0), failed}).error().what, HasSubstr("status 500"));
    EXPECT_EQ(samples.add({took(0, 1.0, {}), took(0, 1.0, {})}).error().code, ErrorCode::unsupported);
}

TEST(ColdSpeed, PassesAskDifferentPrompts) {
    const Workload first = cold_prompts(0), second = cold_prompts(1);
    EXPECT_NE(first.name, second.name) << "texts of another workload have nothing in common with its own";
    EXPECT_EQ(count_requests(first), 2u);
}

}  // namespace
}  // namespace cairn
