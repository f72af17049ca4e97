#include "store/snapshot_listing.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "store/disk_tier.h"

namespace cairn {
namespace {

/// Of the texts of checkpoints that are no snapshots any more, put before those of what builds on them.
constexpr std::size_t kTextBytes = 160;

/// Of a prefix, made longer token by token. Not for people who mean harm: it decides nothing but what is shown.
class PathHash {
public:
    void add(Token token) noexcept {
        value_ ^= static_cast<std::uint32_t>(token) + 1;
        value_ *= 0x9e3779b97f4a7c15u;
        value_ ^= value_ >> 29;
    }
    [[nodiscard]] std::uint64_t value() const noexcept { return value_; }

private:
    std::uint64_t value_ = 0x243f6a8885a308d3u;
};

/// Makes the listing of one namespace of a catalogue.
class NamespaceListing {
public:
    explicit NamespaceListing(const StoredNamespace &ns) : ns_(ns) {
        for (const StoredSnapshot &row : ns.snapshots) {  // parents before children
            PathHash hash = hash_at(row.parent);
            for (const Token token : row.tokens)
                hash.add(token);
            rows_.emplace(row.id, Row{&row, hash});
            if (row.live) by_path_.emplace(hash.value(), &row);
        }
    }

    [[nodiscard]] ListedNamespace run() {
        ListedNamespace listed{.key = ns_.key, .model = ns_.model, .snapshots = {}, .payloads = ns_.payloads};
        std::sort(listed.payloads.begin(), listed.payloads.end(),
                  [](const StoredPayload &a, const StoredPayload &b) { return a.id < b.id; });
        for (const StoredSnapshot &row : ns_.snapshots) {
            find_above(row);
            if (row.live) listed.snapshots.push_back(snapshot_of(row));
        }
        for (ListedSnapshot &snapshot : listed.snapshots)
            snapshot.bytes = bytes_on_disk(listed, snapshot);
        return listed;
    }

private:
    struct Row {
        const StoredSnapshot *row;
        PathHash hash;                          // of its whole path
        const StoredSnapshot *above = nullptr;  // the deepest one with state whose path begins this one's
    };

    [[nodiscard]] PathHash hash_at(std::uint64_t id) const {
        const auto at = rows_.find(id);
        return at == rows_.end() ? PathHash{} : at->second.hash;
    }
    void find_above(const StoredSnapshot &row) {
        const auto parent = rows_.find(row.parent);
        const StoredSnapshot *above = nullptr;
        if (parent != rows_.end()) above = parent->second.row->live ? parent->second.row : parent->second.above;
        PathHash hash = hash_at(row.parent);
        TokenPos position = row.position - static_cast<TokenPos>(row.tokens.size());
        for (const Token token : row.tokens) {
            const auto here = by_path_.find(hash.value());
            if (here != by_path_.end() && here->second->position == position) above = here->second;
            hash.add(token);
            ++position;
        }
        rows_.at(row.id).above = above;
    }
    [[nodiscard]] ListedSnapshot snapshot_of(const StoredSnapshot &row) const {
        const StoredSnapshot *above = rows_.at(row.id).above;
        return {.id = row.id,
                .parent = above == nullptr ? 0 : above->id,
                .position = row.position,
                .kind = row.kind,
                .tiers = {Tier::disk},
                .bytes = 0,
                .rows = row.rows,
                .boundary = row.boundary,
                .created_unix_s = row.created_unix_s,
                .last_use_unix_s = row.last_use_unix_s,
                .hits = row.hits,
                .text = text_behind(above, row)};
    }
    /// What is known of the text between the two.
    [[nodiscard]] std::string text_behind(const StoredSnapshot *above, const StoredSnapshot &row) const {
        std::string text = row.text;
        // Its text begins where the catalogue's parent ends, and that of the one above it at the same place.
        if (above != nullptr && above->parent == row.parent && text.starts_with(above->text)) {
            return text.substr(above->text.size());
        }
        const std::uint64_t stop = above == nullptr ? 0 : above->id;
        for (std::uint64_t id = row.parent; id != stop;) {
            const auto at = rows_.find(id);
            if (at == rows_.end() || at->second.row->live) break;
            text = (at->second.row->text + text).substr(0, kTextBytes);
            id = at->second.row->parent;
        }
        return text;
    }

