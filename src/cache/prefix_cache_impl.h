// What PrefixCache is made of. Its sides lie in files of their own: lookup and publication in prefix_cache.cc, what the
// store asks in prefix_cache_advice.cc, what was on disk before and what people ask in prefix_cache_admin.cc.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>

#include "cache/cache_listing.h"
#include "cache/prefix_cache.h"
#include "index/prefix_checkpoint_index.h"
#include "policy/disk_admission.h"
#include "policy/rate.h"
#include "state/namespace_key.h"
#include "store/snapshot_store.h"

namespace cairn {

struct SnapshotTraits {
    static bool restorable(const SnapshotPtr &snapshot) { return snapshot->restorable(); }
    // Evicted ones stay as memories, which explain later misses; the cache itself lets go of them, oldest first.
    static bool stale(const SnapshotPtr &) { return false; }
};

class PrefixCache::Impl final : public SnapshotAdvisor {
public:
    using Index = PrefixCheckpointIndex<SnapshotPtr, SnapshotTraits>;

    Impl(Backend &backend, SnapshotPolicy policy, Env &env, Metrics &metrics, std::unique_ptr<DiskTier> disk);

    [[nodiscard]] Lookup find(const std::string &tenant, TokenView prompt, TokenPos limit);
    [[nodiscard]] Result<Tier> adopt(Lookup lookup, SeqId seq);
    bool publish(const std::string &tenant, TokenView tokens, SeqId seq, CheckpointKind kind);
    [[nodiscard]] Lookup set_aside(const std::string &tenant, TokenView tokens, SeqId seq);
    TokenPos free_cells(TokenPos cells) { return store_.free_cells(cells); }
    bool idle_work() {
        return policy_.enabled && (store_.lower_cell_tax() || store_.write_behind() || store_.prepare_memory());
    }
    void tend_disk(bool busy) {
        busy_ = busy;
        store_.tend_disk();
    }
    [[nodiscard]] std::optional<double> disk_wakes_in() const { return store_.disk_wakes_in(); }
    void note_prefill(TokenPos tokens, double seconds) { prefill_.add(tokens, seconds, env_.now_s()); }
    void save(double seconds);
    [[nodiscard]] SnapshotListing list() const;
    [[nodiscard]] Result<Tokens> tokens_of(std::uint64_t id) const;
    [[nodiscard]] Status remove(std::span<const std::uint64_t> ids);
    [[nodiscard]] Status keep(std::uint64_t id);
    [[nodiscard]] Result<std::uint64_t> keep(const std::string &tenant, TokenView tokens);
    [[nodiscard]] Result<ImportReport> import_archive(const std::string &path, const ArchiveHeader &header);
    [[nodiscard]] Status describe_holder(std::string_view holder);
    void clear();
    [[nodiscard]] CacheStats stats() const;
    void check_invariants() const;

    // SnapshotAdvisor
    [[nodiscard]] double value(const Snapshot &snapshot, Tier tier, std::size_t freed) const override;
    [[nodiscard]] RowsRef rows_for(const Snapshot &snapshot) const override;
    [[nodiscard]] SnapshotOrigin origin_of(const Snapshot &snapshot) const override;
    [[nodiscard]] bool worth_writing(const Snapshot &snapshot, std::size_t bytes, bool leaving) override;
    void note_written(const Snapshot &snapshot, std::size_t bytes, double seconds) override;
    void note_read(std::size_t bytes, double seconds) override;
    void forget(const Snapshot &snapshot) override;

private:
    static constexpr const char *kReuseRecordFact = "reuse_record";
    [[nodiscard]] static bool is_private(CheckpointKind kind) noexcept {
        return kind != CheckpointKind::system_end && kind != CheckpointKind::fork;
    }

    /// Where a snapshot is in the index.
    struct Address {
        NamespaceKey ns;
        Index::Ref ref;
        bool continued = false;  // made by a request that resumed where a conversation had been left
        bool offered = false;    // to the disk
        bool used = false;       // since it was offered
        bool wanted = false;     // somebody asked for it to be kept
    };
    struct Found {
        SnapshotPtr snapshot;
        TokenPos length = 0;
    };

    [[nodiscard]] NamespaceKey namespace_of(const std::string &tenant) const {
        return {backend_.layout().fingerprint, tenant};
    }
    void set_address(const Snapshot &snapshot, Address address);
    void take_over_disk();
    [[nodiscard]] std::unordered_map<std::uint64_t, SnapshotPlace> list_foreign(const CatalogueContent &content) const;
    [[nodiscard]] SnapshotPlace place_of(const Snapshot &snapshot) const;
    [[nodiscard]] Result<SnapshotPtr> live_snapshot(std::uint64_t id) const;
    [[nodiscard]] Status want(const SnapshotPtr &snapshot);
    [[nodiscard]] Status check_archive(const ArchiveHeader &header) const;
    /// Decides whether a state on disk is worth reading, and puts the best faster one in its place where it is not.
    /// True where it did.
    bool avoid_slow_load(Found &found, Index::Ref ref) const;
    [[nodiscard]] TokenPos depth_above(Index::Ref ref) const;
    [[nodiscard]] bool has_descendants(Index::Ref ref) const;
    [[nodiscard]] bool is_superseded(const Snapshot &snapshot, Index::Ref ref) const;
    void count_use(const Snapshot &snapshot);
    void keep_reuse_record();
    [[nodiscard]] Found find_cut(const NamespaceKey &ns, TokenView tokens) const;
    [[nodiscard]] bool path_goes_on(const NamespaceKey &ns, TokenView tokens, TokenPos common) const;
    [[nodiscard]] RowsRef known_rows(const NamespaceKey &ns, TokenView tokens) const;
    /// The deepest snapshot of `tokens`, of all of them where there is one.
    [[nodiscard]] Found deepest_of(const NamespaceKey &ns, TokenView tokens);
    [[nodiscard]] Status keep(const Address &address, TokenView tokens, SeqId seq, CheckpointKind kind);
    [[nodiscard]] Status store_state(Snapshot &snapshot, const NamespaceKey &ns, TokenView tokens, SeqId seq);
    void lose_memories(std::size_t most, std::size_t most_tokens);

    Backend &backend_;
    const SnapshotPolicy policy_;
    Env &env_;
    Metrics &metrics_;
    Index index_;
    std::unordered_map<const Snapshot *, Address> addresses_;      // of live snapshots
    std::unordered_map<const Snapshot *, SnapshotPlace> foreign_;  // of other models, on disk
    std::deque<std::pair<Index::Ref, TokenPos>> memories_;         // evicted ones still in the index, oldest first
    std::size_t memory_tokens_ = 0;
    Rate prefill_{kPrefill};
    Rate disk_read_{kDiskRead};
    ReuseRecord reuse_;
    std::size_t writes_ = 0;
    bool busy_ = false;    // requests run
    SnapshotStore store_;  // last: it asks all of the above until it is gone
};

}  // namespace cairn
