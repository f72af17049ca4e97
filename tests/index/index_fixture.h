// What the tests of the index share: an entry whose state a test turns by hand, and short ways to write paths.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "cairn/types.h"
#include "index/prefix_checkpoint_index.h"
#include "state/namespace_key.h"

namespace cairn::index_test {

struct Checkpoint {
    std::string name;
    bool restorable = true;
    bool stale = false;
};
using CheckpointPtr = std::shared_ptr<Checkpoint>;

struct CheckpointPtrTraits {
    static bool restorable(const CheckpointPtr &entry) { return entry->restorable; }
    static bool stale(const CheckpointPtr &entry) { return entry->stale; }
};

using Index = PrefixCheckpointIndex<CheckpointPtr, CheckpointPtrTraits>;

inline CheckpointPtr make_checkpoint(std::string name) {
    return std::make_shared<Checkpoint>(Checkpoint{std::move(name)});
}

inline NamespaceKey tenant(std::string name) {
    return {Fingerprint{}, std::move(name)};
}

/// `count` tokens that differ from each other, from `first` on.
inline Tokens counting(TokenPos count, Token first = 0) {
    Tokens tokens;
    for (TokenPos i = 0; i < count; ++i)
        tokens.push_back(first + i);
    return tokens;
}

inline Tokens operator+(Tokens a, const Tokens &b) {
    a.insert(a.end(), b.begin(), b.end());
    return a;
}

/// An index that is checked after each publication and at the end.
class PrefixCheckpointIndexTest : public ::testing::Test {
protected:
    ~PrefixCheckpointIndexTest() override { index_.check_invariants(); }

    CheckpointRef publish(const Tokens &tokens, const CheckpointPtr &entry) { return publish_in(home_, tokens, entry); }
    CheckpointRef publish(const Tokens &tokens, const std::string &name) {
        return publish(tokens, make_checkpoint(name));
    }
    CheckpointRef publish_in(const NamespaceKey &ns, const Tokens &tokens, const CheckpointPtr &entry) {
        auto reservation = index_.reserve(ns, tokens);
        EXPECT_TRUE(reservation.has_value());
        const auto published = index_.publish(std::move(*reservation), entry);
        EXPECT_FALSE(published.replaced.has_value());
        index_.check_invariants();
        return published.ref;
    }
    Index::Match match(const Tokens &tokens, TokenPos limit = 1'000'000) { return index_.match(home_, tokens, limit); }
    static std::string name_of_entry(const std::optional<CheckpointPtr> &entry) {
        return entry ? (*entry)->name : "none";
    }
    static bool any(const CheckpointPtr &) { return true; }

    const NamespaceKey home_ = tenant("home");
    Index index_;
};

}  // namespace cairn::index_test
