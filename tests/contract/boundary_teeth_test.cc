// The teeth of the suite: with the boundary of a restore dropped, zeroed, stale or swapped, and all rows right, the
// comparison that the other tests use must say so, for every cut and every tail.

#include <fmt/format.h>

#include "tests/contract/backend_case.h"
#include "tests/support/boundary_fault.h"

namespace cairn {
namespace {

using BoundaryTeeth = BackendContract;

TEST_P(BoundaryTeeth, AWrongBoundaryNeverPassesForTheRightOne) {
    const Tokens tokens = random_tokens(300, 21);
    const Tokens other = random_tokens(300, 22);
    // Checkpoints inside a prompt; boundaries have one size from the window's length on.
    const std::vector<TokenPos> cuts{70, 101, 150};
    for (std::size_t i = 1; i < cuts.size(); ++i) {
        const TokenPos earlier_cut = cuts[i - 1], cut = cuts[i];
        driver_->feed(kA, tokens, 0, earlier_cut);
        const ByteVector earlier = driver_->capture_boundary(kA);
        driver_->feed(kA, tokens, earlier_cut, cut);
        const CapturedChain right = driver_->capture(kA, {earlier_cut, cut});
        driver_->feed(kB, other, 0, cut);
        const ByteVector swapped = driver_->capture_boundary(kB);
        backend_->clear(kB);
        const ParkId start = driver_->park(kA);
        backend_->clear(kA);
        for (const TokenPos tail : {1, 2, 7, 33, 130}) {
            ASSERT_TRUE(backend_->adopt(start, kA, cut));
            const auto cold = driver_->feed(kA, tokens, cut, cut + tail);
            backend_->clear(kA);
            driver_->restore(kC, right);
            const LogitsComparison warm = compare_logits(cold, driver_->feed(kC, tokens, cut, cut + tail));
            EXPECT_TRUE(warm.matches()) << "cut " << cut << ", tail " << tail << ": " << warm;
            backend_->clear(kC);
            for (const BoundaryFault fault : kBoundaryFaults) {
                const std::string what = fmt::format("{} at {}, tail {}", name_of(fault), cut, tail);
                CapturedChain wrong = right;
                wrong.boundary = faulty_boundary(fault, {right.boundary, earlier, swapped});
                const Status restored = driver_->try_restore(kC, wrong);
                if (fault == BoundaryFault::dropped) {
                    // There is nothing to compare: a restore without its boundary must not succeed.
                    EXPECT_FALSE(restored) << what;
                } else {
                    ASSERT_TRUE(restored) << what << ": " << restored.error().what;
                    const LogitsComparison seen = compare_logits(cold, driver_->feed(kC, tokens, cut, cut + tail));
                    EXPECT_FALSE(seen.matches()) << what << ": " << seen;
                    // Not by a hair either: the suite's tolerance is far from what a fault does.
                    EXPECT_GT(seen.max_difference, 10 * LogitsComparison::kTolerance * seen.scale) << what;
                }
                backend_->clear(kC);
            }
        }
        backend_->drop(start);
    }
}

CAIRN_OVER_BACKENDS(BoundaryTeeth, trusting_boundary_cases);

}  // namespace
}  // namespace cairn
