// SnapshotStore's dealings with its disk tier: what is written next, and what was there before.
#include <algorithm>
#include <limits>
#include <memory>
#include <unordered_map>
#include <utility>

#include "base/check.h"
#include "store/eviction_plan.h"
#include "store/snapshot_store.h"
#include "store/text_beginning.h"

namespace cairn {
namespace {

/// Looking for something to write is a pass over the snapshots in memory. Unit: seconds between two.
constexpr double kScanEvery = 0.1;
/// An idle engine looks this often whether a state has settled; while the writer works, whether it is done.
constexpr double kLookWhileWaiting = 0.25;
constexpr double kLookWhileWriting = 0.01;
/// After failures: 1 s, then twice as long each time.
constexpr double kLongestPause = 60;
/// When the disk is full so much more than needed is freed, since each time is a pass over all snapshots on it.
constexpr std::size_t kRoomShare = 32;

}  // namespace

// -- writing -------------------------------------------------------------------------------------------------------

void SnapshotStore::tend_disk() {
    if (disk_ == nullptr) return;
    if (const auto outcome = disk_->poll()) finish_write(*outcome);
    const double now = env_.now_s();
    if (disk_->writing() || now < next_scan_s_ || now < write_again_s_) return;
    next_scan_s_ = now + kScanEvery;
    note_uses();
    disk_->flush();
    Snapshot *next = next_to_write(false);
    if (next == nullptr) return;
    if (auto started = start_write(*next); !started) {
        next->not_before_s_ = now + kLongestPause;
        metrics_.add(Metric::disk_refused_total, 1, name_of(started.error().code));
    }
}

std::optional<double> SnapshotStore::disk_wakes_in() const {
    if (disk_ == nullptr) return std::nullopt;
    if (disk_->writing()) return kLookWhileWriting;
    const auto near_ones = near();
    const bool waiting = !used_.empty() || std::any_of(near_ones.begin(), near_ones.end(),
                                                       [](const SnapshotPtr &s) { return !s->on_disk(); });
    return waiting ? std::optional(kLookWhileWaiting) : std::nullopt;
}

void SnapshotStore::save(double deadline_s) {
    if (disk_ == nullptr) return;
    finish_pending();
    while (env_.now_s() < deadline_s) {
        Snapshot *next = next_to_write(true);
        if (next == nullptr) break;
        // Whatever goes wrong with one, the next one has its turn.
        next->not_before_s_ = deadline_s;
        if (!next->in_ram() && !copy_to_ram(*next, std::nullopt)) continue;
        if (start_write(*next)) finish_pending();
    }
    note_uses();
    disk_->settle();
}

/// The most valuable one that is worth it. While the program runs only what is in RAM; at its end also what is parked.
Snapshot *SnapshotStore::next_to_write(bool leaving) {
    Snapshot *best = nullptr;
    double best_value = 0;
    const double now = env_.now_s();
    for (const SnapshotPtr &snapshot : near()) {
        if (snapshot->on_disk() || now < snapshot->not_before_s_) continue;
        if (!leaving && !snapshot->in_ram()) continue;
        const std::size_t bytes = bytes_to_write(*snapshot);
        if (!advisor_.worth_writing(*snapshot, bytes, leaving)) continue;
        const double value = advisor_.value(*snapshot, Tier::disk, bytes);
        if (best != nullptr && value <= best_value) continue;
        best = snapshot.get();
        best_value = value;
    }
    return best;
}

std::size_t SnapshotStore::bytes_to_write(const Snapshot &snapshot) const {
    if (!snapshot.in_ram()) return full_bytes(snapshot);
    std::size_t bytes = snapshot.boundary_block().size();
    for (const RowSegment *at = snapshot.rows().segment.get(); at != nullptr; at = at->parent().get()) {
        if (at->file() == nullptr) bytes += at->block().size();
    }
    return bytes;
}

Status SnapshotStore::start_write(Snapshot &snapshot) {
    CAIRN_CHECK(snapshot.in_ram() && !snapshot.on_disk() && !pending_, "writing a snapshot that is {}",
                snapshot.where());
    PendingWrite write = plan_write(snapshot);
    if (auto room = reserve_disk(write); !room) return room;
    // After room was made: whoever had to leave is no parent in the catalogue any more.
    WriteOrder order = order_of(write);
    pending_ = std::move(write);
    disk_->write(std::move(order));
    return {};
}

SnapshotStore::PendingWrite SnapshotStore::plan_write(Snapshot &snapshot) {
    PendingWrite write{.lease = SnapshotLease(live_[snapshot.tracked_at_], snapshot.position()),
                       .rows = RowsUse(snapshot.rows(), Tier::disk)};
    const auto add = [&](PayloadKind kind, TokenSpan span, const RamBlock &block) {
        const auto tokens = static_cast<std::size_t>(span.length());
        write.payloads.push_back({disk_->next_id(), kind, kind == PayloadKind::rows ? write.last_rows : 0, span,
                                  block.size(), payload_file_bytes(block.size(), tokens)});
        write.pins.push_back(block.pin());
        return write.payloads.back().id;
    };
    for (RowSegment *segment : snapshot.rows().chain()) {
        if (segment->file() != nullptr) {
            write.last_rows = segment->file()->id();
        } else {
            write.last_rows = add(PayloadKind::rows, segment->span(), segment->block());
            write.segments.push_back(segment->shared_from_this());
        }
    }
    if (!snapshot.boundary_block().empty()) {
        const TokenSpan here{snapshot.position(), snapshot.position()};
        write.boundary = add(PayloadKind::boundary, here, snapshot.boundary_block());
    }
    return write;
}

WriteOrder SnapshotStore::order_of(const PendingWrite &write) {
    const Snapshot &snapshot = write.lease.snapshot();
    const SnapshotOrigin origin = advisor_.origin_of(snapshot);
    WriteOrder order;
    for (std::size_t i = 0; i < write.payloads.size(); ++i) {
        const StoredPayload &payload = write.payloads[i];
        Tokens path = origin.tokens;
        Bytes bytes = snapshot.boundary_block().bytes();
        if (i < write.segments.size()) {
            // Up to where it begins the segment's path is this snapshot's; behind a cut it is another's.
            const RowSegment &segment = *write.segments[i];
            path.resize(static_cast<std::size_t>(segment.span().begin));
            path.insert(path.end(), segment.tokens().begin(), segment.tokens().end());
            bytes = segment.block().bytes();
        }
        order.pieces.push_back({describe_payload(payload.kind, payload.id, origin.ns, path, payload.span), bytes});
    }
    const auto own = TokenView(origin.tokens).subspan(static_cast<std::size_t>(origin.stored_parent_depth));
    const auto idle_s = static_cast<std::int64_t>(env_.now_s() - snapshot.last_use_s());
    order.entry = {.ns = origin.ns,
                   .model = backend_.info().name,
                   .snapshot = {.id = snapshot.id(),
                                .parent = origin.stored_parent,
                                .position = snapshot.position(),
                                .tokens = Tokens(own.begin(), own.end()),
                                .kind = snapshot.kind(),
                                .rows = write.last_rows,
                                .boundary = write.boundary,
                                .created_unix_s = snapshot.created_unix_s_,
                                .last_use_unix_s = env_.unix_time_s() - idle_s,
                                .hits = snapshot.hits(),
                                .text = beginning_of_text(backend_.vocabulary(), own)},
                   .payloads = write.payloads};
    return order;
}

Status SnapshotStore::reserve_disk(PendingWrite &write) {
    std::size_t bytes = 0;
    for (const StoredPayload &payload : write.payloads)
        bytes += DiskTier::footprint(static_cast<std::size_t>(payload.file_bytes));
    if (bytes > disk_->budget()) {
        return fail(ErrorCode::capacity, "The state is larger than the disk budget of {} bytes.", disk_->budget());
    }
    const std::size_t used = std::min(disk_->used(), disk_->budget());
    // Judged by what it will take there, as those are that would have to leave.
    const double value = advisor_.value(write.lease.snapshot(), Tier::disk, bytes);
    if (bytes > disk_->budget() - used && !make_disk_room(bytes, value)) {
        return fail(ErrorCode::capacity, "No room for {} bytes on disk: what is there is in use or worth more.", bytes);
    }
    for (const StoredPayload &payload : write.payloads) {
        auto space = disk_->reserve(static_cast<std::size_t>(payload.file_bytes));
        if (!space) return fail(space.error());
        write.space.push_back(std::move(*space));
    }
    return {};
}

bool SnapshotStore::make_disk_room(std::size_t bytes, std::optional<double> ceiling) {
    const auto missing = [&] {
        const auto needed = checked_add(disk_->used(), bytes);
        return !needed ? bytes : *needed - std::min(*needed, disk_->budget());
    };
    EvictionRequest request{
        .tier = Tier::disk,
        .bytes = std::min(missing() + disk_->budget() / kRoomShare, disk_->used()),
        .value = [this](const Snapshot &s, std::size_t freed) { return advisor_.value(s, Tier::disk, freed); },
        .ceiling = ceiling};
    auto plan = plan_eviction(live_, request);
    if (!plan) {
        request.bytes = missing();
        plan = plan_eviction(live_, request);
    }
    if (!plan) return false;
    for (Snapshot *snapshot : *plan) {
        metrics_.add(Metric::snapshots_evicted_total, 1, name_of(Tier::disk));
        // Or those in RAM would be written again, and push each other out for ever.
        snapshot->not_before_s_ = std::numeric_limits<double>::infinity();
        drop_disk(*snapshot);
    }
    return missing() == 0;
}

void SnapshotStore::finish_pending() {
    if (!pending_) return;
    if (const auto outcome = disk_->wait()) finish_write(*outcome);
}

void SnapshotStore::finish_write(const WriteOutcome &outcome) {
    CAIRN_CHECK(pending_.has_value(), "an outcome of a write that nobody gave");
    PendingWrite write = std::move(*pending_);
    pending_.reset();
    Snapshot &snapshot = write.lease.snapshot();
    if (!outcome.status) {
        const ErrorCode code = outcome.status.error().code;
        metrics_.add(Metric::disk_failures_total, 1, std::string("write_") + name_of(code));
        write.space.clear();
        disk_->flush();  // what is used is told now: the next scan may be a minute away
        // A disk that is full or failing is left alone for a while, longer each time.
        write_again_s_ = env_.now_s() +
                         std::min(kLongestPause, static_cast<double>(1u << std::min<std::size_t>(failed_writes_++, 6)));
        return;
    }
    failed_writes_ = 0;
    metrics_.observe(Metric::disk_write_seconds, outcome.seconds);
    metrics_.add(Metric::disk_written_bytes_total, static_cast<double>(outcome.bytes));
    metrics_.add(Metric::snapshots_written_total, 1, name_of(snapshot.kind()));
    DiskFilePtr boundary;
    for (std::size_t i = 0; i < write.payloads.size(); ++i) {
        auto file = std::make_unique<DiskFile>(*disk_, write.payloads[i], std::move(write.space[i]));
        if (i < write.segments.size()) {
            write.segments[i]->put_on_disk(std::move(file));
        } else {
            boundary = std::move(file);
        }
    }
    snapshot.put_on_disk(write.rows.rows(), std::move(boundary));
    advisor_.note_written(snapshot, outcome.bytes, outcome.seconds);
}

void SnapshotStore::note_uses() {
    for (const SnapshotPtr &snapshot : std::exchange(used_, {})) {
        if (!snapshot->on_disk()) continue;
        const auto ago = static_cast<std::int64_t>(env_.now_s() - snapshot->last_use_s());
        disk_->note_use({snapshot->id(), env_.unix_time_s() - ago, snapshot->hits()});
    }
}

// -- what was there before -----------------------------------------------------------------------------------------

std::vector<SnapshotStore::Found> SnapshotStore::adopt_directory(const CatalogueContent &content) {
    std::vector<Found> found;
    const double now = env_.now_s();
    const std::int64_t unix_now = env_.unix_time_s();
    for (const StoredNamespace &ns : content.namespaces) {
        std::unordered_map<std::uint64_t, RowSegmentPtr> segments;
        std::unordered_map<std::uint64_t, DiskFilePtr> boundaries;
        for (const StoredPayload &payload : ns.payloads) {
            auto space = disk_->take_over(static_cast<std::size_t>(payload.file_bytes));
            auto file = std::make_unique<DiskFile>(*disk_, payload, std::move(space));
            if (payload.kind == PayloadKind::boundary) {
                boundaries.emplace(payload.id, std::move(file));
            } else {
                const RowSegmentPtr parent = payload.parent == 0 ? nullptr : segments.at(payload.parent);
                segments.emplace(payload.id, std::make_shared<RowSegment>(parent, payload.span, std::move(file)));
            }
        }
        for (const StoredSnapshot &row : ns.snapshots) {
            if (!row.live) continue;
            const RowsRef rows = row.rows == 0 ? RowsRef{} : RowsRef{segments.at(row.rows), row.position};
            DiskFilePtr boundary = row.boundary == 0 ? nullptr : std::move(boundaries[row.boundary]);
            if (!fits_layout(ns.key, rows, boundary.get(), row)) {
                disk_->remove_snapshot(row.id);
                continue;
            }
            const double ago = static_cast<double>(std::max<std::int64_t>(0, unix_now - row.last_use_unix_s));
            auto snapshot = std::make_shared<Snapshot>(row.id, row.position, row.kind, places_.take_over(1), now - ago);
            snapshot->put_on_disk(rows, std::move(boundary));
            snapshot->hits_ = row.hits;
            snapshot->published_s_ =
                now - static_cast<double>(std::max<std::int64_t>(0, unix_now - row.created_unix_s));
            track(snapshot);
            snapshot->created_unix_s_ = row.created_unix_s;
            found.push_back({snapshot, &ns, &row});
        }
    }
    metrics_.add(Metric::snapshots_found_total, static_cast<double>(found.size()));
    fit_budgets();
    std::erase_if(found, [](const Found &f) { return f.snapshot->gone(); });
    show();
    return found;
}

Result<SnapshotPtr> SnapshotStore::take_in(const CatalogueEntry &entry,
                                           std::function<Status(const CacheDirectory &)> write) {
    finish_pending();
    std::size_t bytes = 0;
    for (const StoredPayload &payload : entry.payloads)
        bytes += DiskTier::footprint(static_cast<std::size_t>(payload.file_bytes));
    const std::size_t free = disk_->budget() - std::min(disk_->used(), disk_->budget());
    if (bytes > free && (bytes > disk_->budget() || !make_disk_room(bytes, std::nullopt))) {
        return fail(ErrorCode::capacity, "{} bytes more do not fit the disk budget of {} bytes (--cache-disk).", bytes,
                    disk_->budget());
    }
    if (auto done = disk_->take_in(entry, std::move(write)); !done) return fail(done.error());
    CatalogueContent content;
    content.namespaces.push_back({entry.ns, entry.model, entry.payloads, {entry.snapshot}});
    const auto found = adopt_directory(content);
    if (!found.empty()) return found.front().snapshot;
    return fail(ErrorCode::unsupported,
                "The snapshot has not the shape of this model's state, or there is no place for it.");
}

/// The catalogue's word is checked: a snapshot that is not whole by the model's layout is none.
bool SnapshotStore::fits_layout(const NamespaceKey &ns, const RowsRef &rows, const DiskFile *boundary,
                                const StoredSnapshot &row) const {
    if (row.position <= 0 || (rows.segment == nullptr && boundary == nullptr)) return false;
    if (rows.segment != nullptr) {
        const TokenSpan span = rows.segment->span();
        if (span.begin >= row.position || row.position > span.end) return false;
    }
    if (ns.model != backend_.layout().fingerprint) return true;
    const StateLayout &layout = backend_.layout();
    return layout.has_rows == (rows.segment != nullptr) && layout.has_boundary == (boundary != nullptr);
}

void SnapshotStore::fit_budgets() {
    while (places_.used() > places_.limit() && evict_one()) {
    }
    if (disk_->used() > disk_->budget()) (void)make_disk_room(0, std::nullopt);
    disk_->flush();
}

}  // namespace cairn
