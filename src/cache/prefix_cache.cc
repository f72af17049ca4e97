#include "cache/prefix_cache.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "cache/miss_reason.h"
#include "cache/prefix_cache_impl.h"
#include "policy/device_residency.h"
#include "store/cache_admin.h"

namespace cairn {

Lookup::Lookup() = default;
Lookup::~Lookup() = default;
Lookup::Lookup(Lookup &&) noexcept = default;
Lookup &Lookup::operator=(Lookup &&) noexcept = default;

namespace {

/// Nodes to look at for one path that goes on behind a point: the first of its subtree is one.
constexpr std::size_t kVisitsForPathEnd = 64;

StoreBudgets budgets_of(const SnapshotPolicy &policy, const Backend &backend) {
    if (!policy.enabled) return {};
    const StateLayout &layout = backend.layout();
    const DeviceResidency residency = device_residency(policy, backend.parked_cell_tax(), layout.row_bytes);
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
    return snapshot.rows().segment != nullptr && !snapshot.rows().suspect();
}

}  // namespace

PrefixCache::Impl::Impl(Backend &backend, SnapshotPolicy policy, Env &env, Metrics &metrics,
                        std::unique_ptr<DiskTier> disk)
    : backend_(backend),
      policy_(checked(std::move(policy), backend.layout())),
      env_(env),
      metrics_(metrics),
      store_(backend, budgets_of(policy_, backend), policy_.enabled ? std::move(disk) : nullptr, *this, env, metrics) {
    if (store_.disk() != nullptr) take_over_disk();
}

// -- lookup --------------------------------------------------------------------------------------------------------

Lookup PrefixCache::Impl::find(const std::string &tenant, TokenView prompt, TokenPos limit) {
    const double start = env_.now_s();
    limit = std::clamp(limit, TokenPos{0}, static_cast<TokenPos>(prompt.size()));
    Lookup lookup;
    if (policy_.enabled) {
        const NamespaceKey ns = namespace_of(tenant);
        const Index::Match match = index_.match(ns, prompt, limit);
        Found found{match.entry.value_or(nullptr), match.depth};
        const bool avoided = avoid_slow_load(found, match.ref);
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
        lookup.reason = avoided && lookup.depth < limit ? MissReason::slower_to_load : miss_reason(facts);
    } else {
        lookup.reason = MissReason::disabled;
    }
    metrics_.observe(Metric::lookup_seconds, env_.now_s() - start);
    return lookup;
}

/// The snapshot that shares most tokens, for states that can be cut there. Of equals one on the device.
PrefixCache::Impl::Found PrefixCache::Impl::find_cut(const NamespaceKey &ns, TokenView tokens) const {
    const auto parked = index_.cover(ns, tokens, [](const SnapshotPtr &s) { return s->on_device(); });
    const auto copied = index_.cover(
        ns, tokens, [](const SnapshotPtr &s) { return (s->in_ram() || s->on_disk()) && !s->has_boundary(); });
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
    if (*tier != Tier::device) store_.promote(lookup.lease->snapshot(), seq);
    count_use(lookup.lease->snapshot());
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
    address.continued = known.snapshot != nullptr && is_private(known.snapshot->kind()) && known.snapshot->hits() > 0;
    const Status kept = keep(address, tokens, seq, kind);
    if (kept) {
        metrics_.add(Metric::snapshots_published_total, 1, name_of(kind));
    } else {
        metrics_.add(Metric::snapshots_refused_total, 1, name_of(kept.error().code));
    }
    return kept.has_value();
}

Lookup PrefixCache::Impl::set_aside(const std::string &tenant, TokenView tokens, SeqId seq) {
    if (!publish(tenant, tokens, seq, CheckpointKind::interval)) return {};
    const auto all = static_cast<TokenPos>(tokens.size());
    const Found kept = deepest_of(namespace_of(tenant), tokens);
    if (kept.length != all || !store_.move_off_device(*kept.snapshot)) return {};
    return find(tenant, tokens, all);
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
    set_address(**snapshot, {address.ns, published.ref, address.continued});
    return {};
}

Status PrefixCache::Impl::store_state(Snapshot &snapshot, const NamespaceKey &ns, TokenView tokens, SeqId seq) {
    Status parked = fail(ErrorCode::capacity, "The device keeps no snapshots.");
    if (store_.could_park(seq)) parked = store_.park(snapshot, seq);
    if (parked || policy_.ram_bytes == 0) return parked;
    return store_.capture(snapshot, seq, tokens, known_rows(ns, tokens));
}

RowsRef PrefixCache::Impl::known_rows(const NamespaceKey &ns, TokenView tokens) const {
    if (!backend_.layout().has_rows) return {};
    const auto cover = index_.cover(ns, tokens, [](const SnapshotPtr &s) { return has_sound_rows(*s); });
    if (!cover.entry) return {};
    return (*cover.entry)->rows().cut(std::min(cover.common, cover.entry_depth)).without_scraps();
}
// -- the rest ------------------------------------------------------------------------------------------------------

void PrefixCache::Impl::clear() {
    store_.clear();
    memories_.clear();
    memory_tokens_ = 0;
    index_.clear();
}

CacheStats PrefixCache::Impl::stats() const {
    return {.snapshots = addresses_.size(),
            .device_snapshots = store_.device_snapshots(),
            .device_bytes = store_.device_bytes(),
            .ram_bytes = store_.ram_bytes(),
            .disk_bytes = store_.disk_bytes(),
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
                    snapshot->where());
        if (snapshot->restorable()) {
            ++live;
            CAIRN_CHECK(addresses_.count(snapshot.get()) == 1, "a snapshot without an address");
        }
    });
    // Those of other models are kept, and are no use to this one.
    const auto mine = [this](const SnapshotPtr &s) { return addresses_.count(s.get()) == 1; };
    const auto owned = static_cast<std::size_t>(std::count_if(store_.live().begin(), store_.live().end(), mine));
    CAIRN_CHECK(live == owned && live == addresses_.size(), "{} of {} snapshots are matchable, {} have addresses", live,
                owned, addresses_.size());
}

