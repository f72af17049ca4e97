// SnapshotListing: what a cache holds, for people and programs. One form, whoever made it: a stopped directory
// (store/stopped_cache.h) or the cache of a running server (cache/prefix_cache.h), directly or as JSON over HTTP.
//
//     SnapshotListing listing = listing_of(directory, now_unix_s);
//     std::string json = to_json(listing);
//     Result<SnapshotListing> same = parse_snapshot_listing(json);
//
//     position  0        parent.position      position
//               |~~~~~~~~~~~~~~~|-------------------|       `text` is the beginning of this part
//
// Texts and names may be a stranger's: bytes as they stand, and no part of them is to be trusted (a terminal's
// escapes). Bytes that are no UTF-8 come out of the JSON as U+FFFD.
//
// Threads: plain values. Errors: corrupt for JSON that is no listing.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cairn/error.h"
#include "cairn/request.h"
#include "cairn/types.h"
#include "state/namespace_key.h"
#include "store/cache_directory.h"
#include "store/catalogue.h"

namespace cairn {

struct ListedSnapshot {
    std::uint64_t id = 0;
    std::uint64_t parent = 0;  ///< the deepest other one on its path that is listed; 0: none
    TokenPos position = 0;     ///< tokens of its prefix
    CheckpointKind kind = CheckpointKind::prompt_end;
    std::vector<Tier> tiers;  ///< that hold all of it, fastest first
    std::uint64_t bytes = 0;  ///< of its whole state, those it shares with others included
    std::uint64_t rows = 0;   ///< payload on disk; 0: none
    std::uint64_t boundary = 0;
    std::int64_t created_unix_s = 0;
    std::int64_t last_use_unix_s = 0;
    std::uint32_t hits = 0;
    std::string text;  ///< the beginning of what its tokens behind the parent's say

    [[nodiscard]] bool is_in(Tier tier) const noexcept;
    friend bool operator==(const ListedSnapshot &, const ListedSnapshot &) = default;
};

struct ListedNamespace {
    NamespaceKey key;
    std::string model;  ///< its name
    std::vector<ListedSnapshot> snapshots;
    std::vector<StoredPayload> payloads;  ///< on disk: all that the snapshots need, ascending by id

    friend bool operator==(const ListedNamespace &, const ListedNamespace &) = default;
};

/// What a tier holds and may hold. Unit: bytes; a limit of 0: none is known.
struct TierUse {
    std::uint64_t used = 0;
    std::uint64_t limit = 0;
    friend bool operator==(const TierUse &, const TierUse &) = default;
};

struct SnapshotListing {
    std::string directory;
    std::int64_t now_unix_s = 0;  ///< when it was made
    TierUse device{};
    TierUse ram{};
    TierUse disk{};                    ///< files rounded up to blocks, as budgets count them
    std::vector<std::string> notes{};  ///< what was found wrong when the directory was opened
    std::vector<ListedNamespace> namespaces{};

    friend bool operator==(const SnapshotListing &, const SnapshotListing &) = default;
};

/// Parents are found by the tokens: the catalogue names those that were on disk when a snapshot was written. Paths
/// without state are left out, and their texts put before those of what builds on them. Cost: a hash of each stored
/// token.
[[nodiscard]] ListedNamespace list_namespace(const StoredNamespace &ns);
[[nodiscard]] SnapshotListing listing_of(const CacheDirectory &directory, std::int64_t now_unix_s);

/// Payloads of `ns` that `snapshot` needs: its rows from the last one up, then its boundary.
[[nodiscard]] std::vector<std::uint64_t> payloads_of(const ListedNamespace &ns, const ListedSnapshot &snapshot);
/// Bytes of what payloads_of() names, without what files add.
[[nodiscard]] std::uint64_t bytes_on_disk(const ListedNamespace &ns, const ListedSnapshot &snapshot);
/// Payloads that nobody needs any more once the snapshots `ids` are gone.
[[nodiscard]] std::vector<StoredPayload> payloads_freed(const SnapshotListing &listing,
                                                        std::span<const std::uint64_t> ids);
/// Null where no such snapshot is listed.
struct ListedPlace {
    const ListedNamespace *ns = nullptr;
    const ListedSnapshot *snapshot = nullptr;
};
[[nodiscard]] ListedPlace find_listed(const SnapshotListing &listing, std::uint64_t id);
/// not_found, with all of those ids that are not listed.
[[nodiscard]] Status check_listed(const SnapshotListing &listing, std::span<const std::uint64_t> ids);

[[nodiscard]] std::string to_json(const SnapshotListing &listing);
[[nodiscard]] Result<SnapshotListing> parse_snapshot_listing(std::string_view json);

}  // namespace cairn