    const StoredNamespace &ns_;
    std::unordered_map<std::uint64_t, Row> rows_;
    std::unordered_map<std::uint64_t, const StoredSnapshot *> by_path_;
};

const StoredPayload *payload_in(const ListedNamespace &ns, std::uint64_t id) {
    const auto at =
        std::lower_bound(ns.payloads.begin(), ns.payloads.end(), id,
                         [](const StoredPayload &payload, std::uint64_t wanted) { return payload.id < wanted; });
    return at == ns.payloads.end() || at->id != id ? nullptr : &*at;
}

}  // namespace

bool ListedSnapshot::is_in(Tier tier) const noexcept {
    return std::find(tiers.begin(), tiers.end(), tier) != tiers.end();
}

ListedNamespace list_namespace(const StoredNamespace &ns) {
    return NamespaceListing(ns).run();
}

SnapshotListing listing_of(const CacheDirectory &directory, std::int64_t now_unix_s) {
    SnapshotListing listing;
    listing.directory = directory.path();
    listing.now_unix_s = now_unix_s;
    listing.notes = directory.notes;
    for (const StoredNamespace &ns : directory.content.namespaces) {
        ListedNamespace listed = list_namespace(ns);
        for (const StoredPayload &payload : listed.payloads)
            listing.disk.used += DiskTier::footprint(static_cast<std::size_t>(payload.file_bytes));
        if (!listed.snapshots.empty()) listing.namespaces.push_back(std::move(listed));
    }
    return listing;
}

std::vector<std::uint64_t> payloads_of(const ListedNamespace &ns, const ListedSnapshot &snapshot) {
    std::vector<std::uint64_t> ids;
    // Not longer than there are payloads: a listing may come from elsewhere, and its parents go in a circle.
    for (std::uint64_t id = snapshot.rows; id != 0 && ids.size() <= ns.payloads.size();) {
        const StoredPayload *payload = payload_in(ns, id);
        if (payload == nullptr) break;
        ids.push_back(id);
        id = payload->parent;
    }
    if (snapshot.boundary != 0) ids.push_back(snapshot.boundary);
    return ids;
}

std::uint64_t bytes_on_disk(const ListedNamespace &ns, const ListedSnapshot &snapshot) {
    std::uint64_t bytes = 0;
    for (const std::uint64_t id : payloads_of(ns, snapshot)) {
        if (const StoredPayload *payload = payload_in(ns, id)) bytes += payload->bytes;
    }
    return bytes;
}

std::vector<StoredPayload> payloads_freed(const SnapshotListing &listing, std::span<const std::uint64_t> ids) {
    const std::unordered_set<std::uint64_t> going(ids.begin(), ids.end());
    std::vector<StoredPayload> freed;
    for (const ListedNamespace &ns : listing.namespaces) {
        std::unordered_set<std::uint64_t> needed;
        for (const ListedSnapshot &snapshot : ns.snapshots) {
            if (going.contains(snapshot.id)) continue;
            const auto its = payloads_of(ns, snapshot);
            needed.insert(its.begin(), its.end());
        }
        for (const StoredPayload &payload : ns.payloads) {
            if (!needed.contains(payload.id)) freed.push_back(payload);
        }
    }
    return freed;
}

ListedPlace find_listed(const SnapshotListing &listing, std::uint64_t id) {
    for (const ListedNamespace &ns : listing.namespaces) {
        for (const ListedSnapshot &snapshot : ns.snapshots) {
            if (snapshot.id == id) return {&ns, &snapshot};
        }
    }
    return {};
}

Status check_listed(const SnapshotListing &listing, std::span<const std::uint64_t> ids) {
    std::string unknown;
    std::size_t count = 0;
    for (const std::uint64_t id : ids) {
        if (find_listed(listing, id).snapshot != nullptr) continue;
        unknown += fmt::format("{}{}", unknown.empty() ? "" : ", ", id);
        ++count;
    }
    if (count == 0) return {};
    return fail(ErrorCode::not_found, "there {} no snapshot{} {} in {}: `cairn cache ls` lists them",
                count == 1 ? "is" : "are", count == 1 ? "" : "s", unknown, listing.directory);
}

}  // namespace cairn
