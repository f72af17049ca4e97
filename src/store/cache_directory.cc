#include "store/cache_directory.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <unordered_map>
#include <unordered_set>
#include <utility>

namespace cairn {
namespace {

constexpr std::string_view kPayloadFolder = "payloads";
constexpr std::string_view kCatalogueName = "catalogue.db";
constexpr std::string_view kSuffix = ".state";
constexpr std::string_view kUnfinished = ".state.tmp";
constexpr std::size_t kIdDigits = 16;

std::string folder_name_of(std::uint64_t payload) {
    return fmt::format("{:02x}", payload & 0xff);
}

/// The id in a name of the scheme; nothing for any other name.
std::optional<std::uint64_t> id_in(std::string_view name, std::string_view suffix) {
    if (name.size() != kIdDigits + suffix.size() || !name.ends_with(suffix)) return std::nullopt;
    std::uint64_t id = 0;
    const char *const end = name.data() + kIdDigits;
    const auto [parsed_to, error] = std::from_chars(name.data(), end, id, 16);
    return error == std::errc{} && parsed_to == end ? std::optional(id) : std::nullopt;
}

/// Which payloads have a file, after those that are nobody's are removed.
class PayloadFolders {
public:
    PayloadFolders(FileSystem &files, std::string root, const CatalogueContent &content)
        : files_(files), root_(std::move(root)) {
        for (const StoredNamespace &ns : content.namespaces) {
            for (const StoredPayload &payload : ns.payloads)
                named_.insert(payload.id);
        }
    }

    void sweep() {
        for (unsigned i = 0; i < 256; ++i)
            sweep_folder(folder_name_of(i));
    }
    [[nodiscard]] bool has(std::uint64_t payload) const { return found_.contains(payload); }
    [[nodiscard]] std::size_t removed() const { return removed_; }
    /// The largest id in any name.
    [[nodiscard]] std::uint64_t last_id() const { return last_id_; }

private:
    void sweep_folder(const std::string &name) {
        const std::string folder = join_path(root_, name);
        const auto entries = files_.list(folder);
        if (!entries) return;  // not made yet, or unreadable: its payloads count as missing
        for (const DirectoryEntry &entry : *entries) {
            const auto id = id_in(entry.name, kSuffix);
            last_id_ = std::max(last_id_, id.value_or(0));
            if (id && folder_name_of(*id) == name && entry.kind == FileKind::file && named_.contains(*id)) {
                found_.insert(*id);
            } else if ((id || id_in(entry.name, kUnfinished)) && files_.remove(join_path(folder, entry.name))) {
                ++removed_;
            }
        }
    }

    FileSystem &files_;
    std::string root_;
    std::unordered_set<std::uint64_t> named_;
    std::unordered_set<std::uint64_t> found_;
    std::size_t removed_ = 0;
    std::uint64_t last_id_ = 0;
};

/// What one namespace loses when files are missing.
class Pruning {
public:
    Pruning(StoredNamespace &ns, const PayloadFolders &folders) : ns_(ns) {
        for (const StoredPayload &payload : ns.payloads) {
            const bool whole = folders.has(payload.id) && (payload.parent == 0 || sound_.contains(payload.parent));
            if (whole) sound_.emplace(payload.id, payload.parent);
        }
    }

    void run() {
        for (StoredSnapshot &snapshot : ns_.snapshots) {
            if (!snapshot.live) continue;
            if (is_sound(snapshot.rows) && is_sound(snapshot.boundary)) {
                keep(snapshot.boundary);
                keep(snapshot.rows);
            } else {
                lost_snapshots.push_back(snapshot.id);
                snapshot.live = false;
                snapshot.rows = snapshot.boundary = 0;
            }
        }
        std::erase_if(ns_.payloads, [this](const StoredPayload &payload) {
            if (used_.contains(payload.id)) return false;
            lost_payloads.push_back(payload.id);
            return true;
        });
    }

    std::vector<std::uint64_t> lost_snapshots;
    std::vector<std::uint64_t> lost_payloads;

private:
    [[nodiscard]] bool is_sound(std::uint64_t payload) const { return payload == 0 || sound_.contains(payload); }
    void keep(std::uint64_t payload) {
        while (payload != 0 && used_.insert(payload).second)
            payload = sound_.at(payload);
    }

