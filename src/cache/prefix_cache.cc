#include "cache/prefix_cache.h"

#include <algorithm>
#include <deque>
#include <unordered_map>
#include <utility>

#include "base/check.h"
#include "cache/miss_reason.h"
#include "index/prefix_checkpoint_index.h"
#include "policy/device_residency.h"
#include "policy/eviction_value.h"
#include "state/namespace_key.h"
#include "store/snapshot_store.h"

namespace cairn {

Lookup::Lookup() = default;
Lookup::~Lookup() = default;
Lookup::Lookup(Lookup &&) noexcept = default;
Lookup &Lookup::operator=(Lookup &&) noexcept = default;

namespace {

struct SnapshotTraits {
    static bool restorable(const SnapshotPtr &snapshot) { return snapshot->restorable(); }
    // Evicted ones stay as memories, which explain later misses; the cache itself lets go of them, oldest first.
    static bool stale(const SnapshotPtr &) { return false; }
};

using Index = PrefixCheckpointIndex<SnapshotPtr, SnapshotTraits>;

/// Enough to tell an eviction from a divergence; at most 16 MiB of tokens, and fewer than cover() may look at.
constexpr std::size_t kMostMemories = 1024;
constexpr std::size_t kMostMemoryTokens = std::size_t{4} << 20;
/// Nodes to look at for one path that goes on behind a point: the first of its subtree is one.
constexpr std::size_t kVisitsForPathEnd = 64;

StoreBudgets budgets_of(const SnapshotPolicy &policy, const Backend &backend) {
    if (!policy.enabled) return {};
    const StateLayout &layout = backend.layout();
    const DeviceResidency residency = device_residency({.parked_cell_tax = backend.parked_cell_tax(),
                                                        .row_bytes = layout.row_bytes,
                                                        .device_budget_bytes = policy.device_bytes});
    return {.max_snapshots = static_cast<std::size_t>(std::max(0, policy.max_snapshots)),
            .ram_bytes = policy.ram_bytes,
            .device = {.bytes = residency.max_bytes,
                       .cells = residency.max_cells,
                       .parked = static_cast<std::size_t>(std::max(0, policy.max_device_snapshots))}};
}

SnapshotPolicy checked(SnapshotPolicy policy, const StateLayout &layout) {
    policy.enabled = policy.enabled && layout.mode != CaptureMode::none;
    return policy;
}

bool has_sound_rows(const Snapshot &snapshot) {
    return snapshot.in_ram() && snapshot.ram().rows.segment != nullptr && !snapshot.ram().rows.suspect();
}

}  // namespace

class PrefixCache::Impl final : public SnapshotAdvisor {
public:
    Impl(Backend &backend, SnapshotPolicy policy, Env &env, Metrics &metrics)
        : backend_(backend),
          policy_(checked(std::move(policy), backend.layout())),
          env_(env),
          metrics_(metrics),
          store_(backend, budgets_of(policy_, backend), *this, env, metrics) {}
    ~Impl() override { clear(); }

    [[nodiscard]] Lookup find(const std::string &tenant, TokenView prompt, TokenPos limit);
    [[nodiscard]] Result<Tier> adopt(Lookup lookup, SeqId seq);
    bool publish(const std::string &tenant, TokenView tokens, SeqId seq, CheckpointKind kind);
    TokenPos free_cells(TokenPos cells) { return store_.free_cells(cells); }
    bool idle_work() {
        return policy_.enabled && (store_.lower_cell_tax() || store_.write_behind() || store_.prepare_memory());
    }
    void clear();
    [[nodiscard]] CacheStats stats() const;
    void check_invariants() const;

    // SnapshotAdvisor
    [[nodiscard]] double value(const Snapshot &snapshot, std::size_t freed) const override;
    [[nodiscard]] RowsRef rows_for(const Snapshot &snapshot) const override;
    void forget(const Snapshot &snapshot) override;

private:
    /// Where a snapshot is in the index.
    struct Address {
        NamespaceKey ns;
        Index::Ref ref;
        TokenPos beyond = 0;  // depth of the snapshot below it on its path when it was published
    };
    struct Found {
        SnapshotPtr snapshot;
        TokenPos length = 0;
    };

