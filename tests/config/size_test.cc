#include "config/size.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/bytes.h"

namespace cairn {
namespace {

TEST(Size, PlainNumbersAreMebibytes) {
    EXPECT_EQ(parse_size("512").value(), 512_MiB);
    EXPECT_EQ(parse_size("1").value(), 1_MiB);
    EXPECT_EQ(parse_size("007").value(), 7_MiB);
}

TEST(Size, ZeroIsOffWithAnySuffix) {
    for (const char *text : {"0", "0K", "0M", "0G"})
        EXPECT_EQ(parse_size(text).value(), 0u) << text;
}

TEST(Size, SuffixesArePowersOf1024InEitherCase) {
    EXPECT_EQ(parse_size("64K").value(), 64_KiB);
    EXPECT_EQ(parse_size("64k").value(), 64_KiB);
    EXPECT_EQ(parse_size("1536M").value(), 1536_MiB);
    EXPECT_EQ(parse_size("3m").value(), 3_MiB);
    EXPECT_EQ(parse_size("4G").value(), 4_GiB);
    EXPECT_EQ(parse_size("4g").value(), 4_GiB);
}

TEST(Size, AnythingElseIsAnErrorThatQuotesItAndSaysWhatToWrite) {
    for (const char *text :
         {"", "G", "-1", "+1", " 1", "1 ", "1.5G", "4GB", "4GiB", "4T", "0x10", "ten", "1K1", "-0"}) {
        const auto size = parse_size(text);
        ASSERT_FALSE(size) << text;
        EXPECT_EQ(size.error().code, ErrorCode::invalid_argument);
        EXPECT_EQ(size.error().what, fmt::format("\"{}\" is not a size. Write a whole number with K, M or G behind it, "
                                                 "such as 512M or 4G; a plain number is MiB, and 0 is off.",
                                                 text));
    }
}

TEST(Size, LargestThatFitsIsTakenAndTheNextIsAnError) {
    // 2^64 bytes are 2^44 MiB, 2^34 GiB, 2^54 KiB.
    EXPECT_EQ(parse_size("17592186044415").value(), std::size_t{17592186044415} << 20);
    EXPECT_EQ(parse_size("17179869183G").value(), std::size_t{17179869183} << 30);
    for (const char *text : {"17592186044416", "17179869184G", "18014398509481984K", "18446744073709551616",
                             "99999999999999999999999999G"}) {
        const auto size = parse_size(text);
        ASSERT_FALSE(size) << text;
        EXPECT_THAT(size.error().what,
                    ::testing::StartsWith(fmt::format("The size \"{}\" is larger than any memory.", text)));
    }
}

TEST(Size, TextIsTheShortestExactOne) {
    EXPECT_EQ(size_text(0), "0");
    EXPECT_EQ(size_text(1023), "1023 bytes");
    EXPECT_EQ(size_text(64_KiB), "64 KiB");
    EXPECT_EQ(size_text(1536_MiB), "1536 MiB");
    EXPECT_EQ(size_text(4_GiB), "4 GiB");
    EXPECT_EQ(size_text(4_GiB + 1), "4294967297 bytes");
}

}  // namespace
}  // namespace cairn
