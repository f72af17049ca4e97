// PrefixCache: index + store + policy. Finds the longest cached prefix, restores it, keeps what is worth keeping.
//
//     Lookup lookup = cache.find(tenant, prompt, prompt.size() - 1);
//     auto adopted = cache.adopt(std::move(lookup), seq);     // the state is in `seq` now; hits are counted here
//     ... compute up to a checkpoint ...
//     cache.publish(tenant, tokens_so_far, seq, CheckpointKind::prompt_end);
//
// A lookup holds a lease: what it found stays until it is adopted or dropped, and stays cached afterwards (a hit never
// takes the entry away). Publication is last: nothing matchable is incomplete.
// Ownership: borrows the backend, which must outlive it; owns the disk tier. All snapshots in memory go with it; what
// is on disk stays, and is there again when a cache is made on the same directory. Threads: the engine's thread only.
// Errors: none that concern a request, save ErrorCode::device. Whatever else fails is counted, and costs time.
// Cost: find is one walk over the tokens; adopt from the device copies nothing, from RAM copies the bytes once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "cairn/error.h"
#include "cairn/request.h"
#include "cairn/types.h"
#include "env/env.h"
#include "metrics/metrics.h"
#include "model/backend.h"
#include "policy/snapshot_policy.h"
#include "store/disk_tier.h"

namespace cairn {

class SnapshotLease;     // store/lease.h
struct ArchiveHeader;    // store/snapshot_archive.h
struct ImportReport;     // store/cache_admin.h
struct SnapshotListing;  // store/snapshot_listing.h

/// What a lookup found; move-only, holds the lease.
struct Lookup {
    Lookup();
    ~Lookup();
    Lookup(Lookup &&) noexcept;
    Lookup &operator=(Lookup &&) noexcept;

    TokenPos depth = 0;        ///< tokens that can be had without computing them; 0: nothing found
    std::optional<Tier> tier;  ///< the fastest tier that holds all of it
    MissReason reason =
        MissReason::none;           ///< for the caller to count: why depth is less than the limit that was asked for
    TokenPos first_difference = 0;  ///< longest prefix that any known path shares with the prompt
    std::unique_ptr<SnapshotLease> lease;
};

struct CacheStats {
    std::size_t snapshots = 0;  ///< that a lookup may find
    std::size_t device_snapshots = 0;
    std::size_t device_bytes = 0;  ///< of parked state beyond what live sequences hold
    std::size_t ram_bytes = 0;     ///< of payloads in RAM
    std::size_t disk_bytes = 0;    ///< of files on disk, those of other models included
    std::size_t leases = 0;
};

class PrefixCache {
public:
    /// `disk`: an opened cache directory, whose snapshots can be found at once; null for no disk tier.
    PrefixCache(Backend &backend, SnapshotPolicy policy, Env &env, Metrics &metrics,
                std::unique_ptr<DiskTier> disk = nullptr);
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
    /// Keeps the state of a request that has to give its place up: not on the device, and whatever else has to leave
    /// for it. The lookup holds it until it is adopted; nothing is found where there is no room at all.
    [[nodiscard]] Lookup set_aside(const std::string &tenant, TokenView tokens, SeqId seq);
    /// Frees at least `cells` cells of the pool by demoting or dropping parked snapshots, least valuable first.
    /// Returns the cells really freed; leased snapshots stay.
    TokenPos free_cells(TokenPos cells);
    /// One bounded slice of work for an idle engine: copies a snapshot that is on the device only to RAM.
    /// False when there is nothing left to do.
    bool idle_work();
    /// To be called between steps: hands states to the disk's writer and takes in what it has done. `busy`: requests
    /// run, and most of what was published lately is about to be superseded by them.
    void tend_disk(bool busy = false);
    /// When tend_disk() will have something to do though no request comes; unit: seconds from now. None: never.
    [[nodiscard]] std::optional<double> disk_wakes_in() const;
    /// How fast the model computes: `tokens` of prefill took `seconds`.
    void note_prefill(TokenPos tokens, double seconds);
    /// Before the end: writes to disk what is worth keeping, most valuable first, for at most `seconds`.
    void save(double seconds);

    // For people who look after a cache (store/cache_admin.h).
    /// All snapshots in all tiers, those of other models on disk too. Cost: looks at the tokens of each.
    [[nodiscard]] SnapshotListing list() const;
    /// not_found; unsupported where it is another model's.
    [[nodiscard]] Result<Tokens> tokens_of(std::uint64_t id) const;
    /// Gives up snapshots in all tiers. not_found names all unknown ids, and nothing is done. capacity: in use.
    [[nodiscard]] Status remove(std::span<const std::uint64_t> ids);
    /// It goes to disk, whatever admission thinks of it, once it is in RAM and the writer is free.
    [[nodiscard]] Status keep(std::uint64_t id);
    /// The same for the snapshot of exactly `tokens`, or one that can be cut there. Returns its id.
    [[nodiscard]] Result<std::uint64_t> keep(const std::string &tenant, TokenView tokens);
    /// Takes a snapshot of this model to disk, from the archive at `path` whose header this is. Blocks while files are
    /// written, each checked on the way.
    [[nodiscard]] Result<ImportReport> import_archive(const std::string &path, const ArchiveHeader &header);
    /// What another process that finds the cache directory locked is told.
    [[nodiscard]] Status describe_holder(std::string_view holder);

    /// Drops everything, on disk as well.
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
