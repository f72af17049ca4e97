// SimFileSystem: files in memory, on a disk that lies. Seeded: the same calls give the same lies.
//
//     SimFileSystem disk;
//     disk.make_directories("cache");
//     disk.sync_all();                                   // where the test begins
//     disk.fail_operation(17, ErrorCode::io, Repeat::for_ever);
//     ... what is tested, up to its 17th operation ...
//     disk.crash(seed);                                  // power is back, faults and open files are gone
//     ... opens again: nothing may be wrong, and what was synced must be there ...
//
//     for (int n = 1; n <= disk.operations(); ++n) { auto copy = disk.clone(); ... }
//
// What is durable: a file's bytes after sync(), a name after sync_directory() of its folder, and nothing else: a synced
// file without a synced name is lost, and so is everything in a folder whose own name is. A rename from one folder to
// another is durable in each of them on its own.
//
// crash(seed) does to each change that is not durable one of:
//     kept    as it was made
//     lost    as if it was never made, though later ones may be kept
//     torn    of a write: only the part before, or only the part behind, some sector boundary; or the file's new length
//             alone, with zeros. Sectors (512 bytes) themselves do not tear. Changes of names and truncations neither
// Half of all seeds keep the order (what came before some change is kept, what came after is lost); the others decide
// for each change on its own, between nearly nothing kept and nearly all.
//
// Errors and their order follow the POSIX one: tests/env/file_system_contract_test.cc runs on both. There are no links,
// and no owners: set_read_only stands for permissions. Paths begin at the root, with or without a slash.
//
// Ownership: as FileSystem. Threads: every call from any thread; numbers of operations are then anybody's guess.
// Cost: clone() copies no bytes; a file is copied when it or its copy is next written to.
#pragma once

#include <mutex>
#include <optional>
#include <random>
#include <vector>

#include "env/file_system.h"
#include "tests/support/sim_disk.h"

namespace cairn {

enum class Repeat : std::uint8_t { once, for_ever };

class SimFileSystem final : public FileSystem {
public:
    SimFileSystem() = default;

    [[nodiscard]] Result<std::unique_ptr<File>> open(const std::string &path, OpenMode mode) override;
    [[nodiscard]] Result<FileInfo> info(const std::string &path) override;
    [[nodiscard]] Result<FileKind> kind_of_name(const std::string &path) override;
    /// In an order that changes from call to call.
    [[nodiscard]] Result<std::vector<DirectoryEntry>> list(const std::string &path) override;
    [[nodiscard]] Status make_directories(const std::string &path) override;
    [[nodiscard]] Status rename(const std::string &from, const std::string &to) override;
    [[nodiscard]] Status remove(const std::string &path) override;
    [[nodiscard]] Status sync_directory(const std::string &path) override;
    [[nodiscard]] Result<SpaceInfo> space(const std::string &path) override;
    [[nodiscard]] Result<std::unique_ptr<FileLock>> lock(const std::string &path) override;
    [[nodiscard]] Result<std::unique_ptr<DirectoryLock>> lock_directory(const std::string &path) override;

    // The end. Open files fail with io from then on, locks are free, faults and short I/O are off.

    /// Loss of power.
    void crash(std::uint64_t seed);
    /// The end of the process: everything is as it was written, and no more durable than before.
    void kill();
    /// The same disk once more: bytes, names, what is durable, permissions, free space. No open files, locks or faults.
    [[nodiscard]] std::unique_ptr<SimFileSystem> clone();
    /// Makes everything durable.
    void sync_all();

    // Faults. They are on top of each other; a call that fails does nothing, save that a sync_some that fails gives up
    // what was written before it: a later one makes only later writes durable.

    /// The n-th operation from now (1: the next) fails with `code`. cancelled: only where it is a read_some, write_some
    /// or sync_some, and not for ever; other operations go well.
    void fail_operation(std::uint64_t n, ErrorCode code, Repeat repeat = Repeat::once);
    void clear_faults();
    /// Operations so far: each call of a method of FileSystem, File or FileLock, failed ones too.
    [[nodiscard]] std::uint64_t operations() const;
    /// Bytes that may be written on top of what is there; more fails with capacity. Bytes of removed files are free
    /// again. Holes count as bytes.
    void set_space(std::uint64_t total, std::uint64_t available);
    /// From now on reads and writes do only a part, and they and syncs are interrupted now and then (cancelled).
    void set_short_io(std::uint64_t seed);
    /// Opening it for writing fails with io; of a folder, making, renaming and removing in it.
    void set_read_only(const std::string &path, bool read_only);
    /// Listing it fails with io; what is in it stays as it is.
    void set_unreadable(const std::string &path, bool unreadable);
    /// What modified_unix_s of changed files and folders says.
    void set_unix_time(std::int64_t unix_s);

    // The disk itself. No operations. The path must exist (checked), save in set_content and replace_with_directory.

    [[nodiscard]] std::string content(const std::string &path) const;
    /// Makes the file and its folders where they do not exist. Durable at once.
    void set_content(const std::string &path, std::string_view bytes);
    /// Bit 0 is the lowest of the first byte. Durable at once; open files see it.
    void flip_bit(const std::string &path, std::uint64_t bit);
    /// An empty folder where a file was, or nothing. Durable at once.
    void replace_with_directory(const std::string &path);
    /// The paths of all files, each beginning with a slash, in the order of the alphabet.
    [[nodiscard]] std::vector<std::string> files() const;

private:
    friend class SimFile;
    friend class SimFileLock;
    friend class SimDirectoryLock;
    struct Fault {
        std::uint64_t operation;  // counted as operations()
        ErrorCode code;
        Repeat repeat;
    };
    struct Space {
        std::uint64_t total;
        std::uint64_t most_used;
    };
    enum class Interruptible : bool { no, yes };

    // All of these with mutex_ held.
    [[nodiscard]] Status begin(const char *operation, const std::string &path, Interruptible interruptible);
    [[nodiscard]] Status check_alive(std::uint64_t life, const std::string &path) const;
    [[nodiscard]] Result<SimNodePtr> open_node(const std::string &path, OpenMode mode);
    [[nodiscard]] Result<SimNodePtr> folder_at(const std::string &path) const;
    [[nodiscard]] Status check_rename(const SimDisk::Place &from, const SimDisk::Place &to,
                                      const std::string &path) const;
    [[nodiscard]] std::uint64_t available() const;
    [[nodiscard]] Result<std::size_t> write_node(SimNode &node, const std::string &path, std::uint64_t offset,
                                                 Bytes from);
    [[nodiscard]] Status truncate_node(SimNode &node, const std::string &path, std::uint64_t size);
    [[nodiscard]] Result<std::size_t> shortened(std::size_t size, const std::string &path);
    [[nodiscard]] SimDisk::Place make_place(const std::string &path);
    [[nodiscard]] SimNodePtr existing(const std::string &path) const;
    void set_name(const SimDisk::Place &place, SimNodePtr node, std::uint64_t change);
    void end_life();

    mutable std::mutex mutex_;  // guards everything below
    SimDisk disk_;
    std::uint64_t life_ = 1;  // of the process; files and locks of an earlier one are dead
    std::uint64_t operations_ = 0;
    std::vector<Fault> faults_;
    std::optional<Space> space_;
    std::optional<std::mt19937_64> short_io_;
    std::int64_t unix_s_ = 1'700'000'000;
};

}  // namespace cairn
