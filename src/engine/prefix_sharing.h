// Prefixes in flight: whom a request should wait for, or take its beginning from, instead of computing the same tokens
// beside it. Pure: facts in, a choice out.
//
//     leader    |==== reached ====|------- computes -------|-----...
//     newcomer  |-------- common ------------|own tail|
//                                            ^ at: the newcomer waits until the leader stands here, and forks from it
//
// Waiting costs the newcomer nothing: the leader is nearer to `at` than the newcomer would be alone, and it is as
// urgent as whoever waits for it (EngineLoop). A state that cannot be rewound exists only where the leader stands, so a
// leader that has passed `at` is of use to those that can be cut alone; for others the cache has what was kept on the
// way.
//
// Thread rule: a free function without state. Cost: linear in the leaders.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "cairn/types.h"

namespace cairn {

/// One running request of the same namespace that came before.
struct LeaderFacts {
    TokenPos common = 0;      ///< tokens it shares with the newcomer
    TokenPos reached = 0;     ///< tokens whose state it holds, or will hold once what it waits for has come
    TokenPos will_reach = 0;  ///< tokens it computes at least: its prompt
    bool waits = false;       ///< it holds nothing yet
};

struct NewcomerFacts {
    TokenPos have = 0;          ///< tokens the cache can give it
    bool have_is_free = false;  ///< without copying bytes
    TokenPos limit = 0;         ///< tokens it may take over: all but its last, whose logits it needs
    bool can_rewind = false;    ///< states of this model can be cut anywhere
};

struct SharedPrefix {
    std::size_t leader = 0;  ///< index into the facts
    TokenPos at = 0;
    bool now = false;  ///< the leader stands there already, or behind it and can be cut

    friend bool operator==(const SharedPrefix &, const SharedPrefix &) = default;
};

/// Fewer tokens than this are not worth a cut in the leader's prefill: a step of its own costs about as much.
inline constexpr TokenPos kLeastShared = 16;

/// The one that gives most; of equals one that gives it now, then the oldest. None: compute alone.
[[nodiscard]] std::optional<SharedPrefix> choose_leader(std::span<const LeaderFacts> leaders,
                                                        const NewcomerFacts &newcomer);

}  // namespace cairn
