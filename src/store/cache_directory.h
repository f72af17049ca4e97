// CacheDirectory: the folder of the disk tier, opened by one process at a time.
//
//     DIR/LOCK                        held while open; says who holds it
//     DIR/catalogue.db[-wal]          store/catalogue.h
//     DIR/payloads/2a/000000000000002a.state         store/payload_file.h; folders by the last byte of the id
//     DIR/payloads/2a/000000000000002a.state.tmp     being written
//
//     auto directory = CacheDirectory::open(files, "/var/cache/cairn", "pid 71, cairn serve");
//     for (const StoredNamespace &ns : directory->content.namespaces) ...
//
// Opening brings the two halves together: files that no row names, and those not finished, are removed; rows whose
// files are missing are removed, with all that build on them. A file that is listed is there, whoever may read it; a
// folder that is there and cannot be listed fails the opening before anything is changed. A catalogue that is damaged
// beyond reading is moved to catalogue.db.damaged, and the directory begins empty. What has the name of one of the
// catalogue's other files and is none is moved to that name with ".moved" behind. Names that are not of this scheme,
// and ids above 2^62, are left alone.
//
// Two locks are held: of the folder itself, so that removing LOCK lets nobody in, and of LOCK, for who knows only that.
//
// Ownership: the locks go with the object. The FileSystem must outlive it. Threads: one at a time.
// Errors: capacity where another process holds the lock (it is named); unsupported where a newer cairn wrote the
// catalogue (nothing is touched); io and others where the folder cannot be used.
// Cost: one listing of all payload folders, one reading of the catalogue.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cairn/error.h"
#include "env/file_system.h"
#include "store/catalogue.h"

namespace cairn {

class CacheDirectory {
public:
    [[nodiscard]] static Result<CacheDirectory> open(FileSystem &files, std::string path, std::string_view holder);

    /// What another process that finds the lock is told; replaces what open() was given.
    [[nodiscard]] Status describe_holder(std::string_view holder) { return locks_.file->describe(holder); }
    [[nodiscard]] const std::string &path() const noexcept { return path_; }
    [[nodiscard]] FileSystem &files() const noexcept { return *files_; }
    [[nodiscard]] std::string path_of(std::uint64_t payload) const;
    /// Makes the folder of a payload.
    [[nodiscard]] Status make_folder_of(std::uint64_t payload) const;

private:
    FileSystem *files_;
    std::string path_;
    struct Locks {
        std::unique_ptr<DirectoryLock> folder;
        std::unique_ptr<FileLock> file;
    };
    Locks locks_;  // before the catalogue: they go after it

public:
    Catalogue catalogue;
    CatalogueContent content;        ///< as it was when opened; whoever takes it over may move it out
    std::vector<std::string> notes;  ///< what was found wrong and mended, for the log
    std::size_t removed_files = 0;   ///< unfinished, or named by no row
    std::size_t lost_snapshots = 0;  ///< whose files are missing
    bool lost_something = false;     ///< snapshots, rows, or the whole catalogue; notes say what

private:
    CacheDirectory(FileSystem &files, std::string path, Locks locks, Catalogue opened)
        : files_(&files), path_(std::move(path)), locks_(std::move(locks)), catalogue(std::move(opened)) {}
    [[nodiscard]] static Result<Locks> take_locks(FileSystem &files, const std::string &path);
    [[nodiscard]] static Result<Catalogue> open_catalogue(FileSystem &files, const std::string &path,
                                                          std::vector<std::string> &notes);
    [[nodiscard]] Status load();
    [[nodiscard]] Status reconcile(const std::function<bool(std::uint64_t)> &has_file);
};

/// Where a directory keeps a payload.
[[nodiscard]] std::string payload_path_of(const std::string &directory, std::uint64_t payload);
/// The file that is locked, and what it says of its holder (empty where it cannot be read).
[[nodiscard]] std::string lock_path_of(const std::string &directory);
[[nodiscard]] std::string holder_of(FileSystem &files, const std::string &directory);

}  // namespace cairn
