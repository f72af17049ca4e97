#include "app/cache_export.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <thread>
#include <utility>
#include <vector>

namespace cairn {
namespace {

constexpr double kPatienceSeconds = 60;
constexpr auto kLookAgainAfter = std::chrono::milliseconds(100);

/// More says nothing more to people.
constexpr std::size_t kMostTextBytes = 4096;

/// The texts of all that are on the path, the first one's first. Each is but the beginning of its part, so what they
/// say together may have gaps; whoever has the same path can tell the last part from those before.
std::string text_of_path(const SnapshotListing &listing, const ListedPlace &place) {
    const ListedSnapshot *at = place.snapshot;
    std::string text = at->text;
    for (std::size_t steps = 0; at->parent != 0 && steps < place.ns->snapshots.size(); ++steps) {
        const ListedPlace parent = find_listed(listing, at->parent);
        if (parent.snapshot == nullptr) break;
        at = parent.snapshot;
        text = at->text + text;
    }
    return text.size() <= kMostTextBytes ? text : at->text;
}

}  // namespace

ArchiveHeader archive_header_of(const SnapshotListing &listing, const ListedPlace &place, Tokens tokens) {
    ArchiveHeader header{.ns = place.ns->key,
                         .model = place.ns->model,
                         .tokens = std::move(tokens),
                         .kind = place.snapshot->kind,
                         .text = text_of_path(listing, place),
                         .payloads = {},
                         .rows = place.snapshot->rows,
                         .boundary = place.snapshot->boundary};
    // Parents have smaller ids, so the order of ids is that from the root on; the boundary comes last.
    const auto ids = payloads_of(*place.ns, *place.snapshot);
    for (const StoredPayload &payload : place.ns->payloads) {
        if (std::find(ids.begin(), ids.end(), payload.id) != ids.end()) header.payloads.push_back(payload);
    }
    std::stable_partition(header.payloads.begin(), header.payloads.end(),
                          [](const StoredPayload &payload) { return payload.kind == PayloadKind::rows; });
    return header;
}

Result<SnapshotListing> wait_until_on_disk(CacheAdmin &cache, std::span<const std::uint64_t> ids, double seconds) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
    while (true) {
        auto listing = cache.list();
        if (!listing) return listing;
        if (auto known = check_listed(*listing, ids); !known) return fail(known.error());
        const auto waits = std::find_if(ids.begin(), ids.end(), [&](std::uint64_t id) {
            return !find_listed(*listing, id).snapshot->is_in(Tier::disk);
        });
        if (waits == ids.end()) return listing;
        if (std::chrono::steady_clock::now() >= deadline) {
            return fail(ErrorCode::capacity,
                        "snapshot {} is not on disk yet: the server is busy, or its disk is full (--cache-disk); it is "
                        "written as soon as there is time and room",
                        *waits);
        }
        std::this_thread::sleep_for(kLookAgainAfter);
    }
}

Result<std::uint64_t> export_snapshot(FileSystem &files, CacheAdmin &cache, std::uint64_t id, const std::string &path,
                                      Existing existing) {
    if (auto free = check_target(files, path, existing); !free) return fail(free.error());
    const std::array ids{id};
    auto listing = cache.list();
    if (!listing) return fail(listing.error());
    if (auto known = check_listed(*listing, ids); !known) return fail(known.error());
    if (!find_listed(*listing, id).snapshot->is_in(Tier::disk)) {
        if (auto asked = cache.keep(id); !asked) return fail(asked.error());
        listing = wait_until_on_disk(cache, ids, kPatienceSeconds);
        if (!listing) return fail(listing.error());
    }
    auto tokens = cache.tokens_of(id);
    if (!tokens) return fail(tokens.error());
    const ArchiveHeader header = archive_header_of(*listing, find_listed(*listing, id), std::move(*tokens));
    std::vector<std::string> paths;
    for (const StoredPayload &payload : header.payloads)
        paths.push_back(payload_path_of(listing->directory, payload.id));
    if (auto written = write_archive(files, path, header, paths, existing); !written) return fail(written.error());
    return archive_bytes(header);
}

}  // namespace cairn
