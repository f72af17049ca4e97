#include "store/snapshot_store.h"

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "base/check.h"
#include "store/eviction_plan.h"

namespace cairn {
namespace {

/// Errors that say nothing about the payload: it stays.
bool payload_is_innocent(ErrorCode code) {
    return code == ErrorCode::capacity || code == ErrorCode::device;
}

}  // namespace

SnapshotStore::SnapshotStore(Backend &backend, const StoreBudgets &budgets, SnapshotAdvisor &advisor, Env &env,
                             Metrics &metrics)
    : backend_(backend),
      advisor_(advisor),
      env_(env),
      metrics_(metrics),
      arena_(budgets.ram_bytes),
      device_(backend, budgets.device),
      places_("snapshots", budgets.max_snapshots) {
    metrics_.set(Metric::ram_budget_bytes, static_cast<double>(arena_.budget()));
    metrics_.set(Metric::device_budget_bytes, static_cast<double>(device_.max_parked() == 0 ? 0 : device_.budget()));
    show();
}

SnapshotStore::~SnapshotStore() {
    clear();
}

// -- new snapshots -------------------------------------------------------------------------------------------------

Result<SnapshotPtr> SnapshotStore::open(TokenPos position, CheckpointKind kind) {
    auto place = places_.reserve(1);
    if (!place && evict_one()) place = places_.reserve(1);
    if (!place) return fail(place.error());
    return std::make_shared<Snapshot>(position, kind, std::move(*place), env_.now_s());
}

Status SnapshotStore::park(Snapshot &snapshot, SeqId seq) {
    CAIRN_CHECK(backend_.length(seq) == snapshot.position(), "{} tokens for a snapshot of {}", backend_.length(seq),
                snapshot.position());
    if (!device_.could_hold(seq)) return fail(ErrorCode::capacity, "The state is larger than the device budget.");
    while (!device_.has_room_for(seq)) {
        Snapshot *victim = least_valuable_parked();
        if (victim == nullptr) return fail(ErrorCode::capacity, "All snapshots on the device are in use.");
        demote(*victim);
    }
    const double start = env_.now_s();
    auto parked = device_.park(seq);
    if (!parked) return fail(parked.error());
    metrics_.observe(Metric::capture_seconds, env_.now_s() - start, name_of(Tier::device));
    snapshot.put_on_device(std::move(*parked));
    show();
    return {};
}

Status SnapshotStore::capture(Snapshot &snapshot, SeqId seq, const RowsRef &known) {
    CAIRN_CHECK(backend_.length(seq) == snapshot.position(), "{} tokens for a snapshot of {}", backend_.length(seq),
                snapshot.position());
    auto payload = capture_from(seq, snapshot.position(), known, std::nullopt);
    if (!payload) return fail(payload.error());
    snapshot.put_in_ram(std::move(*payload));
    show();
    return {};
}

void SnapshotStore::track(SnapshotPtr snapshot) {
    CAIRN_CHECK(snapshot->restorable() && snapshot->tracked_at_ == Snapshot::kUntracked,
                "tracking a snapshot that is {}", name_of(snapshot->residency()));
    snapshot->tracked_at_ = live_.size();
    live_.push_back(std::move(snapshot));
    show();
}

template <class Source>
Result<RamPayload> SnapshotStore::capture_from(Source source, TokenPos position, const RowsRef &known,
                                               std::optional<double> ceiling) {
    const StateLayout &layout = backend_.layout();
    CAIRN_CHECK(known.end <= position, "rows up to {} are known of {}", known.end, position);
    std::size_t rows_bytes = 0;
    if (layout.has_rows && known.end < position) {
        const auto size = backend_.rows_size(source, TokenSpan{known.end, position});
        if (!size) return fail(size.error());
        rows_bytes = *size;
    }
    std::size_t boundary_bytes = 0;
    if (layout.has_boundary) {
        const auto size = backend_.boundary_size(source);
        if (!size) return fail(size.error());
        boundary_bytes = *size;
    }
    if (auto room = make_room(rows_bytes, boundary_bytes, known, ceiling); !room) return fail(room.error());
    auto rows = arena_.allocate(rows_bytes);
    if (!rows) return fail(rows.error());
    auto boundary = arena_.allocate(boundary_bytes);
    if (!boundary) return fail(boundary.error());
    return copy_out(source, position, known, std::move(*rows), std::move(*boundary));
}

template <class Source>
Result<RamPayload> SnapshotStore::copy_out(Source source, TokenPos position, const RowsRef &known, RamBlock rows,
                                           RamBlock boundary) {
    const StateLayout &layout = backend_.layout();
    const TokenSpan span{layout.has_rows ? known.end : position, position};
    RamPayload payload;
    if (!span.empty() || layout.has_boundary) {
        const double start = env_.now_s();
        const auto captured = backend_.capture(source, span, rows.bytes(), boundary.bytes());
        if (!captured) return fail(captured.error());
        metrics_.observe(Metric::capture_seconds, env_.now_s() - start, name_of(Tier::ram));
        CAIRN_CHECK(captured->rows <= rows.size() && captured->boundary <= boundary.size(),
                    "a capture exceeds its bounds");
        rows.shrink(captured->rows);
        boundary.shrink(captured->boundary);
    }
    payload.boundary = std::move(boundary);
    if (!layout.has_rows) return payload;
    payload.rows = span.empty() ? known.cut(position)
                                : RowsRef{std::make_shared<RowSegment>(known.segment, span, std::move(rows)), position};
    return payload;
}

Status SnapshotStore::make_room(std::size_t rows, std::size_t boundary, const RowsRef &pinned,
                                std::optional<double> ceiling) {
    const auto needed = RamArena::footprint(rows, boundary);
    if (!needed || *needed > arena_.budget()) {
        return fail(ErrorCode::capacity, "The state is larger than the RAM budget of {} bytes.", arena_.budget());
    }
    const std::size_t free = arena_.budget() - arena_.used();
    if (*needed <= free) return {};
    const auto plan =
        plan_eviction(live_, {.bytes = *needed - free,
                              .pinned = pinned,
                              .value = [&](const Snapshot &s, std::size_t freed) { return advisor_.value(s, freed); },
                              .ceiling = ceiling});
    if (!plan) {
        return fail(ErrorCode::capacity, "No room for {} bytes in RAM: what is there is in use or worth more.",
                    *needed);
    }
    for (Snapshot *snapshot : *plan) {
        metrics_.add(Metric::snapshots_evicted_total, 1, name_of(Tier::ram));
        drop_ram(*snapshot);
    }
    return {};
}

// -- using them ----------------------------------------------------------------------------------------------------

Result<Tier> SnapshotStore::restore(const SnapshotLease &lease, SeqId seq) {
    Snapshot &snapshot = lease.snapshot();
    CAIRN_CHECK(backend_.length(seq) == 0, "restoring into a sequence of {} tokens", backend_.length(seq));
    Status done = fail(ErrorCode::not_found, "The snapshot is gone.");
    while (const auto tier = snapshot.tier()) {
        const double start = env_.now_s();
        done = *tier == Tier::device ? restore_parked(lease, seq) : restore_ram(lease, seq);
        if (done) {
            const double now = env_.now_s();
            metrics_.observe(Metric::restore_seconds, now - start, name_of(*tier));
            metrics_.add(Metric::cache_hits_total, 1, name_of(*tier));
            snapshot.count_hit(now);
            return *tier;
        }
        backend_.clear(seq);
        if (payload_is_innocent(done.error().code)) break;
        *tier == Tier::device ? drop_device(snapshot) : drop_ram(snapshot);
    }
    show();
    return fail(done.error());
}

Status SnapshotStore::restore_parked(const SnapshotLease &lease, SeqId seq) {
    return backend_.adopt(lease.snapshot().parked().id(), seq, lease.length());
}

Status SnapshotStore::restore_ram(const SnapshotLease &lease, SeqId seq) {
    const RamPayload &ram = lease.snapshot().ram();
    CAIRN_CHECK(ram.boundary.empty() || lease.length() == lease.snapshot().position(), "a boundary cut at {}",
                lease.length());
    const RowsRef rows = backend_.layout().has_rows ? ram.rows.cut(lease.length()) : RowsRef{};
    auto done = backend_.restore(seq, rows.payloads(), ram.boundary.bytes(), lease.length());
    // Which payload of the chain is bad is not known. Nothing new is built on any of them until one is proven by use.
    if (done || !payload_is_innocent(done.error().code)) rows.mark_suspect(!done);
    return done;
}

void SnapshotStore::promote(Snapshot &snapshot, SeqId seq) {
    if (snapshot.residency() != Residency::ram || backend_.length(seq) != snapshot.position()) return;
    if (!device_.has_room_for(seq)) return;
    auto parked = device_.park(seq);
    if (parked) snapshot.put_on_device(std::move(*parked));
    show();
}

// -- giving up -----------------------------------------------------------------------------------------------------

TokenPos SnapshotStore::free_cells(TokenPos cells) {
    const TokenPos before = backend_.cells_used();
    while (before - backend_.cells_used() < cells && backend_.cells_only_parked() > 0) {
        Snapshot *victim = least_valuable_parked();
        if (victim == nullptr) break;
        demote(*victim);
    }
    return before - backend_.cells_used();
}

bool SnapshotStore::lower_cell_tax() {
    if (!device_.over_cell_limit()) return false;
    Snapshot *victim = least_valuable_parked();
    if (victim == nullptr) return false;
    demote(*victim);
    return true;
}

bool SnapshotStore::write_behind() {
    if (arena_.budget() == 0) return false;
    std::vector<std::pair<double, Snapshot *>> candidates;
    for (const SnapshotPtr &snapshot : live_) {
        if (snapshot->residency() != Residency::device || snapshot->write_behind_failed_) continue;
        candidates.emplace_back(advisor_.value(*snapshot, full_bytes(*snapshot)), snapshot.get());
    }
    std::sort(candidates.begin(), candidates.end(), [](const auto &a, const auto &b) { return a.first > b.first; });
    for (const auto &[value, snapshot] : candidates) {
        auto payload = capture_from(snapshot->parked().id(), snapshot->position(), advisor_.rows_for(*snapshot), value);
        if (payload) {
            snapshot->put_in_ram(std::move(*payload));
            show();
            return true;
        }
        snapshot->write_behind_failed_ = payload.error().code != ErrorCode::capacity;
    }
    show();
    return false;
}

void SnapshotStore::demote(Snapshot &snapshot) {
    if (!snapshot.in_ram()) {
        const double value = advisor_.value(snapshot, full_bytes(snapshot));
        auto payload = capture_from(snapshot.parked().id(), snapshot.position(), advisor_.rows_for(snapshot), value);
        if (payload) snapshot.put_in_ram(std::move(*payload));
    }
    const bool kept = snapshot.in_ram();
    metrics_.add(kept ? Metric::snapshots_demoted_total : Metric::snapshots_evicted_total, 1,
                 name_of(kept ? Tier::ram : Tier::device));
    drop_device(snapshot);
    show();
}

Snapshot *SnapshotStore::least_valuable_parked() const {
    Snapshot *least = nullptr;
    double least_value = 0;
    for (const SnapshotPtr &snapshot : live_) {
        if (!snapshot->on_device() || snapshot->leased()) continue;
        const double value = advisor_.value(*snapshot, full_bytes(*snapshot));
        if (least != nullptr && value >= least_value) continue;
        least = snapshot.get();
        least_value = value;
    }
    return least;
}

bool SnapshotStore::evict_one() {
    Snapshot *least = nullptr;
    double least_value = 0;
    for (const SnapshotPtr &snapshot : live_) {
        if (snapshot->leased()) continue;
        const double value = advisor_.value(*snapshot, full_bytes(*snapshot));
        if (least != nullptr && value >= least_value) continue;
        least = snapshot.get();
        least_value = value;
    }
    if (least == nullptr) return false;
    const SnapshotPtr keep = live_[least->tracked_at_];
    metrics_.add(Metric::snapshots_evicted_total, 1, name_of(*least->tier()));
    if (keep->on_device()) drop_device(*keep);
    if (keep->in_ram()) drop_ram(*keep);
    return true;
}

void SnapshotStore::clear() {
    while (!live_.empty()) {
        const SnapshotPtr snapshot = live_.back();
        if (snapshot->on_device()) drop_device(*snapshot);
        if (snapshot->in_ram()) drop_ram(*snapshot);
    }
    show();
}

void SnapshotStore::drop_device(Snapshot &snapshot) {
    snapshot.drop_device();
    untrack_if_gone(snapshot);
}

void SnapshotStore::drop_ram(Snapshot &snapshot) {
    snapshot.drop_ram();
    untrack_if_gone(snapshot);
}

void SnapshotStore::untrack_if_gone(Snapshot &snapshot) {
    if (!snapshot.gone()) return;
    const std::size_t at = snapshot.tracked_at_;
    CAIRN_CHECK(at < live_.size() && live_[at].get() == &snapshot, "an untracked snapshot is dropped");
    const SnapshotPtr keep = std::move(live_[at]);
    if (at + 1 != live_.size()) {
        live_[at] = std::move(live_.back());
        live_[at]->tracked_at_ = at;
    }
    live_.pop_back();
    keep->tracked_at_ = Snapshot::kUntracked;
    advisor_.forget(*keep);
}

// -- facts ---------------------------------------------------------------------------------------------------------

std::size_t SnapshotStore::full_bytes(const Snapshot &snapshot) const {
    const StateLayout &layout = backend_.layout();
    return layout.boundary_bytes + layout.row_bytes * static_cast<std::size_t>(snapshot.position());
}

std::size_t SnapshotStore::leases() const noexcept {
    std::size_t sum = 0;
    for (const SnapshotPtr &snapshot : live_)
        sum += snapshot->leases();
    return sum;
}

void SnapshotStore::show() const {
    metrics_.set(Metric::snapshots, static_cast<double>(live_.size()));
    metrics_.set(Metric::device_bytes, static_cast<double>(device_.bytes()));
    metrics_.set(Metric::ram_bytes, static_cast<double>(arena_.used()));
}

void SnapshotStore::check_invariants() const {
    arena_.check_invariants();
    device_.check_invariants();
    CAIRN_CHECK(places_.used() == live_.size() && live_.size() <= places_.limit(), "{} places for {} snapshots",
                places_.used(), live_.size());
    const StateLayout &layout = backend_.layout();
    std::unordered_set<const RowSegment *> segments;
    std::size_t ram = 0;
    std::size_t parked = 0;
    for (std::size_t i = 0; i < live_.size(); ++i) {
        const Snapshot &s = *live_[i];
        CAIRN_CHECK(s.tracked_at_ == i && s.restorable(), "snapshot {} is {}", i, name_of(s.residency()));
        if (s.on_device()) {
            ++parked;
            CAIRN_CHECK(backend_.length(s.parked().id()) == s.position(), "a parked state is not its snapshot's");
        }
        if (!s.in_ram()) continue;
        CAIRN_CHECK(s.ram().boundary.empty() != layout.has_boundary, "a boundary is missing or too much");
        CAIRN_CHECK(!layout.has_rows || s.ram().rows.end == s.position(), "rows do not reach their snapshot");
        ram += s.ram().boundary.footprint();
        TokenPos covered = layout.has_rows ? s.position() : 0;
        for (const RowSegment *at = s.ram().rows.segment.get(); at != nullptr; at = at->parent().get()) {
            CAIRN_CHECK(at->span().begin < covered && covered <= at->span().end, "a gap in the rows at {}", covered);
            covered = at->span().begin;
            if (segments.insert(at).second) ram += at->block().footprint();
        }
        CAIRN_CHECK(covered == 0, "rows before {} are missing", covered);
    }
    CAIRN_CHECK(parked == device_.parked(), "{} of {} parked states have a snapshot", parked, device_.parked());
    CAIRN_CHECK(ram == arena_.used(), "payloads are {} bytes, {} are accounted", ram, arena_.used());
}

}  // namespace cairn
