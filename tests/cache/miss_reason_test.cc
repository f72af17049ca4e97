#include "cache/miss_reason.h"

#include <gtest/gtest.h>

namespace cairn {
namespace {

TEST(MissReason, TellsWhatStoodInTheWay) {
    struct Row {
        LookupFacts facts;
        MissReason reason;
    };
    const Row rows[] = {
        {{.limit = 0}, MissReason::none},
        {{.limit = 100, .depth = 100, .common = 100, .namespace_known = true, .path_goes_on = true}, MissReason::none},
        {{.limit = 100}, MissReason::empty},
        {{.limit = 100, .depth = 40, .common = 100, .evicted = 90, .namespace_known = true}, MissReason::evicted},
        {{.limit = 100, .depth = 40, .common = 60, .namespace_known = true, .path_goes_on = true},
         MissReason::no_checkpoint},
        {{.limit = 100, .depth = 40, .common = 200, .namespace_known = true}, MissReason::no_checkpoint},
        {{.limit = 100, .depth = 40, .common = 40, .namespace_known = true, .path_goes_on = true},
         MissReason::diverged},
        {{.limit = 100, .depth = 40, .common = 40, .namespace_known = true}, MissReason::none},
        {{.limit = 100, .depth = 0, .common = 0, .namespace_known = true, .path_goes_on = true}, MissReason::diverged},
    };
    for (const Row &row : rows)
        EXPECT_EQ(miss_reason(row.facts), row.reason) << name_of(row.reason);
}

}  // namespace
}  // namespace cairn
