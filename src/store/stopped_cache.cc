#include "store/stopped_cache.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "store/archive_import.h"
#include "store/text_beginning.h"

namespace cairn {

Result<Tokens> StoppedCache::tokens_of(std::uint64_t id) {
    for (const StoredNamespace &ns : directory_.content.namespaces) {
        std::unordered_map<std::uint64_t, const StoredSnapshot *> rows;
        for (const StoredSnapshot &row : ns.snapshots)
            rows.emplace(row.id, &row);
        const auto found = rows.find(id);
        if (found == rows.end() || !found->second->live) continue;
        Tokens tokens(static_cast<std::size_t>(found->second->position));
        for (auto at = found; at != rows.end(); at = rows.find(at->second->parent)) {
            const StoredSnapshot &row = *at->second;
            std::copy(row.tokens.begin(), row.tokens.end(), tokens.begin() + (row.position - std::ssize(row.tokens)));
        }
        return tokens;
    }
    return fail(ErrorCode::not_found, "there is no snapshot {} in {}", id, directory_.path());
}

Status StoppedCache::remove(std::span<const std::uint64_t> ids) {
    const SnapshotListing listing = listing_of(directory_, env_.unix_time_s());
    if (auto known = check_listed(listing, ids); !known) return known;
    std::vector<std::uint64_t> payloads;
    for (const StoredPayload &payload : payloads_freed(listing, ids))
        payloads.push_back(payload.id);
    // Rows first: what is left half-way is files that nobody names, which the next opening removes.
    if (auto removed = directory_.catalogue.remove(ids, payloads); !removed) return removed;
    for (const std::uint64_t payload : payloads)
        (void)directory_.files().remove(directory_.path_of(payload));
    return reload();
}

Status StoppedCache::keep(std::uint64_t id) {
    const std::uint64_t one[] = {id};
    return check_listed(listing_of(directory_, env_.unix_time_s()), one);
}

Result<ImportReport> StoppedCache::import_archive(const std::string &path, const ImportOptions &options) {
    const auto header = read_archive_header(directory_.files(), path);
    if (!header) return fail(header.error());
    if (auto known = check_model(*header, options.any_model); !known) return fail(known.error());
    const StoredSnapshot *parent = deepest_of(header->ns, header->tokens);
    // Also where it is there already: who imports an archive wants to know that it is whole.
    if (auto whole = verify_archive(directory_.files(), path, *header); !whole) return fail(whole.error());
    if (parent != nullptr && parent->position == header->position()) return ImportReport{parent->id, true};

    std::uint64_t last_id = directory_.content.last_id;
    CatalogueEntry entry = entry_for_import(*header, {.next_id = [&last_id] { return ++last_id; },
                                                      .parent = parent == nullptr ? 0 : parent->id,
                                                      .parent_position = parent == nullptr ? 0 : parent->position,
                                                      .now_unix_s = env_.unix_time_s()});
    entry.snapshot.text = text_behind(header->ns, parent, header->text);
    const std::uint64_t used = listing_of(directory_, 0).disk.used;
    const std::uint64_t wanted = footprint_of(entry);
    if (options.max_bytes > 0 && used + wanted > options.max_bytes) {
        return fail(ErrorCode::capacity,
                    "{} needs {} bytes, and {} of at most {} are used in {}: remove some with `cairn cache gc`", path,
                    wanted, used, options.max_bytes, directory_.path());
    }
    if (auto done = extract_files(directory_, path, *header, entry); !done) return fail(done.error());
    if (auto done = directory_.catalogue.put(entry); !done) {
        for (const StoredPayload &payload : entry.payloads)
            (void)directory_.files().remove(directory_.path_of(payload.id));
        return fail(done.error());
    }
    if (auto done = reload(); !done) return fail(done.error());
    return ImportReport{entry.snapshot.id, false};
}

Result<WarmReport> StoppedCache::warm(const std::string &) {
    return fail(ErrorCode::unsupported, "warming needs a model: name it with -m FILE");
}

const StoredSnapshot *StoppedCache::deepest_of(const NamespaceKey &key, TokenView tokens) const {
    const StoredSnapshot *deepest = nullptr;
    for (const StoredNamespace &ns : directory_.content.namespaces) {
        if (ns.key != key) continue;
        std::unordered_set<std::uint64_t> on_path{0};
        for (const StoredSnapshot &row : ns.snapshots) {  // parents before children
            if (!on_path.contains(row.parent) || row.position > std::ssize(tokens)) continue;
            const auto own = tokens.subspan(static_cast<std::size_t>(row.position) - row.tokens.size());
            if (!std::equal(row.tokens.begin(), row.tokens.end(), own.begin())) continue;
            on_path.insert(row.id);
            // One without state at the very end is no place for another: its parent is.
            if (!row.live && row.position == std::ssize(tokens)) continue;
            if (deepest == nullptr || row.position > deepest->position) deepest = &row;
        }
    }
    return deepest;
}

std::string StoppedCache::text_behind(const NamespaceKey &key, const StoredSnapshot *parent,
                                      const std::string &text) const {
    std::string before;
    for (const StoredNamespace &ns : directory_.content.namespaces) {
        if (ns.key != key || parent == nullptr) continue;
        std::unordered_map<std::uint64_t, const StoredSnapshot *> rows;
        for (const StoredSnapshot &row : ns.snapshots)
            rows.emplace(row.id, &row);
        for (auto at = rows.find(parent->id); at != rows.end(); at = rows.find(at->second->parent))
            before = at->second->text + before;
    }
    // Nobody here can tell the text of tokens. None is better than the parent's once more.
    return text.starts_with(before) ? beginning_of_text(text.substr(before.size())) : "";
}

Status StoppedCache::check_model(const ArchiveHeader &header, bool any_model) const {
    const auto &all = directory_.content.namespaces;
    const bool known =
        std::any_of(all.begin(), all.end(), [&](const auto &ns) { return ns.key.model == header.ns.model; });
    if (known || any_model) return {};
    return fail(ErrorCode::unsupported,
                "the archive is of the model {} with the fingerprint {}, and {} holds nothing of that one, so it may "
                "never be of use there: --any-model takes it in all the same",
                header.model, header.ns.model.hex(), directory_.path());
}

Status StoppedCache::reload() {
    auto loaded = directory_.catalogue.load();
    if (!loaded) return fail(loaded.error());
    directory_.content = std::move(*loaded);
    return {};
}

}  // namespace cairn
