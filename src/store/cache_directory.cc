#include "store/cache_directory.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "store/write_aside.h"

namespace cairn {
namespace {

constexpr std::string_view kPayloadFolder = "payloads";
constexpr std::string_view kCatalogueName = "catalogue.db";
constexpr const char *kDamagedSuffix = ".damaged";
constexpr std::string_view kSuffix = ".state";
constexpr std::string_view kUnfinished = ".state.tmp";
constexpr std::size_t kIdDigits = 16;
/// Ids are counted up from the largest one, and SQLite has 63 bits for them. No cache comes near; a name beyond it is
/// somebody else's, and must not use the ids up.
constexpr std::uint64_t kMostId = std::uint64_t{1} << 62;
constexpr const char *kInTheWay = "Remove it, or give another directory with --cache-dir.";

std::string folder_name_of(std::uint64_t payload) {
    return fmt::format("{:02x}", payload & 0xff);
}

/// The id in a name of the scheme; nothing for any other name.
std::optional<std::uint64_t> id_in(std::string_view name, std::string_view suffix) {
    if (name.size() != kIdDigits + suffix.size() || !name.ends_with(suffix)) return std::nullopt;
    std::uint64_t id = 0;
    const char *const end = name.data() + kIdDigits;
    const auto [parsed_to, error] = std::from_chars(name.data(), end, id, 16);
    return error == std::errc{} && parsed_to == end && id <= kMostId ? std::optional(id) : std::nullopt;
}

/// Which payloads have a file.
class PayloadFolders {
public:
    PayloadFolders(FileSystem &files, std::string root) : files_(files), root_(std::move(root)) {}

    /// Before anything is changed: a folder that is there and cannot be read says nothing of what is in it, and what
    /// is missing is dropped for good.
    [[nodiscard]] Status list() {
        const auto names = files_.list(root_);
        if (!names) return unreadable(root_, names.error());
        for (const DirectoryEntry &folder : *names) {
            if (!is_folder_name(folder.name)) continue;
            const std::string path = join_path(root_, folder.name);
            auto entries = files_.list(path);
            if (!entries) return unreadable(path, entries.error());
            folders_.emplace_back(folder.name, std::move(*entries));
        }
        return {};
    }

    /// Removes the files that are nobody's.
    void sweep(const CatalogueContent &content) {
        std::unordered_set<std::uint64_t> named;
        for (const StoredNamespace &ns : content.namespaces) {
            for (const StoredPayload &payload : ns.payloads)
                named.insert(payload.id);
        }
        for (const auto &[name, entries] : folders_)
            sweep_folder(name, entries, named);
    }
    [[nodiscard]] bool has(std::uint64_t payload) const { return found_.contains(payload); }
    [[nodiscard]] std::size_t removed() const { return removed_; }
    /// The largest id in any name.
    [[nodiscard]] std::uint64_t last_id() const { return last_id_; }

private:
    static bool is_folder_name(const std::string &name) {
        constexpr std::string_view kDigits = "0123456789abcdef";
        return name.size() == 2 && name.find_first_not_of(kDigits) == std::string::npos;
    }
    static Status unreadable(const std::string &path, const Error &error) {
        return fail(error.code == ErrorCode::not_found ? ErrorCode::io : error.code,
                    "{} cannot be read, so it is not known what the cache holds, and nothing was changed ({}). Make it "
                    "a folder that can be read, or give another directory with --cache-dir.",
                    path, error.what);
    }
    void sweep_folder(const std::string &name, const std::vector<DirectoryEntry> &entries,
                      const std::unordered_set<std::uint64_t> &named) {
        for (const DirectoryEntry &entry : entries) {
            const auto id = id_in(entry.name, kSuffix);
            last_id_ = std::max(last_id_, id.value_or(0));
            // Whatever is there but a folder counts: reading it shows whether it is of use.
            if (id && folder_name_of(*id) == name && entry.kind != FileKind::directory && named.contains(*id)) {
                found_.insert(*id);
            } else if ((id || id_in(entry.name, kUnfinished)) &&
                       files_.remove(join_path(join_path(root_, name), entry.name))) {
                ++removed_;
            }
        }
    }

