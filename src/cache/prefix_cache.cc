#include "cache/prefix_cache.h"

#include <algorithm>
#include <deque>
#include <unordered_map>
#include <utility>

#include "base/check.h"
#include "cache/cache_listing.h"
#include "cache/miss_reason.h"
#include "index/prefix_checkpoint_index.h"
#include "policy/device_residency.h"
#include "policy/disk_admission.h"
#include "policy/eviction_value.h"
#include "policy/load_or_compute.h"
#include "policy/rate.h"
#include "state/namespace_key.h"
#include "store/archive_import.h"
#include "store/cache_admin.h"
#include "store/snapshot_archive.h"
#include "store/snapshot_store.h"
#include "store/text_beginning.h"

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
    return snapshot.rows().segment != nullptr && !snapshot.rows().suspect();
}

/// Nodes to look at for a state that goes on from another: the first of its subtree is one, unless it was evicted.
constexpr std::size_t kVisitsForDescendant = 16;
/// Opening files, and the first seek of a disk that turns. Unit: seconds per restore from disk.
constexpr double kDiskFixedSeconds = 0.002;
/// How much longer states take to settle while requests run.
constexpr double kSettleSlowness = 15;
/// The reuse record is kept once for so many snapshots written.
constexpr std::size_t kWritesPerRecord = 16;
constexpr const char *kReuseRecordFact = "reuse_record";

bool is_private(CheckpointKind kind) {
    return kind != CheckpointKind::system_end && kind != CheckpointKind::fork;
}

}  // namespace

class PrefixCache::Impl final : public SnapshotAdvisor {
public:
    Impl(Backend &backend, SnapshotPolicy policy, Env &env, Metrics &metrics, std::unique_ptr<DiskTier> disk)
        : backend_(backend),
          policy_(checked(std::move(policy), backend.layout())),
          env_(env),
          metrics_(metrics),
          store_(backend, budgets_of(policy_, backend), policy_.enabled ? std::move(disk) : nullptr, *this, env,
                 metrics) {
        if (store_.disk() != nullptr) take_over_disk();
    }

