#include "base/bytes.h"

#include <gtest/gtest.h>

#include <limits>
#include <optional>

namespace cairn {
namespace {

constexpr std::size_t kMost = std::numeric_limits<std::size_t>::max();

TEST(Bytes, SumsThatDoNotFitAreNothing) {
    EXPECT_EQ(checked_add(2, 3), std::optional<std::size_t>(5));
    EXPECT_EQ(checked_add(kMost, 0), std::optional<std::size_t>(kMost));
    EXPECT_EQ(checked_add(kMost, 1), std::nullopt);
}

TEST(Bytes, ProductsThatDoNotFitAreNothing) {
    EXPECT_EQ(checked_mul(6, 7), std::optional<std::size_t>(42));
    EXPECT_EQ(checked_mul(kMost, 0), std::optional<std::size_t>(0));
    EXPECT_EQ(checked_mul(kMost / 2 + 1, 2), std::nullopt);
}

TEST(Bytes, AlignsUpToTheNextMultiple) {
    EXPECT_EQ(checked_align_up(0, 64), std::optional<std::size_t>(0));
    EXPECT_EQ(checked_align_up(1, 64), std::optional<std::size_t>(64));
    EXPECT_EQ(checked_align_up(64, 64), std::optional<std::size_t>(64));
    EXPECT_EQ(checked_align_up(65, 64), std::optional<std::size_t>(128));
    EXPECT_EQ(checked_align_up(kMost - 10, 64), std::nullopt);
}

TEST(Bytes, UnitsArePowersOfTwo) {
    EXPECT_EQ(3_KiB, 3072u);
    EXPECT_EQ(2_MiB, 2097152u);
    EXPECT_EQ(1_GiB, 1073741824u);
}

}  // namespace
}  // namespace cairn
