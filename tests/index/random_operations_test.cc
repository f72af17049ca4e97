// Random operations on the index and on a list of (namespace, tokens, entry), which must always agree.
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <random>
#include <utility>
#include <vector>

#include "index/prefix_checkpoint_index.h"
#include "tests/index/index_fixture.h"

namespace cairn::index_test {
namespace {

struct Known {
    NamespaceKey ns;
    Tokens tokens;
    CheckpointPtr entry;
    CheckpointRef ref;
};

struct Pending {
    NamespaceKey ns;
    Tokens tokens;
    Index::Reservation reservation;
};

TokenPos shared(const Tokens &a, const Tokens &b) {
    const auto count = std::min(a.size(), b.size());
    return static_cast<TokenPos>(
        std::mismatch(a.begin(), a.begin() + static_cast<std::ptrdiff_t>(count), b.begin()).first - a.begin());
}

TokenPos depth_of(const Known &known) {
    return static_cast<TokenPos>(known.tokens.size());
}

/// How long paths are and how often a token differs: short ones from two letters, or long ones that seldom part.
struct Shape {
    int longest;
    int unlike_percent;
};

class RandomOperations : public ::testing::TestWithParam<std::tuple<unsigned, Shape>> {
protected:
    int pick(int below) { return std::uniform_int_distribution<int>(0, below - 1)(random_); }

    Tokens random_tokens() {
        const Shape shape = std::get<1>(GetParam());
        // Often a continuation of a known path: what conversations do.
        Tokens tokens;
        if (!known_.empty() && pick(3) == 0) tokens = any_known().tokens;
        if (!tokens.empty() && pick(2) == 0)
            tokens.resize(static_cast<std::size_t>(pick(static_cast<int>(tokens.size()))));
        const int more = 1 + pick(shape.longest);
        for (int i = 0; i < more; ++i)
            tokens.push_back(pick(100) < shape.unlike_percent ? 1 + pick(2) : 0);
        return tokens;
    }
    NamespaceKey random_namespace() { return tenant(std::string(static_cast<std::size_t>(pick(3)), 't')); }
    Known &any_known() { return known_[static_cast<std::size_t>(pick(static_cast<int>(known_.size())))]; }

    void reserve() {
        NamespaceKey ns = random_namespace();
        Tokens tokens = random_tokens();
        auto reservation = index_.reserve(ns, tokens);
        ASSERT_TRUE(reservation.has_value());
        pending_.push_back({std::move(ns), std::move(tokens), std::move(*reservation)});
    }

    Pending take_pending() {
        std::swap(pending_[static_cast<std::size_t>(pick(static_cast<int>(pending_.size())))], pending_.back());
        Pending taken = std::move(pending_.back());
        pending_.pop_back();
        return taken;
    }

    void publish() {
        if (pending_.empty()) return;
        Pending taken = take_pending();
        const auto entry = make_checkpoint("x");
        note_published(taken.ns, taken.tokens, entry, index_.publish(std::move(taken.reservation), entry));
    }

    void publish_below() {
        if (known_.empty()) return;
        const Known above = any_known();
        Tokens tokens = above.tokens;
        const int more = 1 + pick(std::get<1>(GetParam()).longest);
        for (int i = 0; i < more; ++i)
            tokens.push_back(pick(100) < std::get<1>(GetParam()).unlike_percent ? 1 + pick(2) : 0);
        const auto entry = make_checkpoint("y");
        const auto published = index_.publish_below(above.ref, TokenView(tokens).subspan(above.tokens.size()), entry);
        ASSERT_TRUE(published.has_value());
        note_published(above.ns, tokens, entry, *published);
        EXPECT_FALSE(index_.publish_below({}, tokens, entry).has_value());
    }

    void note_published(const NamespaceKey &ns, const Tokens &tokens, const CheckpointPtr &entry,
                        const Index::Published &published) {
        const auto same = std::find_if(known_.begin(), known_.end(),
                                       [&](const Known &known) { return known.ns == ns && known.tokens == tokens; });
        ASSERT_EQ(published.replaced.has_value(), same != known_.end());
        if (same != known_.end()) {
            EXPECT_EQ(*published.replaced, same->entry);
            EXPECT_EQ(index_.find(same->ref), nullptr);
            known_.erase(same);
        }
        known_.push_back({ns, tokens, entry, published.ref});
    }

    void drop() {
        if (!pending_.empty()) static_cast<void>(take_pending());
    }

    void erase() {
        if (known_.empty()) return;
        std::swap(any_known(), known_.back());
        const Known gone = std::move(known_.back());
        known_.pop_back();
        EXPECT_EQ(index_.erase(gone.ref), std::optional(gone.entry));
        EXPECT_EQ(index_.erase(gone.ref), std::nullopt);
    }

    void turn() {
        if (known_.empty()) return;
        Checkpoint &checkpoint = *any_known().entry;
        (pick(3) == 0 ? checkpoint.stale : checkpoint.restorable) ^= true;
    }