    StoredNamespace &ns_;
    std::unordered_map<std::uint64_t, std::uint64_t> sound_;  // payload -> its parent
    std::unordered_set<std::uint64_t> used_;
};

}  // namespace

std::string lock_path_of(const std::string &directory) {
    return join_path(directory, "LOCK");
}

std::string holder_of(FileSystem &files, const std::string &directory) {
    return read_text(files, lock_path_of(directory)).value_or("");
}

Result<CacheDirectory> CacheDirectory::open(FileSystem &files, std::string path, std::string_view holder) {
    if (auto made = files.make_directories(join_path(path, kPayloadFolder)); !made) return fail(made.error());
    auto lock = files.lock(lock_path_of(path));
    if (!lock && lock.error().code == ErrorCode::capacity) {
        const std::string who = holder_of(files, path);
        return fail(ErrorCode::capacity,
                    "the cache directory {} is in use by {}: stop that one, or give another directory with --cache-dir",
                    path, who.empty() ? "another process" : who.substr(0, who.find('\n')));
    }
    if (!lock) return fail(lock.error());
    if (auto told = (*lock)->describe(holder); !told) return fail(told.error());

    std::vector<std::string> notes;
    auto catalogue = open_catalogue(files, path, notes);
    if (!catalogue) return fail(catalogue.error());
    CacheDirectory directory(files, std::move(path), std::move(*lock), std::move(*catalogue));
    directory.notes = std::move(notes);
    if (auto loaded = directory.load(); !loaded) return fail(loaded.error());
    if (auto done = directory.reconcile(); !done) return fail(done.error());
    return directory;
}

namespace {

Status move_away(FileSystem &files, const std::string &database) {
    const std::string target = database + ".damaged";
    auto moved = files.rename(database, target);
    if (!moved) return moved;
    (void)files.remove(database + "-wal");
    return {};
}

std::string damage_note(const std::string &directory, const Error &error) {
    return fmt::format(
        "The catalogue of the cache directory {} is damaged ({}): it was moved to {}.damaged, and the "
        "cache begins empty.",
        directory, error.what, kCatalogueName);
}

}  // namespace

Result<Catalogue> CacheDirectory::open_catalogue(FileSystem &files, const std::string &path,
                                                 std::vector<std::string> &notes) {
    const std::string database = join_path(path, kCatalogueName);
    auto catalogue = Catalogue::open(files, database);
    if (catalogue || catalogue.error().code != ErrorCode::corrupt) return catalogue;
    notes.push_back(damage_note(path, catalogue.error()));
    if (auto moved = move_away(files, database); !moved) return fail(moved.error());
    return Catalogue::open(files, database);
}

Status CacheDirectory::load() {
    auto loaded = catalogue.load();
    if (!loaded && loaded.error().code == ErrorCode::corrupt) {
        notes.push_back(damage_note(path_, loaded.error()));
        const std::string database = join_path(path_, kCatalogueName);
        { const Catalogue closed = std::move(catalogue); }
        if (auto moved = move_away(*files_, database); !moved) return moved;
        auto fresh = Catalogue::open(*files_, database);
        if (!fresh) return fail(fresh.error());
        catalogue = std::move(*fresh);
        loaded = catalogue.load();
    }
    if (!loaded) return fail(loaded.error());
    content = std::move(*loaded);
    if (content.dropped_rows > 0) {
        notes.push_back(
            fmt::format("{} rows of the catalogue of {} were damaged or built on what is missing: they "
                        "were dropped.",
                        content.dropped_rows, path_));
    }
    return {};
}

Status CacheDirectory::reconcile() {
    PayloadFolders folders(*files_, join_path(path_, kPayloadFolder), content);
    folders.sweep();
    removed_files = folders.removed();
    content.last_id = std::max(content.last_id, folders.last_id());
    std::vector<std::uint64_t> snapshots;
    std::vector<std::uint64_t> payloads;
    for (StoredNamespace &ns : content.namespaces) {
        Pruning pruning(ns, folders);
        pruning.run();
        snapshots.insert(snapshots.end(), pruning.lost_snapshots.begin(), pruning.lost_snapshots.end());
        payloads.insert(payloads.end(), pruning.lost_payloads.begin(), pruning.lost_payloads.end());
    }
    lost_snapshots = snapshots.size();
    if (snapshots.empty() && payloads.empty()) return {};
    // Rows first: what is removed half-way is then a file that nobody names, which the next opening removes.
    if (auto removed = catalogue.remove(snapshots, payloads); !removed) return removed;
    for (const std::uint64_t payload : payloads)
        (void)files_->remove(path_of(payload));
    if (lost_snapshots > 0) {
        notes.push_back(
            fmt::format("{} snapshots in {} have lost their files and were dropped.", lost_snapshots, path_));
    }
    return {};
}

std::string payload_path_of(const std::string &directory, std::uint64_t payload) {
    return fmt::format("{}/{}/{}/{:016x}{}", directory, kPayloadFolder, folder_name_of(payload), payload, kSuffix);
}

std::string CacheDirectory::path_of(std::uint64_t payload) const {
    return payload_path_of(path_, payload);
}

Status CacheDirectory::make_folder_of(std::uint64_t payload) const {
    return files_->make_directories(fmt::format("{}/{}/{}", path_, kPayloadFolder, folder_name_of(payload)));
}

}  // namespace cairn
