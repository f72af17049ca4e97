#include "store/snapshot_store.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "base/check.h"
#include "store/eviction_plan.h"

namespace cairn {
SnapshotStore::SnapshotStore(Backend &backend, const StoreBudgets &budgets, std::unique_ptr<DiskTier> disk,
                             SnapshotAdvisor &advisor, Env &env, Metrics &metrics)
    : backend_(backend),
      advisor_(advisor),
      env_(env),
      metrics_(metrics),
      arena_(budgets.ram_bytes),
      device_(backend, budgets.device),
      places_("snapshots", budgets.max_snapshots),
      disk_(std::move(disk)) {
    metrics_.set(Metric::ram_budget_bytes, static_cast<double>(arena_.budget()));
    metrics_.set(Metric::device_budget_bytes, static_cast<double>(device_.max_parked() == 0 ? 0 : device_.budget()));
    show();
}

SnapshotStore::~SnapshotStore() {
    finish_pending();
    note_uses();
    if (disk_ != nullptr) {
        disk_->flush();
        disk_->keep_files();
    }
    clear();
}

// -- new snapshots -------------------------------------------------------------------------------------------------

Result<SnapshotPtr> SnapshotStore::open(TokenPos position, CheckpointKind kind) {
    auto place = places_.reserve(1);
    if (!place && evict_one()) place = places_.reserve(1);
    if (!place) return fail(place.error());
    return std::make_shared<Snapshot>(next_id(), position, kind, std::move(*place), env_.now_s());
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

Status SnapshotStore::capture(Snapshot &snapshot, SeqId seq, TokenView tokens, const RowsRef &known) {
    CAIRN_CHECK(backend_.length(seq) == snapshot.position() && std::cmp_equal(tokens.size(), snapshot.position()),
                "{} tokens for a snapshot of {}", backend_.length(seq), snapshot.position());
    auto captured = capture_from(seq, tokens, known, std::nullopt);
    if (!captured) return fail(captured.error());
    snapshot.put_in_ram(std::move(captured->rows), std::move(captured->boundary));
    show();
    return {};
}

void SnapshotStore::track(SnapshotPtr snapshot) {
    CAIRN_CHECK(snapshot->restorable() && snapshot->tracked_at_ == Snapshot::kUntracked,
                "tracking a snapshot that is {}", snapshot->where());
    snapshot->tracked_at_ = live_.size();
    snapshot->created_unix_s_ = env_.unix_time_s();
    Snapshot &tracked = *snapshot;
    live_.push_back(std::move(snapshot));
    settle_place(tracked);
    show();
}

template <class Source>
Result<SnapshotStore::Captured> SnapshotStore::capture_from(Source source, TokenView tokens, const RowsRef &known,
                                                            std::optional<double> ceiling) {
    const StateLayout &layout = backend_.layout();
    const auto position = static_cast<TokenPos>(tokens.size());
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
    return copy_out(source, tokens, known, std::move(*rows), std::move(*boundary));
}

template <class Source>
Result<SnapshotStore::Captured> SnapshotStore::copy_out(Source source, TokenView tokens, const RowsRef &known,
                                                        RamBlock rows, RamBlock boundary) {
    const StateLayout &layout = backend_.layout();
    const auto position = static_cast<TokenPos>(tokens.size());
    const TokenSpan span{layout.has_rows ? known.end : position, position};
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
    if (!layout.has_rows) return Captured{{}, std::move(boundary)};
    if (span.empty()) return Captured{known.cut(position), std::move(boundary)};
    const TokenView own = tokens.subspan(static_cast<std::size_t>(span.begin));
    auto segment = std::make_shared<RowSegment>(known.segment, span, std::move(rows), Tokens(own.begin(), own.end()));
    return Captured{RowsRef{std::move(segment), position}, std::move(boundary)};
}

Status SnapshotStore::make_room(std::size_t rows, std::size_t boundary, const RowsRef &pinned,
                                std::optional<double> ceiling) {
    const auto needed = RamArena::footprint(rows, boundary);
    if (!needed || *needed > arena_.budget()) {
        return fail(ErrorCode::capacity, "The state is larger than the RAM budget of {} bytes.", arena_.budget());
    }
    const std::size_t free = arena_.budget() - arena_.used();
    if (*needed <= free) return {};
    const auto plan = plan_eviction(
        near(), {.tier = Tier::ram,
                 .bytes = *needed - free,
                 .pinned = pinned,
                 .value = [&](const Snapshot &s, std::size_t freed) { return advisor_.value(s, Tier::ram, freed); },
                 .ceiling = ceiling});
    if (!plan) {
        return fail(ErrorCode::capacity, "No room for {} bytes in RAM: what is there is in use or worth more.",
                    *needed);
    }
    for (Snapshot *snapshot : *plan) {
        metrics_.add(snapshot->on_disk() ? Metric::snapshots_demoted_total : Metric::snapshots_evicted_total, 1,
                     name_of(snapshot->on_disk() ? Tier::disk : Tier::ram));
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
        done = *tier == Tier::device ? restore_parked(lease, seq) : restore_bytes(lease, seq);
        if (done) {
            const double now = env_.now_s();
            metrics_.observe(Metric::restore_seconds, now - start, name_of(*tier));
            metrics_.add(Metric::cache_hits_total, 1, name_of(*tier));
            snapshot.count_hit(now);
            if (disk_ != nullptr && snapshot.tracked_at_ != Snapshot::kUntracked) {
                used_.push_back(live_[snapshot.tracked_at_]);
            }
            return *tier;
        }
        backend_.clear(seq);
        if (payload_is_innocent(done.error().code)) break;
        drop_after_failure(snapshot, *tier);
    }
    show();
    return fail(done.error());
}

void SnapshotStore::drop_after_failure(Snapshot &snapshot, Tier tier) {
    if (snapshot.tier() != tier) return;  // whoever found the damage has dropped it already
    if (pending_ && &pending_->lease.snapshot() == &snapshot) finish_pending();
    if (tier == Tier::device) return drop_device(snapshot);
    // In RAM alone: the file may be sound. Read from disk: no other bytes are left.
    if (snapshot.in_ram()) drop_ram(snapshot);
    if (tier == Tier::disk && snapshot.on_disk()) drop_disk(snapshot);
}

Status SnapshotStore::restore_parked(const SnapshotLease &lease, SeqId seq) {
    return backend_.adopt(lease.snapshot().parked().id(), seq, lease.length());
}

void SnapshotStore::promote(Snapshot &snapshot, SeqId seq) {
    if (snapshot.on_device() || snapshot.gone() || backend_.length(seq) != snapshot.position()) return;
    if (!device_.has_room_for(seq)) return;
    auto parked = device_.park(seq);
    if (parked) snapshot.put_on_device(std::move(*parked));
    settle_place(snapshot);
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

bool SnapshotStore::move_off_device(Snapshot &snapshot) {
    if (!snapshot.on_device()) return true;
    if (!snapshot.in_ram() && !snapshot.on_disk() && !copy_to_ram(snapshot, std::nullopt)) return false;
    metrics_.add(Metric::snapshots_demoted_total, 1, name_of(snapshot.in_ram() ? Tier::ram : Tier::disk));
    drop_device(snapshot);
    show();
    return true;
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
    for (const SnapshotPtr &snapshot : near()) {
        if (snapshot->in_ram() || snapshot->on_disk() || snapshot->write_behind_failed_) continue;
        candidates.emplace_back(advisor_.value(*snapshot, Tier::ram, full_bytes(*snapshot)), snapshot.get());
    }
    std::sort(candidates.begin(), candidates.end(), [](const auto &a, const auto &b) { return a.first > b.first; });
    for (const auto &[value, snapshot] : candidates) {
        if (copy_to_ram(*snapshot, value)) return true;
    }
    return false;
}

bool SnapshotStore::copy_to_ram(Snapshot &snapshot, std::optional<double> ceiling) {
    auto captured =
        capture_from(snapshot.parked().id(), advisor_.origin_of(snapshot).tokens, advisor_.rows_for(snapshot), ceiling);
    if (captured) {
        snapshot.put_in_ram(std::move(captured->rows), std::move(captured->boundary));
    } else {
        snapshot.write_behind_failed_ = captured.error().code != ErrorCode::capacity;
    }
    show();
    return captured.has_value();
}

void SnapshotStore::demote(Snapshot &snapshot) {
    if (!snapshot.in_ram() && !snapshot.on_disk()) {
        (void)copy_to_ram(snapshot, advisor_.value(snapshot, Tier::ram, full_bytes(snapshot)));
    }
    const bool kept = snapshot.in_ram() || snapshot.on_disk();
    metrics_.add(kept ? Metric::snapshots_demoted_total : Metric::snapshots_evicted_total, 1,
                 name_of(!kept               ? Tier::device
                         : snapshot.in_ram() ? Tier::ram
                                             : Tier::disk));
    drop_device(snapshot);
    show();
}

Snapshot *SnapshotStore::least_valuable_parked() const {
    Snapshot *least = nullptr;
    double least_value = 0;
    for (const SnapshotPtr &snapshot : near()) {
        if (!snapshot->on_device() || snapshot->leased()) continue;
        const double value = advisor_.value(*snapshot, Tier::device, full_bytes(*snapshot));
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
        const double value = advisor_.value(*snapshot, Tier::disk, full_bytes(*snapshot));
        if (least != nullptr && value >= least_value) continue;
        least = snapshot.get();
        least_value = value;
    }
    if (least == nullptr) return false;
    metrics_.add(Metric::snapshots_evicted_total, 1, name_of(*least->tier()));
    drop_everywhere(*least);
    return true;
}

bool SnapshotStore::remove(Snapshot &snapshot) {
    if (snapshot.leased() || snapshot.gone()) return false;
    drop_everywhere(snapshot);
    show();
    return true;
}

void SnapshotStore::clear() {
    finish_pending();
    while (!live_.empty())
        drop_everywhere(*live_.back());
    if (disk_ != nullptr) disk_->flush();
    show();
}

void SnapshotStore::drop_device(Snapshot &snapshot) {
    snapshot.drop_device();
    settle_place(snapshot);
}

void SnapshotStore::drop_ram(Snapshot &snapshot) {
    snapshot.drop_ram();
    settle_place(snapshot);
}

void SnapshotStore::drop_disk(Snapshot &snapshot) {
    disk_->remove_snapshot(snapshot.id());
    snapshot.drop_disk();
    settle_place(snapshot);
}

void SnapshotStore::drop_everywhere(Snapshot &snapshot) {
    const SnapshotPtr keep = live_[snapshot.tracked_at_];
    if (keep->on_device()) drop_device(*keep);
    if (keep->in_ram()) drop_ram(*keep);
    if (keep->on_disk()) drop_disk(*keep);
}

// Near ones lie before far ones in the list, so that what is done for each step never looks at the many on disk.
void SnapshotStore::settle_place(Snapshot &snapshot) {
    const std::size_t at = snapshot.tracked_at_;
    if (at == Snapshot::kUntracked) return;
    CAIRN_CHECK(at < live_.size() && live_[at].get() == &snapshot, "an untracked snapshot moves");
    const bool near = snapshot.on_device() || snapshot.in_ram();
    if (near && at >= near_) move_to(near_++, snapshot);
    if (!near && at < near_) move_to(--near_, snapshot);
    if (!snapshot.gone()) return;
    move_to(live_.size() - 1, snapshot);
    const SnapshotPtr keep = std::move(live_.back());
    live_.pop_back();
    keep->tracked_at_ = Snapshot::kUntracked;
    advisor_.forget(*keep);
}

void SnapshotStore::move_to(std::size_t to, Snapshot &snapshot) {
    const std::size_t from = snapshot.tracked_at_;
    std::swap(live_[from], live_[to]);
    live_[from]->tracked_at_ = from;
    live_[to]->tracked_at_ = to;
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
    metrics_.set(Metric::device_bytes, static_cast<double>(device_.bytes()));
    metrics_.set(Metric::ram_bytes, static_cast<double>(arena_.used()));
}

void SnapshotStore::check_snapshot(const Snapshot &s, std::size_t at) const {
    const StateLayout &layout = backend_.layout();
    CAIRN_CHECK(s.tracked_at_ == at && s.restorable(), "snapshot {} is {}", at, s.where());
    CAIRN_CHECK((at < near_) == (s.on_device() || s.in_ram()), "snapshot {} of {} near ones is {}", at, near_,
                s.where());
    if (s.on_device()) {
        CAIRN_CHECK(backend_.length(s.parked().id()) == s.position(), "a parked state is not its snapshot's");
    }
    CAIRN_CHECK(!s.on_disk() || s.rows().all_on_disk(), "rows on disk without a file");
    if (!s.in_ram()) return;
    CAIRN_CHECK(s.boundary_block().empty() != layout.has_boundary, "a boundary is missing or too much");
    CAIRN_CHECK(!layout.has_rows || s.rows().end == s.position(), "rows do not reach their snapshot");
}

void SnapshotStore::check_invariants() const {
    arena_.check_invariants();
    device_.check_invariants();
    CAIRN_CHECK(places_.used() == live_.size() && live_.size() <= places_.limit(), "{} places for {} snapshots",
                places_.used(), live_.size());
    std::unordered_map<const RowSegment *, std::pair<std::size_t, std::size_t>> users;  // in RAM, on disk
    std::size_t ram = 0;
    std::size_t disk = 0;
    std::size_t parked = 0;
    for (std::size_t i = 0; i < live_.size(); ++i) {
        const Snapshot &s = *live_[i];
        check_snapshot(s, i);
        parked += s.on_device() ? 1 : 0;
        ram += s.boundary_block().footprint();
        disk += s.boundary_file() == nullptr ? 0 : s.boundary_file()->footprint();
        TokenPos covered = s.rows().end;
        for (const RowSegment *at = s.rows().segment.get(); at != nullptr; at = at->parent().get()) {
            CAIRN_CHECK(at->span().begin < covered && covered <= at->span().end, "a gap in the rows at {}", covered);
            covered = at->span().begin;
            auto &[in_ram, on_disk] = users[at];
            in_ram += s.in_ram() ? 1 : 0;
            on_disk += s.on_disk() ? 1 : 0;
        }
        CAIRN_CHECK(covered == 0, "rows before {} are missing", covered);
    }
    if (pending_) {
        for (const RowSegment *segment : pending_->rows.rows().chain())
            ++users[segment].second;
    }
    for (const auto &[segment, counts] : users) {
        CAIRN_CHECK(segment->users(Tier::ram) == counts.first && segment->users(Tier::disk) == counts.second,
                    "rows [{}, {}) have {} users in RAM and {} on disk, {} and {} are counted", segment->span().begin,
                    segment->span().end, counts.first, counts.second, segment->users(Tier::ram),
                    segment->users(Tier::disk));
        CAIRN_CHECK(!segment->block().empty() || segment->file() != nullptr, "rows without bytes");
        ram += segment->block().footprint();
        disk += segment->file() == nullptr ? 0 : segment->file()->footprint();
    }
    if (pending_) {
        for (const Reservation &space : pending_->space)
            disk += space.amount();
    }
    CAIRN_CHECK(parked == device_.parked(), "{} of {} parked states have a snapshot", parked, device_.parked());
    CAIRN_CHECK(ram == arena_.used(), "payloads are {} bytes, {} are accounted", ram, arena_.used());
    CAIRN_CHECK(disk == disk_bytes() && (disk_ == nullptr || disk <= disk_->budget()),
                "files are {} bytes, {} are accounted", disk, disk_bytes());
}

}  // namespace cairn
