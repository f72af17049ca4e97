#include "cairn/error.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "base/check.h"
#include "base/error_table.h"
#include "cairn/strong_id.h"

namespace cairn {
namespace {

Result<int> half_of(int number) {
    if (number % 2 != 0) return fail(ErrorCode::invalid_argument, "{} is odd: give an even number.", number);
    return number / 2;
}

Result<int> quarter_of(int number) {
    const auto half = half_of(number);
    if (!half) return fail(half.error());
    return half_of(*half);
}

TEST(Error, IsHandedUpUnchanged) {
    EXPECT_EQ(quarter_of(8).value(), 2);
    const auto failed = quarter_of(3);
    ASSERT_FALSE(failed.has_value());
    EXPECT_EQ(failed.error().code, ErrorCode::invalid_argument);
    EXPECT_EQ(failed.error().what, "3 is odd: give an even number.");
}

TEST(ErrorTable, HasOneRowPerKindInTheOrderOfTheEnum) {
    std::set<std::string> names;
    for (std::size_t i = 0; i < kErrorTable.size(); ++i) {
        const ErrorRow &row = kErrorTable[i];
        EXPECT_EQ(static_cast<std::size_t>(row.code), i);
        EXPECT_TRUE(names.insert(row.name).second) << row.name;
        EXPECT_EQ(&row_of(row.code), &row);
        EXPECT_STREQ(name_of(row.code), row.name);
        EXPECT_NE(row.exit_code, 0) << row.name;
    }
    EXPECT_EQ(kErrorTable.size(), static_cast<std::size_t>(ErrorCode::internal) + 1);
}

TEST(ErrorTable, ClientErrorsAreRequestErrorsAndServerErrorsAreNot) {
    for (const ErrorRow &row : kErrorTable) {
        const bool asked_wrongly = std::string(row.openai_type) == "invalid_request_error";
        EXPECT_EQ(asked_wrongly, row.http_status >= 400 && row.http_status < 499) << row.name;
    }
}

TEST(ErrorTable, AValueOutsideTheEnumIsInternal) {
    EXPECT_EQ(row_of(static_cast<ErrorCode>(1000)).code, ErrorCode::internal);
}

TEST(Check, PassesOverWhatHoldsAndStopsWithItsContextOtherwise) {
    const int used = 5;
    CAIRN_CHECK(used == 5);
    CAIRN_CHECK(used == 5, "used {}", used);
    EXPECT_DEATH(CAIRN_CHECK(used < 5, "used {} of {} bytes", used, 4),
                 "error_test.cc:.*invariant broken: used < 5: used 5 of 4 bytes");
}

TEST(StrongId, ComparesAndHashesByItsValue) {
    using RequestId = StrongId<struct RequestTag>;
    EXPECT_EQ(RequestId(7), RequestId(7));
    EXPECT_LT(RequestId(7), RequestId(8));
    EXPECT_EQ(RequestId().value(), 0u);
    EXPECT_EQ(std::hash<RequestId>{}(RequestId(7)), std::hash<std::uint64_t>{}(7));
    static_assert(!std::is_convertible_v<std::uint64_t, RequestId>);
    static_assert(!std::is_convertible_v<RequestId, StrongId<struct OtherTag>>);
}

}  // namespace
}  // namespace cairn
