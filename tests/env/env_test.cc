#include "env/env.h"

#include <gtest/gtest.h>

#include "env/file_system.h"
#include "tests/support/manual_env.h"

namespace cairn {
namespace {

TEST(SystemEnv, ClockNeverGoesBack) {
    Env &env = system_env();
    double last = env.now_s();
    for (int i = 0; i < 1000; ++i) {
        const double now = env.now_s();
        ASSERT_GE(now, last);
        last = now;
    }
}

TEST(SystemEnv, UnixTimeIsOfThisCentury) {
    EXPECT_GT(system_env().unix_time_s(), 1'577'836'800);  // 2020-01-01
    EXPECT_LT(system_env().unix_time_s(), 4'102'444'800);  // 2100-01-01
}

TEST(SystemEnv, RandomNumbersUseAllBits) {
    std::uint64_t seen_one = 0;
    std::uint64_t seen_zero = 0;
    for (int i = 0; i < 256; ++i) {
        const auto number = system_env().random_u64();
        seen_one |= number;
        seen_zero |= ~number;
    }
    EXPECT_EQ(seen_one, ~std::uint64_t{0});
    EXPECT_EQ(seen_zero, ~std::uint64_t{0});
}

TEST(ManualEnv, ClockMovesOnlyByHand) {
    ManualEnv env;
    EXPECT_EQ(env.now_s(), 0);
    EXPECT_EQ(env.now_s(), 0);
    env.advance(1.5);
    EXPECT_EQ(env.now_s(), 1.5);
    EXPECT_EQ(env.unix_time_s(), ManualEnv::kStartUnixTime + 1);
    env.advance(-1);
    EXPECT_EQ(env.now_s(), 1.5);
}

TEST(SystemEnv, FilesAreThoseOfTheMachine) {
    EXPECT_EQ(&system_env().files(), &posix_file_system());
}

TEST(ManualEnv, FilesAreItsOwnAndFollowItsClock) {
    ManualEnv env;
    env.advance(60);
    ASSERT_TRUE(env.files().open("a", OpenMode::create));
    EXPECT_EQ(env.files().info("a").value().modified_unix_s, ManualEnv::kStartUnixTime + 60);
    ManualEnv another;
    EXPECT_FALSE(another.files().info("a"));
}

TEST(ManualEnv, FilesMayBeTheTests) {
    SimFileSystem disk;
    disk.set_content("a", "hello");
    ManualEnv env(7, &disk);
    EXPECT_EQ(&env.files(), &disk);
}

TEST(ManualEnv, RandomNumbersFollowTheSeed) {
    ManualEnv a(7);
    ManualEnv b(7);
    ManualEnv c(8);
    const auto first = a.random_u64();
    EXPECT_EQ(first, b.random_u64());
    EXPECT_NE(first, c.random_u64());
    EXPECT_EQ(a.random_u64(), b.random_u64());
}

}  // namespace
}  // namespace cairn
