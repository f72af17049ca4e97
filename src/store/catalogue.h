// Catalogue: what a cache directory holds, as rows of an SQLite database. The one commit record of each snapshot.
//
//     auto catalogue = Catalogue::open(files, "cache/catalogue.db");
//     auto content = catalogue->load();                   // at start: parents before children
//     catalogue->put({.snapshot = ..., .payloads = ...}); // one transaction: the snapshot with all its parts, or
//     nothing catalogue->remove({12, 13}, {40, 41, 42});
//
// Checkpoints form a tree for each namespace: each row holds the tokens between its parent's position and its own, so
// that a prefix shared by many is stored once. A checkpoint that is removed while others build on it stays as a row
// without payloads (live = false) until they are gone.
//
//     position  0        parent.position          position
//     tokens    |~~~ parent's path ~~~|--- tokens ---|
//
// Nothing here is trusted when state is restored (payload files prove themselves). Each row carries a checksum, and a
// row that fails it, or whose parent is missing, is dropped while loading, with all that build on it.
//
// The database is used by one process, which holds the directory's lock: locking_mode is EXCLUSIVE, so that WAL needs
// no shared memory; all of SQLite's file operations go through the FileSystem given (store/sqlite_vfs.h).
//
// Ownership: closes itself. The FileSystem must outlive it. Threads: one at a time.
// Errors: those of FileSystem by the code of the operation that failed (capacity: the disk is full), corrupt, and
// unsupported where the version is newer than this program's. After any error but corrupt the catalogue is as it was.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "cairn/error.h"
#include "cairn/request.h"
#include "cairn/types.h"
#include "env/file_system.h"
#include "state/namespace_key.h"
#include "store/payload_file.h"

namespace cairn {

struct StoredPayload {
    std::uint64_t id = 0;  ///< names the file
    PayloadKind kind = PayloadKind::rows;
    std::uint64_t parent = 0;  ///< rows: the payload that covers what comes before span.begin; 0 where that is 0
    TokenSpan span;
    std::uint64_t bytes = 0;       ///< of the payload
    std::uint64_t file_bytes = 0;  ///< of the file

    friend bool operator==(const StoredPayload &, const StoredPayload &) = default;
};

struct StoredSnapshot {
    std::uint64_t id = 0;
    std::uint64_t parent = 0;  ///< the checkpoint whose path this one's goes on from; 0: the root
    TokenPos position = 0;
    Tokens tokens;  ///< from the parent's position to `position`
    CheckpointKind kind = CheckpointKind::prompt_end;
    bool live = true;            ///< false: only a path for others. Live ones have rows, a boundary, or both
    std::uint64_t rows = 0;      ///< payload; 0: the model has none, or not live
    std::uint64_t boundary = 0;  ///< payload; 0: likewise
    std::int64_t created_unix_s = 0;
    std::int64_t last_use_unix_s = 0;  ///< not live: created_unix_s
    std::uint32_t hits = 0;            ///< not live: 0
    std::string text;                  ///< the beginning of what `tokens` say, for people

    friend bool operator==(const StoredSnapshot &, const StoredSnapshot &) = default;
};

/// What one transaction adds. Ids are the caller's and new; payloads may be none, where all are stored already.
struct CatalogueEntry {
    NamespaceKey ns;
    std::string model;  ///< the model's name, for people
    StoredSnapshot snapshot;
    std::vector<StoredPayload> payloads;
};

struct SnapshotUse {
    std::uint64_t id = 0;
    std::int64_t last_use_unix_s = 0;
    std::uint32_t hits = 0;
};

/// A namespace with what people want to know of it.
struct StoredNamespace {
    NamespaceKey key;
    std::string model;
    std::vector<StoredPayload> payloads;    ///< parents before children
    std::vector<StoredSnapshot> snapshots;  ///< parents before children
};

struct CatalogueContent {
    std::vector<StoredNamespace> namespaces;
    std::uint64_t last_id = 0;     ///< largest id of a snapshot or payload ever used
    std::size_t dropped_rows = 0;  ///< damaged, or built on what is missing
};

class Catalogue {
public:
    static constexpr std::int64_t kVersion = 1;

    /// Opens or makes the database, and brings an older version up to this one. corrupt: not a database, or one with a
    /// damaged schema: the caller may move it away and open a new one. unsupported: of a newer version; it is
    /// untouched.
    [[nodiscard]] static Result<Catalogue> open(FileSystem &files, const std::string &path);
    ~Catalogue();
    Catalogue(Catalogue &&) noexcept;
    Catalogue &operator=(Catalogue &&) noexcept;

    /// Everything that is whole and of use: no payloads that no live snapshot needs, no paths that nothing builds on.
    /// The rest is removed from the database, too, as far as that goes well. What of it was no damage is not counted.
    /// corrupt: the database is damaged as a whole; the caller may move it away and open a new one.
    [[nodiscard]] Result<CatalogueContent> load();
    /// invalid_argument: an id is taken, or load() would drop a part of it.
    [[nodiscard]] Status put(const CatalogueEntry &entry);
    /// Removes payloads, and snapshots (those that others build on become paths; paths that nothing builds on any more
    /// go). Unknown ids are ignored. That no snapshot needs the payloads is the caller's to know: one that does is a
    /// path after the next load. One transaction.
    [[nodiscard]] Status remove(std::span<const std::uint64_t> snapshots, std::span<const std::uint64_t> payloads);
    /// Of live snapshots; others are ignored. One transaction.
    [[nodiscard]] Status note_uses(std::span<const SnapshotUse> uses);
    /// Small facts that outlive a restart, by name ("catalogue." is for the catalogue's own).
    [[nodiscard]] Status set_fact(const std::string &name, const std::string &value);
    /// Empty where it was never set.
    [[nodiscard]] Result<std::string> fact(const std::string &name);
    /// Moves the log into the database and flushes it. The log's file goes with this object, unless more is written
    /// before. Called before a clean end.
    [[nodiscard]] Status tidy();

private:
    struct Impl;
    explicit Catalogue(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> impl_;
};

}  // namespace cairn
