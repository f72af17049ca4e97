#include "store/archive_import.h"

#include <unordered_map>
#include <utility>

#include "base/check.h"
#include "store/disk_tier.h"

namespace cairn {

CatalogueEntry entry_for_import(const ArchiveHeader &header, const ImportPlace &place) {
    CAIRN_CHECK(place.parent_position < header.position(), "a parent at {} for {} tokens", place.parent_position,
                header.position());
    CatalogueEntry entry{.ns = header.ns, .model = header.model, .snapshot = {}, .payloads = header.payloads};
    std::unordered_map<std::uint64_t, std::uint64_t> new_ids{{0, 0}};
    for (StoredPayload &payload : entry.payloads) {
        new_ids[payload.id] = place.next_id();
        payload.id = new_ids[payload.id];
        payload.parent = new_ids.at(payload.parent);
    }
    entry.snapshot = {.id = place.next_id(),
                      .parent = place.parent,
                      .position = header.position(),
                      .tokens = Tokens(header.tokens.begin() + place.parent_position, header.tokens.end()),
                      .kind = header.kind,
                      .rows = new_ids.at(header.rows),
                      .boundary = new_ids.at(header.boundary),
                      .created_unix_s = place.now_unix_s,
                      .last_use_unix_s = place.now_unix_s,
                      .text = header.text};
    return entry;
}

Status extract_files(const CacheDirectory &directory, const std::string &path, const ArchiveHeader &header,
                     const CatalogueEntry &entry) {
    Status done;
    std::size_t made = 0;
    for (; done && made < entry.payloads.size(); ++made) {
        const std::uint64_t id = entry.payloads[made].id;
        done = directory.make_folder_of(id);
        if (done) done = extract_payload(directory.files(), path, header, made, id, directory.path_of(id));
    }
    if (done) return done;
    for (std::size_t i = 0; i < made; ++i)
        (void)directory.files().remove(directory.path_of(entry.payloads[i].id));
    return done;
}

std::uint64_t footprint_of(const CatalogueEntry &entry) {
    std::uint64_t bytes = 0;
    for (const StoredPayload &payload : entry.payloads)
        bytes += DiskTier::footprint(static_cast<std::size_t>(payload.file_bytes));
    return bytes;
}

}  // namespace cairn
