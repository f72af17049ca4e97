// Reservation before publication: fails whole, publishes without memory, whatever happened in between.
#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "index/prefix_checkpoint_index.h"
#include "tests/index/allocation_counter.h"
#include "tests/index/index_fixture.h"

namespace cairn::index_test {
namespace {

const NamespaceKey kHome = tenant("home");

Index::Reservation reserve(Index &index, const Tokens &tokens) {
    auto reservation = index.reserve(kHome, tokens);
    EXPECT_TRUE(reservation.has_value());
    return std::move(*reservation);
}

CheckpointRef publish(Index &index, const Tokens &tokens, const std::string &name = "x") {
    return index.publish(reserve(index, tokens), make_checkpoint(name)).ref;
}

TEST(Reservation, RefusesAnEmptyPath) {
    Index index;
    const auto reservation = index.reserve(kHome, Tokens{});
    ASSERT_FALSE(reservation.has_value());
    EXPECT_EQ(reservation.error().code, ErrorCode::invalid_argument);
    EXPECT_EQ(index.memory_bytes(), 0u);
}

TEST(Reservation, MakesNothingMatchable) {
    Index index;
    const auto reservation = reserve(index, {1, 2, 3});
    EXPECT_EQ(reservation.depth(), 3);
    index.check_invariants();
    const auto found = index.match(kHome, Tokens{1, 2, 3}, 3);
    EXPECT_FALSE(found.entry.has_value());
    EXPECT_FALSE(found.namespace_known);
    EXPECT_EQ(found.common, 0);
    EXPECT_EQ(index.size(), 0u);
}

TEST(Reservation, GivesItsMemoryBackWhenDropped) {
    Index index;
    publish(index, counting(300));
    const auto used = [&] {
        index.check_invariants();
        return index.memory_bytes();
    };
    static_cast<void>(reserve(index, counting(50'000)));
    const std::size_t after_one = used();
    for (int i = 0; i < 100; ++i)
        static_cast<void>(reserve(index, counting(50'000)));
    EXPECT_EQ(used(), after_one);
}

TEST(Reservation, MovesAndIsGoodForOnePublication) {
    Index index;
    auto first = reserve(index, {1, 2});
    auto second = reserve(index, {3, 4, 5});
    second = std::move(first);  // what second held goes back
    index.check_invariants();
    EXPECT_EQ(second.depth(), 2);
    index.publish(std::move(second), make_checkpoint("x"));
    EXPECT_EQ(index.match(kHome, Tokens{1, 2}, 2).depth, 2);
    EXPECT_EQ(index.match(kHome, Tokens{3, 4, 5}, 3).common, 0);
    EXPECT_DEATH(index.publish(std::move(second), make_checkpoint("y")), "used already");
}

TEST(Reservation, FailsWholeWhenTheLimitIsReached) {
    const std::size_t limit = 400'000;
    Index index(limit);
    std::vector<CheckpointRef> refs;
    Token next = 0;
    for (;;) {
        auto reservation = index.reserve(kHome, counting(1000, next));
        if (!reservation) {
            EXPECT_EQ(reservation.error().code, ErrorCode::no_memory);
            break;
        }
        refs.push_back(index.publish(std::move(*reservation), make_checkpoint("x")).ref);
        next += 1000;
        ASSERT_LE(index.memory_bytes(), limit);
    }
    ASSERT_GT(refs.size(), 10u);
    const std::size_t memory = index.memory_bytes();
    for (int i = 0; i < 3; ++i)
        EXPECT_FALSE(index.reserve(tenant("new"), counting(1000, next)).has_value());
    index.check_invariants();
    EXPECT_EQ(index.size(), refs.size());
    EXPECT_EQ(index.memory_bytes(), memory);
    for (std::size_t i = 0; i < refs.size(); ++i) {
        EXPECT_EQ(index.path(refs[i]), counting(1000, static_cast<Token>(i) * 1000));
    }
    // What an erase frees can be had again.
    index.erase(refs[0]);
    EXPECT_TRUE(index.reserve(kHome, counting(1000, next)).has_value());
}

TEST(Reservation, FailsAtEveryLimitWithoutATrace) {
    // Whatever part of the memory is the one that is refused, the index stays empty and within its limit.
    bool fitted = false;
    for (std::size_t limit = 0; !fitted; limit += 512) {
        Index index(limit);
        auto reservation = index.reserve(kHome, counting(200));
        fitted = reservation.has_value();
        EXPECT_LE(index.memory_bytes(), limit);
        EXPECT_EQ(index.size(), 0u);
        EXPECT_FALSE(index.match(kHome, counting(200), 200).namespace_known);
        index.check_invariants();
        if (!fitted) {
            EXPECT_EQ(reservation.error().code, ErrorCode::no_memory);
        }
        ASSERT_LT(limit, 1'000'000u);
    }
}

TEST(Reservation, CountsALongTenantName) {
    Index index(200'000);
    EXPECT_TRUE(index.reserve(kHome, Tokens{1}).has_value());
    const auto reservation = index.reserve(tenant(std::string(200'000, 't')), Tokens{1});
    ASSERT_FALSE(reservation.has_value());
    EXPECT_EQ(reservation.error().code, ErrorCode::no_memory);
}

TEST(Reservation, PublishesAfterTheWholeTreeIsGone) {
    Index index;
    const auto ref = publish(index, counting(500));
    auto reservation = reserve(index, counting(500) + Tokens{-1, -2});
    index.erase(ref);
    index.check_invariants();
    const auto published = index.publish(std::move(reservation), make_checkpoint("late"));
    index.check_invariants();
    EXPECT_EQ(index.path(published.ref), counting(500) + Tokens(Tokens{-1, -2}));
}

TEST(Reservation, PublishesAfterClear) {
    Index index;
    publish(index, counting(500));
    auto reservation = reserve(index, counting(600));
    index.clear();
    index.check_invariants();
    EXPECT_EQ(index.size(), 0u);
    const auto published = index.publish(std::move(reservation), make_checkpoint("late"));
    index.check_invariants();
    EXPECT_EQ(index.path(published.ref), counting(600));
    EXPECT_EQ(index.size(), 1u);
}

TEST(Reservation, PublishesOnEdgesThatWereDividedSince) {
    Index index;
    publish(index, counting(500));
    auto first = reserve(index, counting(300) + Tokens{-1});
    auto second = reserve(index, counting(300) + Tokens{-2});
    auto third = reserve(index, counting(300));
    auto fourth = reserve(index, counting(300));
    publish(index, counting(299) + Tokens{-3});
    const auto a = index.publish(std::move(first), make_checkpoint("a"));
    index.check_invariants();
    const auto b = index.publish(std::move(second), make_checkpoint("b"));
    index.check_invariants();
    const auto c = index.publish(std::move(third), make_checkpoint("c"));
    index.check_invariants();
    const auto d = index.publish(std::move(fourth), make_checkpoint("d"));
    index.check_invariants();
    EXPECT_EQ(index.path(a.ref), counting(300) + Tokens{-1});
    EXPECT_EQ(index.path(b.ref), counting(300) + Tokens{-2});
    ASSERT_TRUE(d.replaced.has_value());
    EXPECT_EQ((*d.replaced)->name, "c");
    EXPECT_EQ(index.find(c.ref), nullptr);
    EXPECT_EQ(index.path(d.ref), counting(300));
    EXPECT_EQ(index.size(), 5u);
}

TEST(Reservation, PublishingAndErasingAllocateNothing) {
    Index index;
    std::vector<Index::Reservation> reservations;
    std::vector<CheckpointPtr> entries;
    std::vector<CheckpointRef> refs;
    for (Token i = 0; i < 2000; ++i) {
        // Paths that leave a long one at many places, in a scrambled order: most of them divide an edge.
        reservations.push_back(reserve(index, counting(1 + (i * 613) % 1999) + Tokens{-i}));
        entries.push_back(make_checkpoint("x"));
    }
    refs.reserve(2000);
    const std::size_t memory = index.memory_bytes();
    const std::uint64_t before = allocations_so_far();
    for (std::size_t i = 0; i < 2000; ++i) {
        refs.push_back(index.publish(std::move(reservations[i]), std::move(entries[i])).ref);
    }
    EXPECT_EQ(allocations_so_far(), before);
    EXPECT_EQ(index.memory_bytes(), memory);
    index.check_invariants();
    for (std::size_t i = 0; i < 2000; i += 2)
        index.erase(refs[i]);
    const auto found = index.match(kHome, Tokens{0, 1, 2}, 3);
    EXPECT_EQ(found.common, 3);
    EXPECT_EQ(allocations_so_far(), before + 1) << "the one is the vector of the tokens to match";
    index.check_invariants();
    EXPECT_EQ(index.size(), 1000u);
}

TEST(Reservation, TheCounterCounts) {
    const std::uint64_t before = allocations_so_far();
    const auto entry = make_checkpoint("x");
    EXPECT_GT(allocations_so_far(), before);
}

TEST(Reservation, GrowthTakesFewAllocations) {
    Index index;
    const auto entry = make_checkpoint("x");
    const Tokens tokens = counting(10);
    const std::uint64_t before = allocations_so_far();
    Tokens path = tokens;
    for (Token i = 0; i < 20'000; ++i) {
        path[0] = i;
        index.publish(reserve(index, path), entry);
    }
    EXPECT_LT(allocations_so_far() - before, 150u);
}

}  // namespace
}  // namespace cairn::index_test
