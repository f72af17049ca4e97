// What users expect to be reused, one test per kind of conversation.
#include <gtest/gtest.h>

#include "tests/cache/cache_bench.h"

namespace cairn {
namespace {

/// Each family, kept on the device and in RAM.
class Reuse : public testing::TestWithParam<std::tuple<SimFamily, bool>> {
protected:
    [[nodiscard]] static SimFamily family() { return std::get<0>(GetParam()); }
    [[nodiscard]] static bool rewinds() { return family() == SimFamily::attention; }
    [[nodiscard]] static Tier tier() { return std::get<1>(GetParam()) ? Tier::device : Tier::ram; }
    CacheBench bench{family(), std::get<1>(GetParam()) ? device_only(16) : ram_only(16_MiB)};
};

INSTANTIATE_TEST_SUITE_P(Families, Reuse, testing::Combine(kFamilies, testing::Bool()), [](const auto &param) {
    return std::string(name_of(std::get<0>(param.param))) + (std::get<1>(param.param) ? "_device" : "_ram");
});

TEST_P(Reuse, TheSamePromptAgainComputesOneToken) {
    const Tokens prompt = text(700);
    EXPECT_EQ(bench.serve(prompt, {699}).reason, MissReason::empty);
    const Served again = bench.serve(prompt, {699});
    EXPECT_EQ(again.cached, 699);
    EXPECT_EQ(again.tier, tier());
    EXPECT_EQ(again.reason, MissReason::none);
    bench.backend->clear(SeqId(0));
    bench.expect_nothing_left();
}

TEST_P(Reuse, TwoContinuationsOfOnePromptResumeAtItsEnd) {
    const Tokens p = text(300);
    bench.serve(p, {299});
    const Served x = bench.serve(p + text(50, 2), {});
    const Served y = bench.serve(p + text(50, 3), {});
    EXPECT_EQ(x.cached, 299);
    EXPECT_EQ(y.cached, 299);
    EXPECT_EQ(x.reason, MissReason::none);
    EXPECT_EQ(bench.serve(p, {}).cached, 299);
}

TEST_P(Reuse, ShortPromptsAreKeptToo) {
    const Tokens prompt = text(30);
    bench.serve(prompt, {29});
    EXPECT_EQ(bench.serve(prompt + text(3, 2), {}).cached, 29);
    const Tokens tiny = text(2, 9);
    bench.serve(tiny, {1});
    EXPECT_EQ(bench.serve(tiny, {}).cached, 1);
}

TEST_P(Reuse, EveryTurnResumesWhereTheLastOneEnded) {
    Tokens conversation = text(400);
    bench.serve(conversation, {399, 400});
    for (std::size_t turn = 2; turn <= 7; ++turn) {
        const auto known = static_cast<TokenPos>(conversation.size());
        conversation = conversation + text(90, turn);
        const auto end = static_cast<TokenPos>(conversation.size());
        EXPECT_EQ(bench.serve(conversation, {end - 1, end}).cached, known) << turn;
    }
}

TEST_P(Reuse, AnInsertionInTheMiddleResumesBeforeIt) {
    const Tokens a = text(512), b = text(512, 2), c = text(512, 3);
    bench.serve(a + b, {512, 1023});
    const Served served = bench.serve(a + c + b, {});
    EXPECT_EQ(served.cached, 512);
    EXPECT_EQ(served.reason, MissReason::diverged);
    EXPECT_EQ(served.first_difference, 512);
}

TEST_P(Reuse, ANewChatSharesTheSystemPromptAndTheLongChatStays) {
    const Tokens system = text(200);
    const Tokens chat = system + text(1200, 2);
    bench.serve(chat, {200, 1399});
    const Served fresh = bench.serve(system + text(100, 3), {299});
    EXPECT_EQ(fresh.cached, 200);
    EXPECT_EQ(fresh.reason, MissReason::diverged);
    EXPECT_EQ(fresh.first_difference, 200);
    EXPECT_EQ(bench.serve(chat + text(5, 4), {}).cached, 1399);
}

TEST_P(Reuse, TwoUsersContinueOnePrefixAtTheSameMoment) {
    const Tokens p = text(300);
    bench.serve(p, {299});
    Lookup first = bench.cache->find("", p, 299);
    Lookup second = bench.cache->find("", p, 299);
    EXPECT_EQ(bench.cache->stats().leases, 2u);
    ASSERT_TRUE(bench.cache->adopt(std::move(first), SeqId(1)).has_value());
    ASSERT_TRUE(bench.cache->adopt(std::move(second), SeqId(2)).has_value());
    EXPECT_EQ(bench.cache->stats().leases, 0u);
    const Tokens x = first_of(p, 299) + text(40, 5), y = first_of(p, 299) + text(40, 6);
    bench.continue_to(x, {}, "", SeqId(1));
    bench.continue_to(y, {}, "", SeqId(2));
    EXPECT_EQ(bench.serve(p, {}).cached, 299);
    EXPECT_EQ(bench.metrics.value(Metric::cache_hits_total, name_of(tier())), 3);
}

TEST_P(Reuse, EveryTailLengthAroundASharedPrefixIsServedOrExplained) {
    const Tokens shared = text(256);
    bench.serve(shared + text(20, 2), {256, 275});
    for (std::size_t cut = 1; cut <= 130; cut += 3) {
        const Served shorter = bench.serve(first_of(shared, 256 - cut) + text(17, 100 + cut), {});
        const auto common = static_cast<TokenPos>(256 - cut);
        EXPECT_GE(shorter.first_difference, common);
        EXPECT_EQ(shorter.cached, rewinds() ? shorter.first_difference : 0);
        EXPECT_EQ(shorter.reason, rewinds() ? MissReason::diverged : MissReason::no_checkpoint);
        const Served longer = bench.serve(shared + text(cut, 200 + cut), {});
        EXPECT_GE(longer.cached, cut == 1 ? 255 : 256) << cut;
    }
}

TEST_P(Reuse, TenantsShareNothing) {
    const Tokens prompt = text(100);
    bench.serve(prompt, {99}, "alice");
    const Served bob = bench.serve(prompt, {99}, "bob");
    EXPECT_EQ(bob.cached, 0);
    EXPECT_EQ(bob.reason, MissReason::empty);
    EXPECT_EQ(bench.serve(prompt, {}, "alice").cached, 99);
}

TEST_P(Reuse, AHitNeverExceedsTheLimit) {
    const Tokens prompt = text(100);
    bench.serve(prompt, {50, 99});
    EXPECT_EQ(bench.cache->find("", prompt, 98).depth, rewinds() ? 98 : 50);
    EXPECT_EQ(bench.cache->find("", prompt, 50).depth, 50);
    EXPECT_EQ(bench.cache->find("", prompt, 49).depth, rewinds() ? 49 : 0);
    EXPECT_EQ(bench.cache->find("", prompt, 0).reason, MissReason::none);
    EXPECT_EQ(bench.cache->find("", {}, 10).depth, 0);
    EXPECT_EQ(bench.cache->stats().leases, 0u);
}

}  // namespace
}  // namespace cairn
