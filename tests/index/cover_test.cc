// cover(): which entry serves a prompt best where state can be cut at any token.
#include <gtest/gtest.h>

#include <string>

#include "tests/index/index_fixture.h"

namespace cairn::index_test {
namespace {

TEST_F(PrefixCheckpointIndexTest, CoverTakesAnEntryBehindThePointWherePathsPart) {
    publish({1, 2}, "two");
    publish({1, 2, 3, 4, 5}, "five");
    const auto cover = index_.cover(home_, Tokens{1, 2, 3, 4, 9}, any);
    EXPECT_EQ(name_of_entry(cover.entry), "five");
    EXPECT_EQ(cover.entry_depth, 5);
    EXPECT_EQ(cover.common, 4);
    EXPECT_TRUE(cover.exhaustive);
}

TEST_F(PrefixCheckpointIndexTest, CoverTakesAnEntryBehindTheEndOfThePrompt) {
    publish({1, 2, 3, 4, 5}, "five");
    const auto cover = index_.cover(home_, Tokens{1, 2, 3}, any);
    EXPECT_EQ(cover.entry_depth, 5);
    EXPECT_EQ(cover.common, 3);
}

TEST_F(PrefixCheckpointIndexTest, CoverGoesUpUntilAnEntryIsAccepted) {
    publish({1, 2, 3, 4}, "a");
    publish({1, 2, 3, 5}, "b");
    publish({1, 2, 6}, "c");
    publish({1, 7}, "d");
    const Tokens prompt{1, 2, 3, 4, 9};
    const auto best_of = [&](const std::string &names) {
        return index_.cover(home_, prompt, [&](const CheckpointPtr &e) { return names.find(e->name) != names.npos; });
    };
    EXPECT_EQ(best_of("abcd").common, 4);
    EXPECT_EQ(name_of_entry(best_of("bcd").entry), "b");
    EXPECT_EQ(best_of("bcd").common, 3);
    EXPECT_EQ(name_of_entry(best_of("cd").entry), "c");
    EXPECT_EQ(best_of("cd").common, 2);
    EXPECT_EQ(name_of_entry(best_of("d").entry), "d");
    EXPECT_EQ(best_of("d").common, 1);
    EXPECT_FALSE(best_of("").entry.has_value());
    EXPECT_TRUE(best_of("").exhaustive);
}

TEST_F(PrefixCheckpointIndexTest, CoverFindsNothingWhereNoTokenIsShared) {
    publish({1, 2}, "a");
    const auto cover = index_.cover(home_, Tokens{2, 1}, any);
    EXPECT_FALSE(cover.entry.has_value());
    EXPECT_EQ(cover.common, 0);
}

TEST_F(PrefixCheckpointIndexTest, CoverAsksEachEntryOnce) {
    const Tokens prompt{1, 2, 3, 4, 5};
    publish({1, 2, 3, 4, 6}, "x");
    publish({1, 2, 3, 4, 5}, "x");
    publish({1, 2, 3, 7}, "x");
    publish({1, 2, 8}, "x");
    publish({1, 2}, "x");
    publish({9}, "shares nothing");
    int asked = 0;
    const auto refuses = [&](const CheckpointPtr &) { return ++asked == 0; };
    EXPECT_FALSE(index_.cover(home_, prompt, refuses).entry.has_value());
    EXPECT_EQ(asked, 5);
}

TEST_F(PrefixCheckpointIndexTest, CoverSettlesForAnAncestorWhenTheVisitsRunOut) {
    publish({1, 2}, "ancestor");
    for (Token token = 0; token < 100; ++token)
        publish({1, 2, 3, token}, "refused");
    int asked = 0;
    const auto accepts = [&](const CheckpointPtr &entry) {
        ++asked;
        return entry->name == "ancestor";
    };
    const auto cover = index_.cover(home_, Tokens{1, 2, 3, 200}, accepts, 10);
    EXPECT_EQ(name_of_entry(cover.entry), "ancestor");
    EXPECT_EQ(cover.common, 2);
    EXPECT_FALSE(cover.exhaustive);
    EXPECT_LE(asked, 11);
}

}  // namespace
}  // namespace cairn::index_test
