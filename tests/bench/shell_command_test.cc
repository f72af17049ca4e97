#include "bench/shell_command.h"

#include <gtest/gtest.h>

#include "env/env.h"

namespace cairn {
namespace {

constexpr double kLong = 60;

TEST(ShellCommand, GivesTheStatusOfTheShell) {
    Env &env = system_env();
    EXPECT_EQ(run_shell("true", kLong, env).value_or(-1), 0);
    EXPECT_EQ(run_shell("exit 7", kLong, env).value_or(-1), 7);
    EXPECT_EQ(run_shell("kill -9 $$", kLong, env).value_or(-1), 128 + 9);
    EXPECT_EQ(run_shell("/no/such/program 2> /dev/null", kLong, env).value_or(-1), 127);
}

TEST(ShellCommand, ReturnsWhileWhatItStartedGoesOn) {
    EXPECT_EQ(run_shell("sleep 2 > /dev/null 2>&1 &", kLong, system_env()).value_or(-1), 0);
}

TEST(ShellCommand, IsKilledWithAllItStartedWhereItTakesTooLong) {
    const auto late = run_shell("sleep 1000 & sleep 1000", 0.05, system_env());
    ASSERT_FALSE(late.has_value());
    EXPECT_EQ(late.error().code, ErrorCode::io);
    EXPECT_NE(late.error().what.find("was killed"), std::string::npos) << late.error().what;
}

}  // namespace
}  // namespace cairn
