// With the types that a user gets by default: a state that comes back to the place in the pool it had gives the same
// logits bit for bit, from RAM and from the device.

#include "tests/contract/backend_case.h"
#include "tests/support/fixtures.h"

namespace cairn {
namespace {

class SamePlace : public ::testing::TestWithParam<const char *> {};

TEST_P(SamePlace, GivesTheSameBits) {
    constexpr SeqId kA{0}, kB{1};
    auto backend = open_llama_backend(fixture_config(GetParam()), fixture_sizes());
    ASSERT_TRUE(backend) << backend.error().what;
    BackendDriver driver(**backend);
    const Tokens tokens = random_tokens(280, 51);
    for (const TokenPos tail : {1, 2, 31, 64, 130}) {
        driver.feed(kA, tokens, 0, 150);
        const CapturedChain ram = driver.capture(kA, {90, 150});
        const ParkId device = driver.park(kA);
        const auto cold = driver.feed(kA, tokens, 150, 150 + tail);
        (*backend)->clear(kA);
        ASSERT_TRUE((*backend)->adopt(device, kB, 150));
        EXPECT_EQ(driver.feed(kB, tokens, 150, 150 + tail), cold) << "tail of " << tail << " from the device";
        (*backend)->clear(kB);
        (*backend)->drop(device);
        driver.restore(kB, ram);
        EXPECT_EQ(driver.feed(kB, tokens, 150, 150 + tail), cold) << "tail of " << tail << " from RAM";
        (*backend)->clear(kB);
    }
}

// Without gemma3: from RAM, its window's cells come back to other places of their own pool. That shows in batches of 64
// tokens and more (see backend_case.cc); that what comes back is right is shown by snapshots_test.cc.
INSTANTIATE_TEST_SUITE_P(Fixtures, SamePlace, ::testing::Values("qwen35", "nemotron_h", "qwen3", "mamba2"),
                         [](const auto &fixture) { return std::string(fixture.param); });

}  // namespace
}  // namespace cairn