    [[nodiscard]] NamespaceKey namespace_of(const std::string &tenant) const {
        return {backend_.layout().fingerprint, tenant};
    }
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
    std::unordered_map<const Snapshot *, Address> addresses_;  // of live snapshots
    std::deque<std::pair<Index::Ref, TokenPos>> memories_;     // evicted ones still in the index, oldest first
    std::size_t memory_tokens_ = 0;
    SnapshotStore store_;
};

// -- lookup --------------------------------------------------------------------------------------------------------

Lookup PrefixCache::Impl::find(const std::string &tenant, TokenView prompt, TokenPos limit) {
    const double start = env_.now_s();
    limit = std::clamp(limit, TokenPos{0}, static_cast<TokenPos>(prompt.size()));
    Lookup lookup;
    if (policy_.enabled) {
        const NamespaceKey ns = namespace_of(tenant);
        const Index::Match match = index_.match(ns, prompt, limit);
        Found found{match.entry.value_or(nullptr), match.depth};
        if (backend_.layout().can_rewind) {
            Found cut = find_cut(ns, prompt.first(static_cast<std::size_t>(limit)));
            const bool faster = cut.length == found.length && cut.length > 0 && cut.snapshot->on_device();
            if (cut.length > found.length || faster) found = std::move(cut);
        }
        lookup.depth = found.length;
        lookup.first_difference = match.common;
        if (found.snapshot != nullptr) {
            lookup.tier = found.snapshot->tier();
            lookup.lease = std::make_unique<SnapshotLease>(std::move(found.snapshot), found.length);
        }
        LookupFacts facts{.limit = limit,
                          .depth = lookup.depth,
                          .common = match.common,
                          .evicted = match.deepest_unusable,
                          .namespace_known = match.namespace_known};
        facts.path_goes_on = facts.depth == facts.common && path_goes_on(ns, prompt, facts.common);
        lookup.reason = miss_reason(facts);
    } else {
        lookup.reason = MissReason::disabled;
    }
    metrics_.observe(Metric::lookup_seconds, env_.now_s() - start);
    if (lookup.reason != MissReason::none) metrics_.add(Metric::cache_shortfalls_total, 1, name_of(lookup.reason));
    return lookup;
}

/// The snapshot that shares most tokens, for states that can be cut there. Of equals one on the device.
PrefixCache::Impl::Found PrefixCache::Impl::find_cut(const NamespaceKey &ns, TokenView tokens) const {
    const auto parked = index_.cover(ns, tokens, [](const SnapshotPtr &s) { return s->on_device(); });
    const auto copied =
        index_.cover(ns, tokens, [](const SnapshotPtr &s) { return s->in_ram() && s->ram().boundary.empty(); });
    const auto &best = copied.common > parked.common ? copied : parked;
    if (!best.entry) return {};
    return {*best.entry, std::min(best.common, best.entry_depth)};
}

bool PrefixCache::Impl::path_goes_on(const NamespaceKey &ns, TokenView tokens, TokenPos common) const {
    const auto longer = [&](const SnapshotPtr &s) { return s->position() > common; };
    if (common == 0) return true;  // the namespace has paths, and the prompt is on none of them
    const auto cover = index_.cover(ns, tokens, longer, kVisitsForPathEnd);
    return cover.entry.has_value() && cover.common == common;
}

Result<Tier> PrefixCache::Impl::adopt(Lookup lookup, SeqId seq) {
    if (lookup.lease == nullptr) return fail(ErrorCode::not_found, "The lookup found nothing to adopt.");
    auto tier = store_.restore(*lookup.lease, seq);
    if (!tier) {
        metrics_.add(Metric::cache_shortfalls_total, 1, name_of(MissReason::restore_failed));
        return tier;
    }
    // Kept on the device too, where nobody has to give way: the next one to come here copies nothing.
    if (*tier == Tier::ram) store_.promote(lookup.lease->snapshot(), seq);
    return tier;
}

// -- publication ---------------------------------------------------------------------------------------------------

bool PrefixCache::Impl::publish(const std::string &tenant, TokenView tokens, SeqId seq, CheckpointKind kind) {
    if (!policy_.enabled || tokens.empty()) return false;
    CAIRN_CHECK(static_cast<std::size_t>(backend_.length(seq)) == tokens.size(), "{} tokens for a state of {}",
                tokens.size(), backend_.length(seq));
    Address address{namespace_of(tenant), {}};
    const Found known = deepest_of(address.ns, tokens);
    if (std::cmp_equal(known.length, tokens.size())) {
        known.snapshot->refresh(env_.now_s());
        return true;
    }
    address.beyond = known.length;
    const Status kept = keep(address, tokens, seq, kind);
    if (kept) {
        metrics_.add(Metric::snapshots_published_total, 1, name_of(kind));
    } else {
        metrics_.add(Metric::snapshots_refused_total, 1, name_of(kept.error().code));
    }
    return kept.has_value();
}

PrefixCache::Impl::Found PrefixCache::Impl::deepest_of(const NamespaceKey &ns, TokenView tokens) {
    const auto all = static_cast<TokenPos>(tokens.size());
    const Index::Match match = index_.match(ns, tokens, all);
    Found found{match.entry.value_or(nullptr), match.depth};
    // A deeper state that can be cut here, wherever it goes. Not one with a boundary: once in RAM it is of use at its
    // own position only.
    if (found.length == all || !backend_.layout().can_rewind || backend_.layout().has_boundary) return found;
    Found cut = find_cut(ns, tokens);
    return cut.length > found.length ? cut : found;
}

// Room in the index first, payloads next, publication last: nothing matchable is incomplete, and nothing complete
// fails to be published. Whatever fails on the way gives back all that was taken.
Status PrefixCache::Impl::keep(const Address &address, TokenView tokens, SeqId seq, CheckpointKind kind) {
    auto reservation = index_.reserve(address.ns, tokens);
    if (!reservation && !memories_.empty()) {
        lose_memories(0, 0);
        reservation = index_.reserve(address.ns, tokens);
    }
    if (!reservation) return fail(reservation.error());
    auto snapshot = store_.open(static_cast<TokenPos>(tokens.size()), kind);
    if (!snapshot) return fail(snapshot.error());
    if (auto stored = store_state(**snapshot, address.ns, tokens, seq); !stored) return stored;
    store_.track(*snapshot);
    const auto published = index_.publish(std::move(*reservation), *snapshot);
    CAIRN_CHECK(!published.replaced || (*published.replaced)->gone(), "a live snapshot is replaced");
    addresses_.emplace(snapshot->get(), Address{address.ns, published.ref, address.beyond});
    return {};
}

Status PrefixCache::Impl::store_state(Snapshot &snapshot, const NamespaceKey &ns, TokenView tokens, SeqId seq) {
    Status parked = fail(ErrorCode::capacity, "The device keeps no snapshots.");
    if (store_.could_park(seq)) parked = store_.park(snapshot, seq);
    if (parked || policy_.ram_bytes == 0) return parked;
    return store_.capture(snapshot, seq, known_rows(ns, tokens));
}

RowsRef PrefixCache::Impl::known_rows(const NamespaceKey &ns, TokenView tokens) const {
    if (!backend_.layout().has_rows) return {};
    const auto cover = index_.cover(ns, tokens, [](const SnapshotPtr &s) { return has_sound_rows(*s); });
    if (!cover.entry) return {};
    return (*cover.entry)->ram().rows.cut(std::min(cover.common, cover.entry_depth));
}

// -- what the store asks -------------------------------------------------------------------------------------------

double PrefixCache::Impl::value(const Snapshot &snapshot, std::size_t freed) const {
    const auto at = addresses_.find(&snapshot);
    const TokenPos beyond = at == addresses_.end() ? 0 : at->second.beyond;
    return eviction_value({.last_use_s = snapshot.last_use_s(),
                           .now_s = env_.now_s(),
                           .bytes = freed,
                           .tokens_saved = snapshot.position() - beyond,
                           .hits = snapshot.hits(),
                           .kind = snapshot.kind(),
                           .has_descendants = snapshot.in_ram() && snapshot.ram().rows.segment.use_count() > 1});
}

RowsRef PrefixCache::Impl::rows_for(const Snapshot &snapshot) const {
    const auto at = addresses_.find(&snapshot);
    if (at == addresses_.end()) return {};
    return known_rows(at->second.ns, index_.path(at->second.ref));
}

void PrefixCache::Impl::forget(const Snapshot &snapshot) {
    const auto at = addresses_.find(&snapshot);
    if (at == addresses_.end()) return;
    memories_.emplace_back(at->second.ref, snapshot.position());
    memory_tokens_ += static_cast<std::size_t>(snapshot.position());
    addresses_.erase(at);
    lose_memories(kMostMemories, kMostMemoryTokens);
}

void PrefixCache::Impl::lose_memories(std::size_t most, std::size_t most_tokens) {
    while (memories_.size() > most || memory_tokens_ > most_tokens) {
        const auto [ref, position] = memories_.front();
        memories_.pop_front();
        memory_tokens_ -= static_cast<std::size_t>(position);
        (void)index_.erase(ref);  // names nothing where the prefix has been published again
    }
}

// -- the rest ------------------------------------------------------------------------------------------------------

void PrefixCache::Impl::clear() {
    store_.clear();
    memories_.clear();
    memory_tokens_ = 0;
    index_.clear();
}

CacheStats PrefixCache::Impl::stats() const {
    return {.snapshots = store_.snapshots(),
            .device_snapshots = store_.device_snapshots(),
            .device_bytes = store_.device_bytes(),
            .ram_bytes = store_.ram_bytes(),
            .leases = store_.leases()};
}

void PrefixCache::Impl::check_invariants() const {
    store_.check_invariants();
    index_.check_invariants();
    std::size_t live = 0;
    index_.for_each([&](TokenPos depth, const SnapshotPtr &snapshot) {
        CAIRN_CHECK(snapshot->position() == depth, "a snapshot of {} tokens is published at {}", snapshot->position(),
                    depth);
        CAIRN_CHECK(snapshot->gone() || snapshot->restorable(), "a snapshot that is {} is matchable",
                    name_of(snapshot->residency()));
        if (snapshot->restorable()) {
            ++live;
            CAIRN_CHECK(addresses_.count(snapshot.get()) == 1, "a snapshot without an address");
        }
    });
    CAIRN_CHECK(live == store_.snapshots() && live == addresses_.size(),
                "{} of {} snapshots are matchable, {} have addresses", live, store_.snapshots(), addresses_.size());
}

PrefixCache::PrefixCache(Backend &backend, SnapshotPolicy policy, Env &env, Metrics &metrics)
    : impl_(std::make_unique<Impl>(backend, std::move(policy), env, metrics)) {}
PrefixCache::~PrefixCache() = default;

Lookup PrefixCache::find(const std::string &tenant, TokenView prompt, TokenPos limit) {
    return impl_->find(tenant, prompt, limit);
}
Result<Tier> PrefixCache::adopt(Lookup lookup, SeqId seq) {
    return impl_->adopt(std::move(lookup), seq);
}
bool PrefixCache::publish(const std::string &tenant, TokenView tokens, SeqId seq, CheckpointKind kind) {
    return impl_->publish(tenant, tokens, seq, kind);
}
TokenPos PrefixCache::free_cells(TokenPos cells) {
    return impl_->free_cells(cells);
}
bool PrefixCache::idle_work() {
    return impl_->idle_work();
}
void PrefixCache::clear() {
    impl_->clear();
}
CacheStats PrefixCache::stats() const {
    return impl_->stats();
}
void PrefixCache::check_invariants() const {
    impl_->check_invariants();
}

}  // namespace cairn