    void match() {
        const NamespaceKey ns = random_namespace();
        const Tokens tokens = random_tokens();
        const TokenPos limit = pick(2) == 0 ? 1'000'000 : pick(static_cast<int>(tokens.size()) + 1);
        Index::Match expected;
        for (const Known &known : known_) {
            if (known.ns != ns) continue;
            expected.namespace_known = true;
            expected.common = std::max(expected.common, shared(known.tokens, tokens));
            if (!is_prefix(known, tokens) || depth_of(known) > limit) continue;
            if (known.entry->stale || !known.entry->restorable) {
                expected.deepest_unusable = std::max(expected.deepest_unusable, depth_of(known));
            } else if (depth_of(known) > expected.depth) {
                expected.depth = depth_of(known);
                expected.entry = known.entry;
                expected.ref = known.ref;
            }
        }
        if (expected.deepest_unusable < expected.depth) expected.deepest_unusable = 0;
        const auto found = index_.match(ns, tokens, limit);
        EXPECT_EQ(found.entry, expected.entry);
        EXPECT_EQ(found.ref, expected.ref);
        EXPECT_EQ(found.depth, expected.depth);
        EXPECT_EQ(found.common, expected.common);
        EXPECT_EQ(found.deepest_unusable, expected.deepest_unusable);
        EXPECT_EQ(found.namespace_known, expected.namespace_known);
        std::erase_if(known_, [&](const Known &known) {
            return known.ns == ns && known.entry->stale && is_prefix(known, tokens);
        });
    }

    void cover() {
        const NamespaceKey ns = random_namespace();
        const Tokens tokens = random_tokens();
        const auto accepts = [](const CheckpointPtr &entry) { return entry->restorable; };
        TokenPos best = 0;
        TokenPos best_ancestor = 0;
        for (const Known &known : known_) {
            if (known.ns != ns || !accepts(known.entry)) continue;
            best = std::max(best, shared(known.tokens, tokens));
            if (is_prefix(known, tokens)) best_ancestor = std::max(best_ancestor, depth_of(known));
        }
        const auto full = index_.cover(ns, tokens, accepts);
        EXPECT_EQ(full.common, best);
        EXPECT_TRUE(full.exhaustive);
        check_cover(full, ns, tokens);
        const auto bounded = index_.cover(ns, tokens, accepts, static_cast<std::size_t>(pick(4)));
        EXPECT_GE(bounded.common, best_ancestor);
        EXPECT_LE(bounded.common, best);
        EXPECT_TRUE(!bounded.exhaustive || bounded.common == best);
        check_cover(bounded, ns, tokens);
    }

    void check_cover(const Index::Cover &cover, const NamespaceKey &ns, const Tokens &tokens) {
        ASSERT_EQ(cover.entry.has_value(), cover.common > 0);
        if (!cover.entry) return;
        const auto known =
            std::find_if(known_.begin(), known_.end(), [&](const Known &k) { return k.ref == cover.ref; });
        ASSERT_NE(known, known_.end());
        EXPECT_EQ(known->ns, ns);
        EXPECT_EQ(known->entry, *cover.entry);
        EXPECT_EQ(depth_of(*known), cover.entry_depth);
        EXPECT_EQ(shared(known->tokens, tokens), cover.common);
    }

    void clear() {
        index_.clear();
        known_.clear();
    }

    void check_all() {
        index_.check_invariants();
        ASSERT_EQ(index_.size(), known_.size());
        std::size_t visited = 0;
        index_.for_each([&](TokenPos, const CheckpointPtr &) { ++visited; });
        ASSERT_EQ(visited, known_.size());
        for (const Known &known : known_) {
            ASSERT_EQ(index_.depth(known.ref), depth_of(known));
            ASSERT_EQ(index_.path(known.ref), known.tokens);
            ASSERT_EQ(*index_.find(known.ref), known.entry);
        }
    }

    void step() {
        const int what = pick(1000);
        if (what < 280) return reserve();
        if (what < 430) return publish();
        if (what < 500) return publish_below();
        if (what < 560) return drop();
        if (what < 640) return erase();
        if (what < 720) return turn();
        if (what < 880) return match();
        if (what < 998) return cover();
        clear();
    }

    static bool is_prefix(const Known &known, const Tokens &tokens) {
        return shared(known.tokens, tokens) == depth_of(known);
    }

    std::mt19937 random_{std::get<0>(GetParam())};
    Index index_;
    std::vector<Known> known_;
    std::vector<Pending> pending_;
};

TEST_P(RandomOperations, AgreeWithAList) {
    for (int i = 0; i < 1500; ++i) {
        step();
        check_all();
        ASSERT_FALSE(HasFailure()) << "in step " << i;
    }
    pending_.clear();
    check_all();
    while (!known_.empty()) {
        erase();
        check_all();
    }
    clear();
    EXPECT_EQ(index_.memory_bytes(), 0u);
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomOperations,
                         ::testing::Combine(::testing::Values(1u, 2u, 3u, 4u, 5u, 6u),
                                            ::testing::Values(Shape{8, 50}, Shape{40, 10}, Shape{400, 1})));

}  // namespace
}  // namespace cairn::index_test
