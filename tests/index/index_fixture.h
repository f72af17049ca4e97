// What the tests of the index share: an entry whose state a test turns by hand, and short ways to write paths.
#pragma once

#include <initializer_list>
#include <memory>
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

}  // namespace cairn::index_test
