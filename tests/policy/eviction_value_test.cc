#include "policy/eviction_value.h"

#include <gtest/gtest.h>

namespace cairn {
namespace {

TEST(EvictionValue, LeastRecentlyUsedGoesFirst) {
    const auto old = eviction_value({.last_use_s = 10, .now_s = 100});
    const auto recent = eviction_value({.last_use_s = 99, .now_s = 100});
    EXPECT_EQ(old, -90);
    EXPECT_EQ(recent, -1);
    EXPECT_LT(old, recent);
}

TEST(EvictionValue, NothingButRecencyCountsForNow) {
    const SnapshotFacts plain{.last_use_s = 10, .now_s = 100};
    const SnapshotFacts precious{.last_use_s = 10,
                                 .now_s = 100,
                                 .bytes = 1,
                                 .tokens_saved = 100000,
                                 .seconds_per_token = 1,
                                 .hits = 1000,
                                 .kind = CheckpointKind::system_end,
                                 .has_descendants = true};
    EXPECT_EQ(eviction_value(plain), eviction_value(precious));
}

}  // namespace
}  // namespace cairn