    FileSystem &files_;
    std::string root_;
    std::vector<std::pair<std::string, std::vector<DirectoryEntry>>> folders_;
    std::unordered_set<std::uint64_t> found_;
    std::size_t removed_ = 0;
    std::uint64_t last_id_ = 0;
};

/// What one namespace loses when files are missing.
class Pruning {
public:
    Pruning(StoredNamespace &ns, const std::function<bool(std::uint64_t)> &has_file) : ns_(ns) {
        for (const StoredPayload &payload : ns.payloads) {
            const bool whole = has_file(payload.id) && (payload.parent == 0 || sound_.contains(payload.parent));
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

namespace {

/// `error` with what to do about the path it names.
tl::unexpected<Error> in_the_way(const Error &error) {
    const bool whole = error.what.ends_with('.');
    return fail(error.code, "{}{} {}", error.what, whole ? "" : ".", kInTheWay);
}

/// Moves aside what has the name of a file that comes and goes, and is none: a folder or pipe there would make SQLite
/// fail with every write, and say nothing of why.
Status clear_name(FileSystem &files, const std::string &path, std::vector<std::string> &notes) {
    const auto kind = files.kind_of_name(path);
    if (!kind && kind.error().code == ErrorCode::not_found) return {};
    if (!kind) return in_the_way(kind.error());
    if (*kind == FileKind::file) return {};
    const std::string aside = path + ".moved";
    const auto taken = files.kind_of_name(aside);
    const bool moved = !taken && taken.error().code == ErrorCode::not_found && files.rename(path, aside);
    if (!moved) return fail(ErrorCode::invalid_argument, "{} is not a file, as it must be. {}", path, kInTheWay);
    notes.push_back(fmt::format("{} was not a file, as it must be: it was moved to {}.", path, aside));
    return {};
}

/// That the names of the catalogue are free for files.
Status clear_names(FileSystem &files, const std::string &directory, std::vector<std::string> &notes) {
    const std::string database = join_path(directory, kCatalogueName);
    for (const char *suffix : {"-wal", "-journal", kAsideSuffix, kDamagedSuffix}) {
        if (auto done = clear_name(files, database + suffix, notes); !done) return done;
    }
    // A link to a file is somebody's wish. One that leads nowhere would have the catalogue made who knows where.
    const auto kind = files.kind_of_name(database);
    if (!kind && kind.error().code == ErrorCode::not_found) return {};
    if (!kind) return in_the_way(kind.error());
    if (*kind != FileKind::other) return {};  // a folder is moved away as any damaged catalogue
    const auto target = files.info(database);
    if (target && target->kind == FileKind::file) return {};
    return fail(ErrorCode::invalid_argument, "{} is not a file, and does not lead to one. {}", database, kInTheWay);
}

Status move_away(FileSystem &files, const std::string &database) {
    const std::string target = database + kDamagedSuffix;
    // A folder does not take the place of a file, nor the other way round.
    auto moved = files.rename(database, target);
    if (!moved && moved.error().code == ErrorCode::invalid_argument && files.remove(target))
        moved = files.rename(database, target);
    if (!moved) return moved;
    (void)files.remove(database + "-wal");
    return {};
}

std::string damage_note(const std::string &directory, const Error &error) {
    return fmt::format(
        "The catalogue of the cache directory {} is damaged ({}): it was moved to {}{}, and the "
        "cache begins empty.",
        directory, error.what, kCatalogueName, kDamagedSuffix);
}

tl::unexpected<Error> in_use(FileSystem &files, const std::string &path) {
    const std::string who = holder_of(files, path);
    return fail(ErrorCode::capacity,
                "the cache directory {} is in use by {}: stop that one, or give another directory with --cache-dir",
                path, who.empty() ? "another process" : who.substr(0, who.find('\n')));
}

}  // namespace

Result<CacheDirectory::Locks> CacheDirectory::take_locks(FileSystem &files, const std::string &path) {
    // The folder's lock is the one that counts: LOCK may be removed by hand while somebody holds it. That of LOCK
    // excludes who knows only it, and holds where folders cannot be locked.
    auto folder = files.lock_directory(path);
    if (!folder && folder.error().code == ErrorCode::capacity) return in_use(files, path);
    if (!folder) return in_the_way(folder.error());
    auto file = files.lock(lock_path_of(path));
    if (!file && file.error().code == ErrorCode::capacity) {
        // Also of a full disk, where LOCK cannot be made.
        if (files.kind_of_name(lock_path_of(path))) return in_use(files, path);
        return fail(file.error());
    }
    if (!file && file.error().code == ErrorCode::invalid_argument) return in_the_way(file.error());
    if (!file) return fail(file.error());
    return Locks{std::move(*folder), std::move(*file)};
}

Result<CacheDirectory> CacheDirectory::open(FileSystem &files, std::string path, std::string_view holder) {
    const std::string root = join_path(path, kPayloadFolder);
    if (auto made = files.make_directories(root); !made) {
        if (made.error().code == ErrorCode::invalid_argument) return in_the_way(made.error());
        return fail(made.error().code, "the cache directory {} cannot be used: {}", path, made.error().what);
    }
    auto locks = take_locks(files, path);
    if (!locks) return fail(locks.error());
    if (auto told = locks->file->describe(holder); !told) return fail(told.error());

    PayloadFolders folders(files, root);
    if (auto listed = folders.list(); !listed) return fail(listed.error());
    std::vector<std::string> notes;
    if (auto free = clear_names(files, path, notes); !free) return fail(free.error());
    const std::size_t notes_before = notes.size();
    auto catalogue = open_catalogue(files, path, notes);
    if (!catalogue) return fail(catalogue.error());
    CacheDirectory directory(files, std::move(path), std::move(*locks), std::move(*catalogue));
    directory.lost_something = notes.size() > notes_before;
    directory.notes = std::move(notes);
    if (auto loaded = directory.load(); !loaded) return fail(loaded.error());
    folders.sweep(directory.content);
    directory.removed_files = folders.removed();
    if (directory.removed_files > 0 && directory.content.namespaces.empty() && directory.notes.empty()) {
        directory.notes.push_back(
            fmt::format("The catalogue of {} names nothing, as after it was deleted or emptied, and {} file{} beside "
                        "it {} removed.",
                        directory.path_, directory.removed_files, directory.removed_files == 1 ? "" : "s",
                        directory.removed_files == 1 ? "was" : "were"));
    }
    directory.content.last_id = std::max(directory.content.last_id, folders.last_id());
    if (auto done = directory.reconcile([&](std::uint64_t payload) { return folders.has(payload); }); !done)
        return fail(done.error());
    return directory;
}

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
        lost_something = true;
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
        lost_something = true;
        notes.push_back(
            fmt::format("{} rows of the catalogue of {} were damaged or built on what is missing: they "
                        "were dropped.",
                        content.dropped_rows, path_));
    }
    return {};
}

Status CacheDirectory::reconcile(const std::function<bool(std::uint64_t)> &has_file) {
    std::vector<std::uint64_t> snapshots;
    std::vector<std::uint64_t> payloads;
    for (StoredNamespace &ns : content.namespaces) {
        Pruning pruning(ns, has_file);
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
        lost_something = true;
        notes.push_back(fmt::format(
            "{} snapshot{} in {} had lost {} and {} dropped.", lost_snapshots, lost_snapshots == 1 ? "" : "s", path_,
            lost_snapshots == 1 ? "its files" : "their files", lost_snapshots == 1 ? "was" : "were"));
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
