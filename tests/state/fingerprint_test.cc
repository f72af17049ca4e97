#include "state/fingerprint.h"

#include <gtest/gtest.h>

#include "state/layout.h"
#include "state/namespace_key.h"

namespace cairn {
namespace {

Fingerprint of(const std::string &name, const std::string &value) {
    return FingerprintBuilder().add(name.c_str(), value).finish();
}

TEST(Fingerprint, TheSameFactsGiveTheSame) {
    EXPECT_EQ(of("weights", "abc"), of("weights", "abc"));
    EXPECT_EQ(of("weights", "abc").hex().size(), 32u);
}

TEST(Fingerprint, ValuesNamesAndOrderMatter) {
    EXPECT_NE(of("weights", "abc"), of("weights", "abd"));
    EXPECT_NE(of("weights", "abc"), of("adapter", "abc"));
    const auto ab = FingerprintBuilder().add("a", std::int64_t{1}).add("b", std::int64_t{2}).finish();
    const auto ba = FingerprintBuilder().add("b", std::int64_t{2}).add("a", std::int64_t{1}).finish();
    EXPECT_NE(ab, ba);
}

TEST(Fingerprint, TwoFactsNeverReadAsOne) {
    const auto split = FingerprintBuilder().add("k", std::string("ab")).add("k", std::string("c")).finish();
    const auto other = FingerprintBuilder().add("k", std::string("a")).add("k", std::string("bc")).finish();
    EXPECT_NE(split, other);
    EXPECT_NE(of("ab", "c"), of("a", "bc"));
}

TEST(Fingerprint, AnEmptyFactIsAFact) {
    EXPECT_NE(of("adapter", ""), FingerprintBuilder().finish());
}

TEST(Fingerprint, HexShowsEveryByteInOrder) {
    Fingerprint fingerprint;
    fingerprint.bytes[0] = 0xab;
    fingerprint.bytes[15] = 0x01;
    EXPECT_EQ(fingerprint.hex(), "ab000000000000000000000000000001");
}

TEST(NamespaceKey, TenantsOfOneModelDoNotMeet) {
    const NamespaceKey a{of("weights", "x"), "a"}, b{of("weights", "x"), "b"}, other{of("weights", "y"), "a"};
    EXPECT_NE(a, b);
    EXPECT_NE(a, other);
    EXPECT_EQ(a, (NamespaceKey{of("weights", "x"), "a"}));
    EXPECT_NE(std::hash<NamespaceKey>{}(a), std::hash<NamespaceKey>{}(b));
}

TEST(StateLayout, ModesHaveNames) {
    EXPECT_STREQ(name_of(CaptureMode::segmented), "segmented");
    EXPECT_STREQ(name_of(CaptureMode::whole), "whole");
    EXPECT_STREQ(name_of(CaptureMode::none), "none");
}

}  // namespace
}  // namespace cairn
