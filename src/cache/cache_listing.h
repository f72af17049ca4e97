// CacheListing: puts a SnapshotListing together from the snapshots of a running cache.
//
//     CacheListing listing(env);
//     for (const SnapshotPtr &snapshot : store.live())
//         listing.add(*snapshot, {.ns = ..., .model = ..., .parent = ..., .text = ...}, full_bytes);
//     return listing.take();
//
// Threads: the engine's. Cost: linear in snapshots and the segments of their rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <unordered_set>

#include "cairn/types.h"
#include "env/env.h"
#include "store/snapshot.h"
#include "store/snapshot_listing.h"

namespace cairn {

/// What a snapshot does not know of itself.
struct SnapshotPlace {
    NamespaceKey ns;
    std::string model;
    std::uint64_t parent = 0;
    std::string text;
};

class CacheListing {
public:
    explicit CacheListing(Env &env) : now_s_(env.now_s()), unix_now_s_(env.unix_time_s()) {}
    /// `full_bytes`: of its whole state, for those that are not on disk.
    void add(const Snapshot &snapshot, SnapshotPlace place, std::uint64_t full_bytes);
    [[nodiscard]] SnapshotListing take();

private:
    /// Of the rows of a snapshot that is on disk; returns the last one's id.
    std::uint64_t add_payloads(ListedNamespace &ns, const Snapshot &snapshot);
    void add_payload(ListedNamespace &ns, const DiskFile &file);

    double now_s_;
    std::int64_t unix_now_s_;
    std::map<NamespaceKey, ListedNamespace> namespaces_;
    std::unordered_set<std::uint64_t> payloads_;
};

}  // namespace cairn