PrefixCache::PrefixCache(Backend &backend, SnapshotPolicy policy, Env &env, Metrics &metrics,
                         std::unique_ptr<DiskTier> disk)
    : impl_(std::make_unique<Impl>(backend, std::move(policy), env, metrics, std::move(disk))) {}
PrefixCache::~PrefixCache() = default;

Lookup PrefixCache::find(const std::string &tenant, TokenView prompt, TokenPos limit) {
    return impl_->find(tenant, prompt, limit);
}
Result<Tier> PrefixCache::adopt(Lookup lookup, SeqId seq) {
    return impl_->adopt(std::move(lookup), seq);
}
Lookup PrefixCache::set_aside(const std::string &tenant, TokenView tokens, SeqId seq) {
    return impl_->set_aside(tenant, tokens, seq);
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
void PrefixCache::tend_disk(bool busy) {
    impl_->tend_disk(busy);
}
std::optional<double> PrefixCache::disk_wakes_in() const {
    return impl_->disk_wakes_in();
}
void PrefixCache::note_prefill(TokenPos tokens, double seconds) {
    impl_->note_prefill(tokens, seconds);
}
void PrefixCache::save(double seconds) {
    impl_->save(seconds);
}
SnapshotListing PrefixCache::list() const {
    return impl_->list();
}
Result<Tokens> PrefixCache::tokens_of(std::uint64_t id) const {
    return impl_->tokens_of(id);
}
Status PrefixCache::remove(std::span<const std::uint64_t> ids) {
    return impl_->remove(ids);
}
Status PrefixCache::keep(std::uint64_t id) {
    return impl_->keep(id);
}
Result<std::uint64_t> PrefixCache::keep(const std::string &tenant, TokenView tokens) {
    return impl_->keep(tenant, tokens);
}
Result<ImportReport> PrefixCache::import_archive(const std::string &path, const ArchiveHeader &header) {
    return impl_->import_archive(path, header);
}
Status PrefixCache::describe_holder(std::string_view holder) {
    return impl_->describe_holder(holder);
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
