// What PrefixCache thinks of its snapshots: what each is worth, whether it should be written or read, what it is built
// on. Most of it the store asks.
#include <utility>

#include "base/check.h"
#include "cache/prefix_cache_impl.h"
#include "policy/eviction_value.h"
#include "policy/load_or_compute.h"

namespace cairn {
namespace {

/// Enough to tell an eviction from a divergence; at most 16 MiB of tokens, and fewer than cover() may look at.
constexpr std::size_t kMostMemories = 1024;
constexpr std::size_t kMostMemoryTokens = std::size_t{4} << 20;
/// Nodes to look at for a state that goes on from another: the first of its subtree is one, unless it was evicted.
constexpr std::size_t kVisitsForDescendant = 16;
/// Opening files, and the first seek of a disk that turns. Unit: seconds per restore from disk.
constexpr double kDiskFixedSeconds = 0.002;
/// How much longer states take to settle while requests run.
constexpr double kSettleSlowness = 15;
/// The reuse record is kept once for so many snapshots written.
constexpr std::size_t kWritesPerRecord = 16;

}  // namespace

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

TokenPos PrefixCache::Impl::depth_above(Index::Ref ref) const {
    const SnapshotPtr *above = index_.above(ref, [](const SnapshotPtr &s) { return s->restorable(); });
    return above == nullptr ? 0 : (*above)->position();
}

bool PrefixCache::Impl::has_descendants(Index::Ref ref) const {
    return index_.any_below(
        ref, [](const SnapshotPtr &s) { return s->restorable(); }, kVisitsForDescendant);
}

/// Whether a deeper snapshot stands for this one. The end of its answer does not stand for a prompt: who asks the same
/// again, maybe after a crash, must not have it computed from its first token where states cannot be cut.
bool PrefixCache::Impl::is_superseded(const Snapshot &snapshot, Index::Ref ref) const {
    if (snapshot.kind() != CheckpointKind::prompt_end) return has_descendants(ref);
    return index_.any_below(
        ref, [](const SnapshotPtr &s) { return s->restorable() && s->kind() != CheckpointKind::answer_end; },
        kVisitsForDescendant);
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
                          .superseded = !leaving && is_superseded(snapshot, address.ref),
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

void PrefixCache::Impl::set_address(const Snapshot &snapshot, Address address) {
    addresses_.emplace(&snapshot, std::move(address));
    metrics_.set(Metric::snapshots, static_cast<double>(addresses_.size()));
}

void PrefixCache::Impl::forget(const Snapshot &snapshot) {
    foreign_.erase(&snapshot);
    const auto at = addresses_.find(&snapshot);
    if (at == addresses_.end()) return;
    memories_.emplace_back(at->second.ref, snapshot.position());
    memory_tokens_ += static_cast<std::size_t>(snapshot.position());
    addresses_.erase(at);
    metrics_.set(Metric::snapshots, static_cast<double>(addresses_.size()));
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

}  // namespace cairn
