#include "state/prefix_hash.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

namespace cairn {
namespace {

std::string hex(const Digest128 &digest) {
    std::string text;
    for (const std::uint8_t byte : digest)
        text += fmt::format("{:02x}", byte);
    return text;
}

// The published value for no input. It is in files: it must never change.
TEST(PrefixHash, OfNothingIsTheOneThatXxhashPublishes) {
    EXPECT_EQ(hex(hash_of_prefix({})), "99aa06d3014798d86001c324468d497f");
    EXPECT_EQ(hex(hash_of_text("")), "99aa06d3014798d86001c324468d497f");
}

TEST(PrefixHash, TokensAreLittleEndianThirtyTwoBitIntegers) {
    EXPECT_EQ(hash_of_prefix(Tokens{0x64636261, 0x68676665}), hash_of_text("abcdefgh"));
    EXPECT_EQ(hash_of_prefix(Tokens{-1}), hash_of_text("\xff\xff\xff\xff"));
}

TEST(PrefixHash, EveryTokenItsPlaceAndTheirNumberCount) {
    std::set<Digest128> seen;
    Tokens tokens(300, 7);
    EXPECT_TRUE(seen.insert(hash_of_prefix(tokens)).second);
    for (std::size_t i = 0; i < tokens.size(); ++i) {
        tokens[i] = 8;
        EXPECT_TRUE(seen.insert(hash_of_prefix(tokens)).second) << i;
        tokens[i] = 7;
    }
    for (std::size_t length = 0; length < tokens.size(); ++length)
        EXPECT_TRUE(seen.insert(hash_of_prefix(TokenView(tokens).first(length))).second) << length;
}

TEST(PrefixHash, TextsMayHoldZeros) {
    EXPECT_NE(hash_of_text(std::string("a\0b", 3)), hash_of_text("a"));
}

}  // namespace
}  // namespace cairn
