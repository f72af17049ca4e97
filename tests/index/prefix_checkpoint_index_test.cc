#include "index/prefix_checkpoint_index.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "tests/index/index_fixture.h"

namespace cairn::index_test {
namespace {

TEST_F(PrefixCheckpointIndexTest, FindsNothingInAnEmptyIndex) {
    const auto found = match({1, 2, 3});
    EXPECT_FALSE(found.entry.has_value());
    EXPECT_FALSE(found.namespace_known);
    EXPECT_EQ(found.depth, 0);
    EXPECT_EQ(found.common, 0);
    EXPECT_EQ(index_.size(), 0u);
}

TEST_F(PrefixCheckpointIndexTest, FindsTheSamePath) {
    const auto ref = publish({1, 2, 3}, "a");
    const auto found = match({1, 2, 3});
    EXPECT_EQ(name_of_entry(found.entry), "a");
    EXPECT_EQ(found.ref, ref);
    EXPECT_EQ(found.depth, 3);
    EXPECT_EQ(found.common, 3);
    EXPECT_EQ(found.deepest_unusable, 0);
    EXPECT_TRUE(found.namespace_known);
}

TEST_F(PrefixCheckpointIndexTest, FindsAPathThatThePromptExtends) {
    publish({1, 2, 3}, "a");
    const auto found = match({1, 2, 3, 4, 5});
    EXPECT_EQ(found.depth, 3);
    EXPECT_EQ(found.common, 3);
}

TEST_F(PrefixCheckpointIndexTest, DoesNotFindAPathThatIsLongerThanThePrompt) {
    publish({1, 2, 3}, "a");
    const auto found = match({1, 2});
    EXPECT_FALSE(found.entry.has_value());
    EXPECT_EQ(found.common, 2);
    EXPECT_TRUE(found.namespace_known);
}

TEST_F(PrefixCheckpointIndexTest, CountsCommonTokensIntoTheMiddleOfAnEdge) {
    publish({1, 2}, "short");
    publish({1, 2, 3, 4, 5, 6}, "long");
    const auto found = match({1, 2, 3, 4, 9, 9});
    EXPECT_EQ(name_of_entry(found.entry), "short");
    EXPECT_EQ(found.depth, 2);
    EXPECT_EQ(found.common, 4);
}

TEST_F(PrefixCheckpointIndexTest, DividesAnEdgeWherePathsPart) {
    publish({1, 2, 3, 4}, "a");
    publish({1, 2, 8, 9}, "b");
    EXPECT_EQ(name_of_entry(match({1, 2, 3, 4}).entry), "a");
    EXPECT_EQ(name_of_entry(match({1, 2, 8, 9}).entry), "b");
    const auto fork = match({1, 2, 7});
    EXPECT_FALSE(fork.entry.has_value());
    EXPECT_EQ(fork.common, 2);
}

TEST_F(PrefixCheckpointIndexTest, DividesAnEdgeForACheckpointInItsMiddle) {
    const auto outer = publish({1, 2, 3, 4}, "outer");
    const auto inner = publish({1, 2}, "inner");
    EXPECT_EQ(name_of_entry(match({1, 2, 3}).entry), "inner");
    EXPECT_EQ(name_of_entry(match({1, 2, 3, 4}).entry), "outer");
    EXPECT_EQ(index_.path(outer), (Tokens{1, 2, 3, 4}));
    EXPECT_EQ(index_.path(inner), (Tokens{1, 2}));
}

TEST_F(PrefixCheckpointIndexTest, DividesLongEdgesAtEveryPosition) {
    const Tokens whole = counting(400);
    std::vector<CheckpointRef> refs{publish(whole, "whole")};
    for (TokenPos cut = 1; cut < 400; cut += 7) {
        const Tokens front(whole.begin(), whole.begin() + cut);
        refs.push_back(publish(front + Tokens{-1}, "fork"));
        EXPECT_EQ(index_.path(refs.back()), front + Tokens{-1});
        EXPECT_EQ(match(front + Tokens{-2}).common, cut);
        EXPECT_EQ(match(whole).depth, 400);
    }
    EXPECT_EQ(index_.path(refs.front()), whole);
    for (std::size_t i = 1; i < refs.size(); ++i) {
        EXPECT_TRUE(index_.erase(refs[i]).has_value());
        index_.check_invariants();
    }
    EXPECT_EQ(index_.path(refs.front()), whole);
}

TEST_F(PrefixCheckpointIndexTest, FindsTheDeepestOfSeveral) {
    publish({1}, "one");
    publish({1, 2}, "two");
    publish({1, 2, 3}, "three");
    EXPECT_EQ(name_of_entry(match({1, 2, 3, 4}).entry), "three");
    EXPECT_EQ(name_of_entry(match({1, 2, 4}).entry), "two");
    EXPECT_EQ(name_of_entry(match({1, 3}).entry), "one");
}

TEST_F(PrefixCheckpointIndexTest, KeepsToTheLimitAndStillReportsWhatIsCommon) {
    publish({1, 2}, "two");
    publish({1, 2, 3, 4}, "four");
    const auto found = match({1, 2, 3, 4}, 3);
    EXPECT_EQ(name_of_entry(found.entry), "two");
    EXPECT_EQ(found.common, 4);
    EXPECT_EQ(name_of_entry(match({1, 2, 3, 4}, 4).entry), "four");
    EXPECT_EQ(name_of_entry(match({1, 2, 3, 4}, 1).entry), "none");
    EXPECT_EQ(name_of_entry(match({1, 2, 3, 4}, 0).entry), "none");
}

TEST_F(PrefixCheckpointIndexTest, PassesOverWhatIsNotRestorableNowAndKeepsIt) {
    publish({1, 2}, "two");
    const auto four = make_checkpoint("four");
    publish({1, 2, 3, 4}, four);
    four->restorable = false;
    const auto found = match({1, 2, 3, 4, 5});
    EXPECT_EQ(name_of_entry(found.entry), "two");
    EXPECT_EQ(found.deepest_unusable, 4);
    four->restorable = true;
    EXPECT_EQ(name_of_entry(match({1, 2, 3, 4, 5}).entry), "four");
    EXPECT_EQ(index_.size(), 2u);
}

TEST_F(PrefixCheckpointIndexTest, ReportsNoUnusableOneAboveTheFoundOne) {
    const auto two = make_checkpoint("two");
    two->restorable = false;
    publish({1, 2}, two);
    publish({1, 2, 3, 4}, "four");
    EXPECT_EQ(match({1, 2, 3, 4}).deepest_unusable, 0);
    EXPECT_EQ(match({1, 2, 3, 4}, 3).deepest_unusable, 2);
}

TEST_F(PrefixCheckpointIndexTest, ReportsNoUnusableOneBeyondTheLimit) {
    const auto four = make_checkpoint("four");
    four->restorable = false;
    publish({1, 2, 3, 4}, four);
    EXPECT_EQ(match({1, 2, 3, 4}, 3).deepest_unusable, 0);
    EXPECT_EQ(match({1, 2, 3, 4}, 4).deepest_unusable, 4);
}

TEST_F(PrefixCheckpointIndexTest, PrunesAllStaleOnesOnTheWay) {
    std::vector<CheckpointPtr> entries;
    for (TokenPos depth = 1; depth <= 5; ++depth) {
        entries.push_back(make_checkpoint(std::to_string(depth)));
        publish(counting(depth), entries.back());
    }
    publish({0, 1, 9}, "side");
    entries[1]->stale = entries[2]->stale = entries[4]->stale = true;
    const auto found = match(counting(6), 4);
    index_.check_invariants();
    EXPECT_EQ(name_of_entry(found.entry), "4");
    EXPECT_EQ(found.common, 5);
    EXPECT_EQ(index_.size(), 3u);
    EXPECT_EQ(entries[1].use_count(), 1);
    EXPECT_EQ(entries[2].use_count(), 1);
    EXPECT_EQ(entries[4].use_count(), 1);
    EXPECT_EQ(match(counting(6)).common, 4);
    EXPECT_EQ(name_of_entry(match({0, 1, 9}).entry), "side");
}

TEST_F(PrefixCheckpointIndexTest, ReportsAStaleOneAsUnusableOnce) {
    const auto entry = make_checkpoint("a");
    publish({1, 2, 3}, entry);
    entry->stale = true;
    const auto first = match({1, 2, 3, 4});
    EXPECT_FALSE(first.entry.has_value());
    EXPECT_EQ(first.deepest_unusable, 3);
    EXPECT_EQ(first.common, 3);
    EXPECT_TRUE(first.namespace_known);
    const auto second = match({1, 2, 3, 4});
    EXPECT_EQ(second.deepest_unusable, 0);
    EXPECT_EQ(second.common, 0);
    EXPECT_FALSE(second.namespace_known);
}

TEST_F(PrefixCheckpointIndexTest, LeavesStaleOnesBesideTheWay) {
    const auto side = make_checkpoint("side");
    publish({1, 2, 3}, side);
    publish({1, 2, 4}, "way");
    side->stale = true;
    EXPECT_EQ(name_of_entry(match({1, 2, 4}).entry), "way");
    EXPECT_EQ(index_.size(), 2u);
}

TEST_F(PrefixCheckpointIndexTest, NeverCrossesANamespace) {
    publish_in(tenant("a"), {1, 2, 3}, make_checkpoint("a"));
    NamespaceKey other_model = tenant("a");
    other_model.model.bytes[15] = 1;
    for (const NamespaceKey &other : {tenant("b"), tenant(""), other_model}) {
        const auto found = index_.match(other, Tokens{1, 2, 3}, 3);
        EXPECT_FALSE(found.entry.has_value());
        EXPECT_FALSE(found.namespace_known);
        EXPECT_EQ(found.common, 0);
        EXPECT_FALSE(index_.cover(other, Tokens{1, 2, 3}, any).entry.has_value());
    }
    publish_in(other_model, {1, 2, 3}, make_checkpoint("other"));
    EXPECT_EQ(name_of_entry(index_.match(tenant("a"), Tokens{1, 2, 3}, 3).entry), "a");
    EXPECT_EQ(name_of_entry(index_.match(other_model, Tokens{1, 2, 3}, 3).entry), "other");
}

TEST_F(PrefixCheckpointIndexTest, ReplacesAnEntryAtTheSamePositionAndReturnsTheOldOne) {
    const auto old_ref = publish({1, 2}, "old");
    auto reservation = index_.reserve(home_, Tokens{1, 2});
    ASSERT_TRUE(reservation.has_value());
    const auto published = index_.publish(std::move(*reservation), make_checkpoint("new"));
    EXPECT_EQ(name_of_entry(published.replaced), "old");
    EXPECT_EQ(index_.size(), 1u);
    EXPECT_EQ(name_of_entry(match({1, 2}).entry), "new");
    EXPECT_FALSE(index_.erase(old_ref).has_value());
    EXPECT_EQ(index_.find(old_ref), nullptr);
    EXPECT_EQ(name_of_entry(match({1, 2}).entry), "new");
}

TEST_F(PrefixCheckpointIndexTest, ErasesByRefOnce) {
    const auto ref = publish({1, 2, 3}, "a");
    EXPECT_EQ((*index_.find(ref))->name, "a");
    EXPECT_EQ(index_.depth(ref), 3);
    EXPECT_EQ(name_of_entry(index_.erase(ref)), "a");
    EXPECT_FALSE(index_.erase(ref).has_value());
    EXPECT_EQ(index_.size(), 0u);
    EXPECT_EQ(index_.depth(ref), 0);
    EXPECT_EQ(index_.path(ref), Tokens{});
    EXPECT_FALSE(match({1, 2, 3}).namespace_known);
}

TEST_F(PrefixCheckpointIndexTest, AnOldRefDoesNotNameWhatTookItsPlace) {
    const auto old_ref = publish({1, 2, 3}, "old");
    index_.erase(old_ref);
    const auto new_ref = publish({1, 2, 3}, "new");
    EXPECT_NE(old_ref, new_ref);
    EXPECT_FALSE(index_.erase(old_ref).has_value());
    EXPECT_EQ(index_.depth(new_ref), 3);
}

TEST_F(PrefixCheckpointIndexTest, ADefaultRefNamesNothing) {
    publish({1}, "a");
    EXPECT_FALSE(index_.erase(CheckpointRef{}).has_value());
    EXPECT_EQ(index_.find(CheckpointRef{}), nullptr);
}

TEST_F(PrefixCheckpointIndexTest, ErasingInAnyOrderLeavesTheOthers) {
    const std::vector<Tokens> paths = {{1}, {1, 2}, {1, 2, 3, 4}, {1, 2, 3, 5}, {1, 2, 3, 5, 6}, {7}};
    for (std::size_t first = 0; first < paths.size(); ++first) {
        std::vector<CheckpointRef> refs;
        for (const Tokens &path : paths)
            refs.push_back(publish(path, "x"));
        for (std::size_t i = 0; i < paths.size(); ++i) {
            index_.erase(refs[(first + i) % paths.size()]);
            index_.check_invariants();
            for (std::size_t k = i + 1; k < paths.size(); ++k) {
                const std::size_t left = (first + k) % paths.size();
                EXPECT_EQ(index_.path(refs[left]), paths[left]);
            }
        }
    }
    EXPECT_EQ(index_.size(), 0u);
}

TEST_F(PrefixCheckpointIndexTest, FindsEachOfTwentyThousandChildrenOfOneNode) {
    const TokenPos count = 20'000;
    std::vector<CheckpointRef> refs;
    const auto entry = make_checkpoint("x");
    for (Token token = 0; token < count; ++token) {
        auto reservation = index_.reserve(home_, Tokens{5, token * 7});
        ASSERT_TRUE(reservation.has_value());
        refs.push_back(index_.publish(std::move(*reservation), entry).ref);
    }
    index_.check_invariants();
    for (Token token = 0; token < count; token += 97) {
        EXPECT_EQ(match({5, token * 7}).ref, refs[static_cast<std::size_t>(token)]);
        EXPECT_EQ(match({5, token * 7 + 1}).common, 1);
    }
}

TEST_F(PrefixCheckpointIndexTest, VisitsEveryEntryOnce) {
    publish({1, 2}, "a");
    publish({1, 2, 3}, "b");
    publish_in(tenant("other"), {4}, make_checkpoint("c"));
    std::vector<std::pair<TokenPos, std::string>> seen;
    const auto note = [&](TokenPos depth, const CheckpointPtr &entry) { seen.emplace_back(depth, entry->name); };
    index_.for_each(home_, note);
    EXPECT_EQ(seen, (std::vector<std::pair<TokenPos, std::string>>{{2, "a"}, {3, "b"}}));
    seen.clear();
    index_.for_each(tenant("unknown"), note);
    EXPECT_TRUE(seen.empty());
    index_.for_each(note);
    EXPECT_EQ(seen.size(), 3u);
}

TEST_F(PrefixCheckpointIndexTest, ClearRemovesEverythingAndGivesTheMemoryBack) {
    const auto entry = make_checkpoint("a");
    const auto ref = publish(counting(1000), entry);
    publish(counting(500) + Tokens{-1}, entry);
    publish_in(tenant("other"), {1}, entry);
    index_.clear();
    index_.check_invariants();
    EXPECT_EQ(index_.size(), 0u);
    EXPECT_EQ(index_.memory_bytes(), 0u);
    EXPECT_EQ(entry.use_count(), 1);
    EXPECT_EQ(index_.find(ref), nullptr);
    publish({1, 2}, "again");
    EXPECT_EQ(match({1, 2}).depth, 2);
    EXPECT_EQ(index_.find(ref), nullptr);
}

TEST_F(PrefixCheckpointIndexTest, ErasedPathsLeaveNoMemoryInUse) {
    publish({1}, "stays");
    const auto cycle = [&](Token salt) {
        std::vector<CheckpointRef> refs;
        for (Token i = 0; i < 50; ++i)
            refs.push_back(publish(counting(10 * i + 1, salt) + Tokens{-1, i}, "x"));
        for (const CheckpointRef ref : refs)
            index_.erase(ref);
    };
    cycle(10'000);
    const std::size_t before = index_.memory_bytes();
    for (Token round = 2; round < 6; ++round)
        cycle(round * 10'000);
    EXPECT_EQ(index_.memory_bytes(), before);
}

}  // namespace
}  // namespace cairn::index_test
