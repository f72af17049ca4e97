#include "policy/rate.h"

#include <gtest/gtest.h>

#include <limits>

namespace cairn {
namespace {

constexpr RateMemory kMemory{.smallest = 10, .memory = 1000, .half_life_s = 60};

TEST(Rate, IsUnknownUntilSomethingWasMeasured) {
    Rate rate(kMemory);
    EXPECT_EQ(rate.per_second(0), std::nullopt);
    EXPECT_EQ(rate.seconds_per_unit(1e9), std::nullopt);
    rate.add(100, 2, 0);
    EXPECT_EQ(rate.per_second(0), 50);
    EXPECT_EQ(rate.seconds_per_unit(0), 0.02);
}

TEST(Rate, SamplesCountByTheirAmount) {
    Rate rate(kMemory);
    rate.add(900, 1, 0);
    rate.add(10, 1, 0);  // 90 times less to say
    EXPECT_NEAR(*rate.per_second(0), 455, 5);
    rate.add(900, 1, 0);
    EXPECT_GT(*rate.per_second(0), 600);
}

TEST(Rate, SamplesBelowTheSmallestSayNothing) {
    Rate rate(kMemory);
    rate.add(9.9, 100, 0);
    EXPECT_EQ(rate.per_second(0), std::nullopt);
    rate.add(500, 1, 0);
    for (int i = 0; i < 1000; ++i)
        rate.add(9.9, 100, 0);
    EXPECT_EQ(rate.per_second(0), 500);
}

TEST(Rate, NewAmountsReplaceOldOnes) {
    Rate rate(kMemory);
    rate.add(1000, 1, 0);
    for (int i = 0; i < 10; ++i)
        rate.add(1000, 10, 0);
    EXPECT_NEAR(*rate.per_second(0), 100, 1);
}

TEST(Rate, GetsUnknownWithTimeSoThatItIsTriedAgain) {
    Rate rate(kMemory);
    rate.add(640, 64, 0);
    EXPECT_NEAR(*rate.per_second(5.9 * 60), 10, 1e-9);  // six half-lives leave the smallest sample
    EXPECT_EQ(rate.per_second(6.1 * 60), std::nullopt);
    rate.add(100, 1, 10 * 60);  // what is remembered of the old hardly counts
    EXPECT_GT(*rate.per_second(10 * 60), 90);
}

TEST(Rate, NoAmountIsRememberedForEver) {
    Rate rate(kMemory);
    rate.add(1e15, 1e15, 0);
    EXPECT_TRUE(rate.per_second(6 * 60).has_value());
    EXPECT_EQ(rate.per_second(7 * 60), std::nullopt);  // 1000 units fade to 10 in 6.6 half-lives
}

TEST(Rate, NonsenseIsIgnored) {
    Rate rate(kMemory);
    for (double bad : {0.0, -1.0, std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
        rate.add(bad, 1, 0);
        rate.add(100, bad, 0);
    }
    EXPECT_EQ(rate.per_second(0), std::nullopt);
}

TEST(Rate, AClockThatGoesBackStandsStill) {
    Rate rate(kMemory);
    rate.add(100, 1, 1000);
    EXPECT_EQ(rate.per_second(0), 100);
    rate.add(100, 1, 0);
    EXPECT_NEAR(*rate.per_second(0), 100, 1e-9);
}

TEST(Rate, TheDefaultsTryASlowDiskAgainWithinAQuarterOfAnHour) {
    Rate disk(kDiskRead);
    disk.add(10e9, 1000, 0);
    EXPECT_TRUE(disk.per_second(60).has_value());
    EXPECT_FALSE(disk.per_second(900).has_value());
}

}  // namespace
}  // namespace cairn
