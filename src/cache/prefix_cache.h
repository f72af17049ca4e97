// PrefixCache: index + store + policy. Finds the longest cached prefix, restores it, keeps what is worth keeping.
//
//     Lookup lookup = cache.find(tenant, prompt, prompt.size() - 1);
//     auto adopted = cache.adopt(std::move(lookup), seq);     // the state is in `seq` now; hits are counted here
//     ... compute up to a checkpoint ...
//     cache.publish(tenant, tokens_so_far, seq, CheckpointKind::prompt_end);
//
// A lookup holds a lease: what it found stays until it is adopted or dropped, and stays cached afterwards (a hit never
// takes the entry away). Publication is last: nothing matchable is incomplete.
// Ownership: borrows the backend, which must outlive it. All snapshots go with it.
// Threads: the engine's thread only.
// Errors: none that concern a request, save ErrorCode::device. Whatever else fails is counted, and costs time.
// Cost: find is one walk over the tokens; adopt from the device copies nothing, from RAM copies the bytes once.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>

#include "cairn/error.h"
#include "cairn/request.h"
#include "cairn/types.h"
#include "env/env.h"
#include "metrics/metrics.h"
#include "model/backend.h"
#include "policy/snapshot_policy.h"

namespace cairn {

class SnapshotLease;  // store/lease.h

/// What a lookup found; move-only, holds the lease.
struct Lookup {
    Lookup();
    ~Lookup();
    Lookup(Lookup &&) noexcept;
    Lookup &operator=(Lookup &&) noexcept;

    TokenPos depth = 0;                    ///< tokens that can be had without computing them; 0: nothing found
    std::optional<Tier> tier;              ///< the fastest tier that holds all of it
    MissReason reason = MissReason::none;  ///< why depth is less than the limit that was asked for
    TokenPos first_difference = 0;         ///< longest prefix that any known path shares with the prompt
    std::unique_ptr<SnapshotLease> lease;
};

struct CacheStats {
    std::size_t snapshots = 0;  ///< that a lookup may find
    std::size_t device_snapshots = 0;
    std::size_t device_bytes = 0;  ///< of parked state beyond what live sequences hold
    std::size_t ram_bytes = 0;     ///< of payloads in RAM
    std::size_t leases = 0;
};

class PrefixCache {
public:
    PrefixCache(Backend &backend, SnapshotPolicy policy, Env &env, Metrics &metrics);
    ~PrefixCache();
    PrefixCache(const PrefixCache &) = delete;
    PrefixCache &operator=(const PrefixCache &) = delete;

    /// The deepest restorable prefix of `prompt` of at most `limit` tokens.
    [[nodiscard]] Lookup find(const std::string &tenant, TokenView prompt, TokenPos limit);
    /// Puts what `lookup` found into the empty sequence `seq` and returns where it came from. On an error `seq` is
    /// empty, the damaged snapshot is dropped and counted, and the caller computes cold (ErrorCode::device:
    /// propagates).
    [[nodiscard]] Result<Tier> adopt(Lookup lookup, SeqId seq);
    /// Keeps the state that `seq` holds now, which must be that of exactly `tokens`. False where it was refused
    /// (counted). A position that is cached already is refreshed, not stored again.
    bool publish(const std::string &tenant, TokenView tokens, SeqId seq, CheckpointKind kind);
    /// Frees at least `cells` cells of the pool by demoting or dropping parked snapshots, least valuable first.
    /// Returns the cells really freed; leased snapshots stay.
    TokenPos free_cells(TokenPos cells);
    /// One bounded slice of work for an idle engine: copies a snapshot that is on the device only to RAM.
    /// False when there is nothing left to do.
    bool idle_work();
    void clear();
    [[nodiscard]] CacheStats stats() const;
    /// Aborts with context where an invariant of design is broken: budgets, sums, leases, completeness. For tests and
    /// debug.
    void check_invariants() const;

private:
    class Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace cairn
