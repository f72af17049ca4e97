// What was on disk before PrefixCache was made, and what people who look after a cache ask of it.
#include <algorithm>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "cache/prefix_cache_impl.h"
#include "store/archive_import.h"
#include "store/cache_admin.h"
#include "store/snapshot_archive.h"
#include "store/text_beginning.h"

namespace cairn {

namespace {

/// The rows of a catalogue by their ids, and how a path is put together from them.
class StoredPaths {
public:
    explicit StoredPaths(const CatalogueContent &content) {
        std::size_t count = 0;
        for (const StoredNamespace &ns : content.namespaces)
            count += ns.snapshots.size();
        rows_.reserve(count);
        for (const StoredNamespace &ns : content.namespaces) {
            for (const StoredSnapshot &row : ns.snapshots)
                rows_.emplace(row.id, &row);
        }
    }

    /// Goes up from `row` to the first ancestor that `stops` accepts, and returns it with the tokens behind it; null,
    /// with the whole path, where there is none. The tokens are good until the next call.
    template <class Stops>
    std::pair<const StoredSnapshot *, TokenView> above(const StoredSnapshot &row, Stops stops) {
        chain_.clear();
        const StoredSnapshot *at = &row;
        do {
            chain_.push_back(at);
            const auto parent = rows_.find(at->parent);
            at = parent == rows_.end() ? nullptr : parent->second;
        } while (at != nullptr && !stops(at->id));
        if (chain_.size() == 1) return {at, row.tokens};
        tokens_.clear();
        for (auto piece = chain_.rbegin(); piece != chain_.rend(); ++piece)
            tokens_.insert(tokens_.end(), (*piece)->tokens.begin(), (*piece)->tokens.end());
        return {at, tokens_};
    }

private:
    std::unordered_map<std::uint64_t, const StoredSnapshot *> rows_;
    std::vector<const StoredSnapshot *> chain_;
    Tokens tokens_;
};

}  // namespace

void PrefixCache::Impl::take_over_disk() {
    const CatalogueContent content = store_.disk()->take_content();
    reuse_ = ReuseRecord::parse(store_.disk()->fact(kReuseRecordFact), env_.now_s());
    StoredPaths paths(content);
    std::unordered_map<std::uint64_t, SnapshotPlace> foreign = list_foreign(content);
    const std::vector<SnapshotStore::Found> all = store_.adopt_directory(content);
    std::unordered_map<std::uint64_t, Index::Ref> placed;  // parents come before what goes on from them
    placed.reserve(all.size());
    addresses_.reserve(all.size());
    for (const SnapshotStore::Found &found : all) {
        if (found.ns->key.model != backend_.layout().fingerprint) {
            foreign_[found.snapshot.get()] = std::move(foreign[found.row->id]);
            continue;
        }
        const auto is_placed = [&](std::uint64_t id) {
            const auto at = placed.find(id);
            return at != placed.end() && index_.find(at->second) != nullptr;
        };
        const auto [parent, tokens] = paths.above(*found.row, is_placed);
        const auto published = parent == nullptr ? index_.publish_at(found.ns->key, tokens, found.snapshot)
                                                 : index_.publish_below(placed.at(parent->id), tokens, found.snapshot);
        if (!published) {
            store_.remove(*found.snapshot);
            continue;
        }
        placed.emplace(found.row->id, published->ref);
        set_address(*found.snapshot, {.ns = found.ns->key, .ref = published->ref});
        if (published->replaced) store_.remove(**published->replaced);
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
    set_address(**snapshot, {.ns = header.ns, .ref = published.ref});
    return ImportReport{(*snapshot)->id(), false};
}

Status PrefixCache::Impl::describe_holder(std::string_view holder) {
    return store_.disk() == nullptr ? Status{} : store_.disk()->describe_holder(holder);
}

}  // namespace cairn
