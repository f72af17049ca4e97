#include "store/reservation.h"

#include <gtest/gtest.h>

namespace cairn {
namespace {

TEST(Budget, NeverGivesMoreThanItsLimit) {
    Budget budget("things", 3);
    auto two = budget.reserve(2);
    ASSERT_TRUE(two.has_value());
    EXPECT_EQ(budget.reserve(2).error().code, ErrorCode::capacity);
    EXPECT_EQ(budget.used(), 2u);
    auto one = budget.reserve(1);
    ASSERT_TRUE(one.has_value());
    EXPECT_EQ(budget.used(), 3u);
    EXPECT_EQ(budget.reserve(static_cast<std::size_t>(-1)).error().code, ErrorCode::capacity);
}

TEST(Budget, AReservationGivesBackOnceWhereverItIsMoved) {
    Budget budget("things", 5);
    {
        Reservation kept;
        {
            Reservation made = std::move(*budget.reserve(2));
            kept = std::move(made);
        }
        EXPECT_EQ(budget.used(), 2u);
        kept = std::move(*budget.reserve(3));
        EXPECT_EQ(budget.used(), 3u);
        EXPECT_EQ(kept.amount(), 3u);
    }
    EXPECT_EQ(budget.used(), 0u);
}

}  // namespace
}  // namespace cairn