    [[nodiscard]] Lookup find(const std::string &tenant, TokenView prompt, TokenPos limit);
    [[nodiscard]] Result<Tier> adopt(Lookup lookup, SeqId seq);
    bool publish(const std::string &tenant, TokenView tokens, SeqId seq, CheckpointKind kind);
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
    if (lookup.reason != MissReason::none) metrics_.add(Metric::cache_shortfalls_total, 1, name_of(lookup.reason));
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

bool PrefixCache::Impl::avoid_slow_load(Found &found, Index::Ref ref) const {
    if (found.snapshot == nullptr || found.snapshot->tier() != Tier::disk) return false;
    const SnapshotPtr *faster =
        index_.above(ref, [](const SnapshotPtr &s) { return s->restorable() && s->tier() != Tier::disk; });
    const TokenPos there = faster == nullptr ? 0 : (*faster)->position();
    const double now = env_.now_s();
    const LoadFacts facts{.bytes = store_.bytes_to_read(*found.snapshot),
                          .bytes_per_s = disk_read_.per_second(now),
                          .fixed_s = kDiskFixedSeconds,
                          .tokens_saved = found.length - there,
                          .seconds_per_token = prefill_.seconds_per_unit(now)};
    if (load_or_compute(facts) == LoadVerdict::load) return false;
    found = faster == nullptr ? Found{} : Found{*faster, there};
    return true;
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
    addresses_.emplace(snapshot->get(), Address{address.ns, published.ref, address.continued});
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
    return (*cover.entry)->rows().cut(std::min(cover.common, cover.entry_depth));
}

// -- what the store asks -------------------------------------------------------------------------------------------

double PrefixCache::Impl::value(const Snapshot &snapshot, Tier tier, std::size_t freed) const {
    const double now = env_.now_s();
    SnapshotFacts facts{.last_use_s = snapshot.last_use_s(),
                        .now_s = now,
                        .bytes = freed,
                        .tokens_saved = snapshot.position(),
                        .seconds_per_token = prefill_.seconds_per_unit(now).value_or(0),
                        .hits = snapshot.hits(),
                        .kind = snapshot.kind(),
                        .position = snapshot.position(),
                        .published_s = snapshot.published_s()};
    // Snapshots of other models have no place in the index.
    if (const auto at = addresses_.find(&snapshot); at != addresses_.end()) {
        facts.tokens_saved -= depth_above(at->second.ref);
        facts.has_descendants = has_descendants(at->second.ref);
    }
    if (tier != Tier::disk && snapshot.on_disk()) {
        const LoadFacts read{.bytes = store_.full_bytes(snapshot),
                             .bytes_per_s = disk_read_.per_second(now),
                             .fixed_s = kDiskFixedSeconds};
        facts.slower_copy_seconds = load_seconds(read).value_or(kDiskFixedSeconds);
    }
    return eviction_value(facts);
}

TokenPos PrefixCache::Impl::depth_above(Index::Ref ref) const {
    const SnapshotPtr *above = index_.above(ref, [](const SnapshotPtr &s) { return s->restorable(); });
    return above == nullptr ? 0 : (*above)->position();
}

bool PrefixCache::Impl::has_descendants(Index::Ref ref) const {
    return index_.any_below(
        ref, [](const SnapshotPtr &s) { return s->restorable(); }, kVisitsForDescendant);
}

SnapshotOrigin PrefixCache::Impl::origin_of(const Snapshot &snapshot) const {
    const auto at = addresses_.find(&snapshot);
    CAIRN_CHECK(at != addresses_.end(), "a snapshot of {} tokens without a place in the index", snapshot.position());
    SnapshotOrigin origin{at->second.ns, index_.path(at->second.ref)};
    // In the catalogue parents have smaller ids, so that there are no circles.
    const auto is_parent = [&](const SnapshotPtr &s) { return s->on_disk() && s->id() < snapshot.id(); };
    if (const SnapshotPtr *stored = index_.above(at->second.ref, is_parent)) {
        origin.stored_parent = (*stored)->stored_id();
        origin.stored_parent_depth = (*stored)->position();
    }
    return origin;
}

bool PrefixCache::Impl::worth_writing(const Snapshot &snapshot, std::size_t bytes, bool leaving) {
    const auto at = addresses_.find(&snapshot);
    if (at == addresses_.end()) return false;
    Address &address = at->second;
    const double now = env_.now_s();
    // Which of them a running request is about to supersede is not known: they all settle slowly then.
    const double pace = busy_ && is_private(snapshot.kind()) ? 1 / kSettleSlowness : 1;
    const DiskFacts facts{.who = {snapshot.kind(), address.continued},
                          .hits = snapshot.hits(),
                          .idle_s = leaving ? kSettleSeconds : (now - snapshot.last_use_s()) * pace,
                          .superseded = !leaving && has_descendants(address.ref),
                          .wanted = address.wanted,
                          .read_back = {.bytes = store_.full_bytes(snapshot),
                                        .bytes_per_s = disk_read_.per_second(now),
                                        .fixed_s = kDiskFixedSeconds,
                                        .tokens_saved = snapshot.position() - depth_above(address.ref),
                                        .seconds_per_token = prefill_.seconds_per_unit(now)}};
    const DiskVerdict verdict = admit_to_disk(facts, reuse_, now);
    const bool decided = verdict != DiskVerdict::wait && verdict != DiskVerdict::superseded;
    if (decided && !std::exchange(address.offered, true)) reuse_.offered(facts.who, bytes, now);
    return verdict == DiskVerdict::write;
}

void PrefixCache::Impl::count_use(const Snapshot &snapshot) {
    const auto at = addresses_.find(&snapshot);
    if (at == addresses_.end() || !at->second.offered || std::exchange(at->second.used, true)) return;
    reuse_.used({snapshot.kind(), at->second.continued}, store_.full_bytes(snapshot), env_.now_s());
}

void PrefixCache::Impl::note_written(const Snapshot &, std::size_t, double) {
    if (++writes_ % kWritesPerRecord == 0) keep_reuse_record();
}

void PrefixCache::Impl::keep_reuse_record() {
    store_.disk()->set_fact(kReuseRecordFact, reuse_.to_text(env_.now_s()));
}

void PrefixCache::Impl::note_read(std::size_t bytes, double seconds) {
    disk_read_.add(static_cast<double>(bytes), seconds, env_.now_s());
}

RowsRef PrefixCache::Impl::rows_for(const Snapshot &snapshot) const {
    const auto at = addresses_.find(&snapshot);
    if (at == addresses_.end()) return {};
    return known_rows(at->second.ns, index_.path(at->second.ref));
}

void PrefixCache::Impl::forget(const Snapshot &snapshot) {
    foreign_.erase(&snapshot);
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

void PrefixCache::Impl::take_over_disk() {
    const CatalogueContent content = store_.disk()->take_content();
    reuse_ = ReuseRecord::parse(store_.disk()->fact(kReuseRecordFact), env_.now_s());
    std::unordered_map<std::uint64_t, const StoredSnapshot *> rows;
    for (const StoredNamespace &ns : content.namespaces) {
        for (const StoredSnapshot &row : ns.snapshots)
            rows.emplace(row.id, &row);
    }
    std::unordered_map<std::uint64_t, SnapshotPlace> foreign = list_foreign(content);
    for (const SnapshotStore::Found &found : store_.adopt_directory(content)) {
        if (found.ns->key.model != backend_.layout().fingerprint) {
            foreign_[found.snapshot.get()] = std::move(foreign[found.row->id]);
            continue;
        }
        Tokens tokens(static_cast<std::size_t>(found.row->position));
        for (auto at = rows.find(found.row->id); at != rows.end(); at = rows.find(at->second->parent)) {
            const StoredSnapshot &row = *at->second;
            std::copy(row.tokens.begin(), row.tokens.end(), tokens.begin() + (row.position - std::ssize(row.tokens)));
        }
        auto reservation = index_.reserve(found.ns->key, tokens);
        if (!reservation) {
            store_.remove(*found.snapshot);
            continue;
        }
        const auto published = index_.publish(std::move(*reservation), found.snapshot);
        addresses_.emplace(found.snapshot.get(), Address{found.ns->key, published.ref});
        if (published.replaced) store_.remove(**published.replaced);
    }
}

/// What a listing says of the snapshots of other models, by id.
std::unordered_map<std::uint64_t, SnapshotPlace> PrefixCache::Impl::list_foreign(
    const CatalogueContent &content) const {
    std::unordered_map<std::uint64_t, SnapshotPlace> foreign;
    for (const StoredNamespace &ns : content.namespaces) {
        if (ns.key.model == backend_.layout().fingerprint) continue;
        for (ListedSnapshot &listed : list_namespace(ns).snapshots)
            foreign[listed.id] = {ns.key, ns.model, listed.parent, std::move(listed.text)};
    }
    return foreign;
}

void PrefixCache::Impl::save(double seconds) {
    if (store_.disk() == nullptr) return;
    store_.save(env_.now_s() + seconds);
    keep_reuse_record();
}

// -- for people ----------------------------------------------------------------------------------------------------

SnapshotPlace PrefixCache::Impl::place_of(const Snapshot &snapshot) const {
    const auto at = addresses_.find(&snapshot);
    if (at == addresses_.end()) {
        const auto foreign = foreign_.find(&snapshot);
        return foreign == foreign_.end() ? SnapshotPlace{} : foreign->second;
    }
    SnapshotPlace place{.ns = at->second.ns, .model = backend_.info().name, .parent = 0, .text = {}};
    TokenPos begin = 0;
    if (const SnapshotPtr *above = index_.above(at->second.ref, SnapshotTraits::restorable)) {
        place.parent = (*above)->id();
        begin = (*above)->position();
    }
    const Tokens path = index_.path(at->second.ref);
    place.text = beginning_of_text(backend_.vocabulary(), TokenView(path).subspan(static_cast<std::size_t>(begin)));
    return place;
}

SnapshotListing PrefixCache::Impl::list() const {
    CacheListing made(env_);
    for (const SnapshotPtr &snapshot : store_.live())
        made.add(*snapshot, place_of(*snapshot), store_.full_bytes(*snapshot));
    SnapshotListing listing = made.take();
    listing.device = {store_.device_bytes(), policy_.device_bytes};
    listing.ram = {store_.ram_bytes(), policy_.ram_bytes};
    if (const DiskTier *disk = store_.disk()) {
        listing.directory = disk->path();
        listing.disk = {disk->used(), disk->budget()};
        listing.notes = disk->notes();
    }
    return listing;
}

Result<SnapshotPtr> PrefixCache::Impl::live_snapshot(std::uint64_t id) const {
    for (const SnapshotPtr &snapshot : store_.live()) {
        if (snapshot->id() == id) return snapshot;
    }
    return fail(ErrorCode::not_found, "there is no snapshot {} (any more): `cairn cache ls` lists them", id);
}

Result<Tokens> PrefixCache::Impl::tokens_of(std::uint64_t id) const {
    const auto snapshot = live_snapshot(id);
    if (!snapshot) return fail(snapshot.error());
    const auto at = addresses_.find(snapshot->get());
    if (at != addresses_.end()) return index_.path(at->second.ref);
    return fail(ErrorCode::unsupported,
                "snapshot {} is of another model than the server's, which holds but its files: stop the server first",
                id);
}

Status PrefixCache::Impl::remove(std::span<const std::uint64_t> ids) {
    if (auto known = check_listed(list(), ids); !known) return known;
    Status done;
    for (const std::uint64_t id : ids) {
        const auto snapshot = live_snapshot(id);
        if (!snapshot || store_.remove(**snapshot)) continue;
        done = fail(ErrorCode::capacity, "snapshot {} is in use right now: try again in a moment", id);
        break;
    }
    if (store_.disk() != nullptr) store_.disk()->flush();
    return done;
}

Status PrefixCache::Impl::want(const SnapshotPtr &snapshot) {
    if (store_.disk() == nullptr) {
        return fail(ErrorCode::unsupported, "no state is kept on disk here: serve with --cache-dir and --cache-disk");
    }
    if (const auto at = addresses_.find(snapshot.get()); at != addresses_.end()) at->second.wanted = true;
    return {};
}

Status PrefixCache::Impl::keep(std::uint64_t id) {
    const auto snapshot = live_snapshot(id);
    if (!snapshot) return fail(snapshot.error());
    return want(*snapshot);
}

Result<std::uint64_t> PrefixCache::Impl::keep(const std::string &tenant, TokenView tokens) {
    const Found found = deepest_of(namespace_of(tenant), tokens);
    if (found.snapshot == nullptr || std::cmp_not_equal(found.length, tokens.size())) {
        return fail(ErrorCode::capacity,
                    "no state of exactly these {} tokens was kept: there was no room that is worth less",
                    tokens.size());
    }
    if (auto done = want(found.snapshot); !done) return fail(done.error());
    return found.snapshot->id();
}

Status PrefixCache::Impl::check_archive(const ArchiveHeader &header) const {
    const StateLayout &layout = backend_.layout();
    if (header.ns.model != layout.fingerprint) {
        return fail(
            ErrorCode::unsupported,
            "the archive is of the model {} with the fingerprint {}, and this server runs {} with {}: a running "
            "server takes in only what it can use; stop it to import others",
            header.model, header.ns.model.hex(), backend_.info().name, layout.fingerprint.hex());
    }
    const bool fits = layout.has_rows == (header.rows != 0) && layout.has_boundary == (header.boundary != 0);
    const auto known = [this](Token token) { return backend_.vocabulary().contains(token); };
    if (fits && std::all_of(header.tokens.begin(), header.tokens.end(), known)) return {};
    return fail(ErrorCode::corrupt, "the archive does not fit the model that its fingerprint names");
}

Result<ImportReport> PrefixCache::Impl::import_archive(const std::string &path, const ArchiveHeader &header) {
    if (store_.disk() == nullptr) return fail(ErrorCode::unsupported, "no state is kept on disk here");
    if (auto ours = check_archive(header); !ours) return fail(ours.error());
    const auto all = static_cast<TokenPos>(header.tokens.size());
    const Index::Match match = index_.match(header.ns, header.tokens, all);
    if (match.depth == all) {
        if (auto done = want(*match.entry); !done) return fail(done.error());
        return ImportReport{(*match.entry)->id(), true};
    }
    auto reservation = index_.reserve(header.ns, header.tokens);
    if (!reservation) return fail(reservation.error());
    ImportPlace place{.next_id = [this] { return store_.disk()->next_id(); }, .now_unix_s = env_.unix_time_s()};
    const auto on_disk = [](const SnapshotPtr &s) { return s->on_disk(); };
    const SnapshotPtr *parent = match.entry && on_disk(*match.entry) ? &*match.entry : index_.above(match.ref, on_disk);
    std::optional<SnapshotLease> stays;  // making room may not take the parent away
    if (parent != nullptr) {
        stays.emplace(*parent, (*parent)->position());
        place.parent = (*parent)->id();
        place.parent_position = (*parent)->position();
    }
    CatalogueEntry entry = entry_for_import(header, place);
    entry.model = backend_.info().name;
    entry.snapshot.text = beginning_of_text(backend_.vocabulary(), entry.snapshot.tokens);
    auto snapshot = store_.take_in(
        entry, [&](const CacheDirectory &directory) { return extract_files(directory, path, header, entry); });
    if (!snapshot) return fail(snapshot.error());
    const auto published = index_.publish(std::move(*reservation), *snapshot);
    addresses_.emplace(snapshot->get(), Address{.ns = header.ns, .ref = published.ref});
    return ImportReport{(*snapshot)->id(), false};
}

Status PrefixCache::Impl::describe_holder(std::string_view holder) {
    return store_.disk() == nullptr ? Status{} : store_.disk()->describe_holder(holder);
}

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
