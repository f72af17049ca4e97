#include "cache/cache_listing.h"

#include <algorithm>
#include <utility>

namespace cairn {

void CacheListing::add(const Snapshot &snapshot, SnapshotPlace place, std::uint64_t full_bytes) {
    ListedNamespace &ns = namespaces_[place.ns];
    ns.key = place.ns;
    ns.model = std::move(place.model);
    ListedSnapshot listed{.id = snapshot.id(),
                          .parent = place.parent,
                          .position = snapshot.position(),
                          .kind = snapshot.kind(),
                          .tiers = {},
                          .bytes = full_bytes,
                          .rows = 0,
                          .boundary = 0,
                          .created_unix_s = snapshot.created_unix_s(),
                          .last_use_unix_s = unix_now_s_ - static_cast<std::int64_t>(now_s_ - snapshot.last_use_s()),
                          .hits = snapshot.hits(),
                          .text = std::move(place.text)};
    if (snapshot.on_device()) listed.tiers.push_back(Tier::device);
    if (snapshot.in_ram()) listed.tiers.push_back(Tier::ram);
    if (snapshot.on_disk()) {
        listed.tiers.push_back(Tier::disk);
        listed.rows = add_payloads(ns, snapshot);
        if (snapshot.boundary_file() != nullptr) listed.boundary = snapshot.boundary_file()->id();
    }
    ns.snapshots.push_back(std::move(listed));
}

std::uint64_t CacheListing::add_payloads(ListedNamespace &ns, const Snapshot &snapshot) {
    std::uint64_t last = 0;
    for (const RowSegment *segment : snapshot.rows().chain()) {
        if (segment->file() == nullptr) continue;
        add_payload(ns, *segment->file());
        last = segment->file()->id();
    }
    if (snapshot.boundary_file() != nullptr) add_payload(ns, *snapshot.boundary_file());
    return last;
}

void CacheListing::add_payload(ListedNamespace &ns, const DiskFile &file) {
    if (payloads_.insert(file.id()).second) ns.payloads.push_back(file.facts());
}

SnapshotListing CacheListing::take() {
    SnapshotListing listing;
    listing.now_unix_s = unix_now_s_;
    for (auto &[key, ns] : namespaces_) {
        std::sort(ns.payloads.begin(), ns.payloads.end(),
                  [](const StoredPayload &a, const StoredPayload &b) { return a.id < b.id; });
        std::sort(ns.snapshots.begin(), ns.snapshots.end(),
                  [](const ListedSnapshot &a, const ListedSnapshot &b) { return a.id < b.id; });
        for (ListedSnapshot &snapshot : ns.snapshots) {
            if (snapshot.is_in(Tier::disk)) snapshot.bytes = bytes_on_disk(ns, snapshot);
        }
        listing.namespaces.push_back(std::move(ns));
    }
    return listing;
}

}  // namespace cairn
