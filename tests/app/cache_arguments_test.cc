#include "app/cache_arguments.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace cairn {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

template <class T>
void expect_refused(const Result<T> &result, const std::string &what) {
    ASSERT_FALSE(result.has_value()) << what;
    EXPECT_EQ(result.error().code, ErrorCode::invalid_argument);
    EXPECT_THAT(result.error().what, HasSubstr(what));
}

TEST(CacheArguments, IdsAreNumbersAndCountOnce) {
    EXPECT_THAT(parse_ids({"12", "13", "12"}).value(), ElementsAre(12, 13));
    for (const char *bad : {"-1", "", " 1", "1x", "99999999999999999999"})
        expect_refused(parse_ids({"12", bad}), "is not a snapshot id");
}

TEST(CacheArguments, ASizeOfZeroIsNoSwitch) {
    EXPECT_EQ(parse_max_bytes("0").value(), 0u);
    EXPECT_EQ(parse_max_bytes("2G").value(), std::uint64_t{2} << 30);
    EXPECT_FALSE(parse_max_bytes(std::nullopt).value().has_value());
    expect_refused(parse_max_bytes("x"), "--max-bytes");
    EXPECT_THAT(parse_max_bytes("x").error().what, Not(HasSubstr("off")));
}

TEST(CacheArguments, DaysAreFiniteAndNotNegative) {
    EXPECT_EQ(parse_older_than("1.5").value(), 129600);
    EXPECT_EQ(parse_older_than("0").value(), 0);
    for (const char *bad : {"nan", "inf", "-1", "", "1e9", "3 days"})
        expect_refused(parse_older_than(bad), "--older-than");
}

TEST(CacheArguments, AModelsNameIsNotEmpty) {
    EXPECT_TRUE(check_model_name(std::nullopt).has_value());
    EXPECT_TRUE(check_model_name("qwen3").has_value());
    expect_refused(check_model_name(""), "--model");
}

}  // namespace
}  // namespace cairn
