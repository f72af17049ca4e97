#include "engine/prefix_sharing.h"

#include <gtest/gtest.h>

#include <vector>

namespace cairn {
namespace {

using Leaders = std::vector<LeaderFacts>;
using Choice = std::optional<SharedPrefix>;

constexpr NewcomerFacts kNew{.have = 0, .have_is_free = false, .limit = 1599, .can_rewind = false};

NewcomerFacts that_rewinds() {
    NewcomerFacts facts = kNew;
    facts.can_rewind = true;
    return facts;
}

TEST(PrefixSharing, NobodyIsThere) {
    EXPECT_EQ(choose_leader({}, kNew), Choice());
    EXPECT_EQ(choose_leader(Leaders{{.common = 0, .reached = 0, .will_reach = 2000}}, kNew), Choice());
}

TEST(PrefixSharing, WaitsForAPrefixThatIsStillToCome) {
    EXPECT_EQ(choose_leader(Leaders{{.common = 1500, .reached = 0, .will_reach = 1600}}, kNew),
              (SharedPrefix{0, 1500, false}));
    EXPECT_EQ(choose_leader(Leaders{{.common = 1500, .reached = 800, .will_reach = 1600}}, kNew),
              (SharedPrefix{0, 1500, false}));
}

TEST(PrefixSharing, TakesOverAllButTheLastTokenOfAnEqualPrompt) {
    EXPECT_EQ(choose_leader(Leaders{{.common = 1600, .reached = 0, .will_reach = 1600}}, kNew),
              (SharedPrefix{0, 1599, false}));
}

TEST(PrefixSharing, WaitsForNoMoreThanThePromptOfTheLeader) {
    EXPECT_EQ(choose_leader(Leaders{{.common = 700, .reached = 10, .will_reach = 700}}, kNew),
              (SharedPrefix{0, 700, false}));
}

TEST(PrefixSharing, ForksAtOnceWhereTheLeaderStandsThere) {
    EXPECT_EQ(choose_leader(Leaders{{.common = 1500, .reached = 1500, .will_reach = 1600}}, kNew),
              (SharedPrefix{0, 1500, true}));
}

TEST(PrefixSharing, CutsALeaderThatHasPassedOnlyWhereStatesCanBeCut) {
    const Leaders leaders{{.common = 1500, .reached = 1550, .will_reach = 1600}};
    EXPECT_EQ(choose_leader(leaders, kNew), Choice());
    EXPECT_EQ(choose_leader(leaders, that_rewinds()), (SharedPrefix{0, 1500, true}));
}

TEST(PrefixSharing, DoesNotWaitForALeaderThatHasFurtherToGoThanItself) {
    NewcomerFacts newcomer = kNew;
    newcomer.have = 1000;
    EXPECT_EQ(choose_leader(Leaders{{.common = 1500, .reached = 200, .will_reach = 1600}}, newcomer), Choice());
    EXPECT_EQ(choose_leader(Leaders{{.common = 1500, .reached = 1000, .will_reach = 1600}}, newcomer),
              (SharedPrefix{0, 1500, false}));
}

TEST(PrefixSharing, DoesNotWaitForLittle) {
    NewcomerFacts newcomer = kNew;
    newcomer.have = 1500 - kLeastShared + 1;
    EXPECT_EQ(choose_leader(Leaders{{.common = 1500, .reached = 1490, .will_reach = 1600}}, newcomer), Choice());
    // What costs nobody anything may be as little as it is.
    EXPECT_EQ(choose_leader(Leaders{{.common = 1500, .reached = 1500, .will_reach = 1600}}, newcomer),
              (SharedPrefix{0, 1500, true}));
}

TEST(PrefixSharing, PrefersALiveStateToCopyingTheSameFromRam) {
    NewcomerFacts newcomer = that_rewinds();
    newcomer.have = 1500;
    const Leaders leaders{{.common = 1500, .reached = 1590, .will_reach = 1600}};
    EXPECT_EQ(choose_leader(leaders, newcomer), (SharedPrefix{0, 1500, true}));
    newcomer.have_is_free = true;
    EXPECT_EQ(choose_leader(leaders, newcomer), Choice());
}

TEST(PrefixSharing, TakesTheOneThatGivesMostThenNowThenTheOldest) {
    const LeaderFacts near{.common = 900, .reached = 0, .will_reach = 1600};
    const LeaderFacts far{.common = 1500, .reached = 0, .will_reach = 1600};
    const LeaderFacts there{.common = 1500, .reached = 1500, .will_reach = 1600};
    EXPECT_EQ(choose_leader(Leaders{near, far, far}, kNew), (SharedPrefix{1, 1500, false}));
    EXPECT_EQ(choose_leader(Leaders{near, far, there}, kNew), (SharedPrefix{2, 1500, true}));
}

TEST(PrefixSharing, WaitsForOneThatWaitsItself) {
    const LeaderFacts waiting{.common = 1550, .reached = 1500, .will_reach = 1600, .waits = true};
    EXPECT_EQ(choose_leader(Leaders{{.common = 1500, .reached = 0, .will_reach = 1600}, waiting}, kNew),
              (SharedPrefix{1, 1550, false}));
    // It holds nothing yet, so there is nothing to cut.
    const LeaderFacts longer{.common = 1400, .reached = 1500, .will_reach = 1600, .waits = true};
    EXPECT_EQ(choose_leader(Leaders{longer}, that_rewinds()), Choice());
}

}  // namespace
}  // namespace cairn
