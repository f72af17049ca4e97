// FileSystem: every operation on files that cairn makes, so that a test can put a disk in its place that lies.
//
//     auto file = files.open(path, OpenMode::create_new);
//     if (!file) return fail(file.error());
//     if (auto done = write_all(**file, 0, bytes); !done) return done;    // short writes and interruptions handled
//     if (auto done = sync(**file); !done) return done;                   // the bytes are on the disk now
//     if (auto done = files.rename(path, final_path); !done) return done; // replaces what was there
//     return files.sync_directory(parent);                                // the new name is on the disk now
//
// Implementations: posix_file_system() and tests/support/sim_file_system.h. tests/env holds what both must pass.
//
// Durability: what was written is safe from the end of the process at once, and from the end of the machine after
// sync(); a name (of a new, renamed or removed file or folder) after sync_directory() of the folder it is in. After a
// sync() that failed with anything but cancelled, what was written before may be lost even where a later one succeeds:
// write it again, or drop the file.
//
// Paths are the system's: relative ones begin at the working directory, symbolic links are followed (but by rename,
// remove and kind_of_name, which are about the link itself, and by lock, which refuses it).
//
// Ownership: a File, FileLock or DirectoryLock closes itself and must not outlive its FileSystem. Errors of closing are
// lost: sync first. Threads: a FileSystem from any thread; a File from one at a time, save read_some, which may run in
// parallel. Errors, `what` always names the path:
//     not_found         there is no such file or folder, or one on the way to it is missing or no folder
//     capacity          the disk or a quota is full; a lock is held by another process
//     cancelled         of read_some, write_some and sync_some only: interrupted before anything was done, so call
//                       again (read_exactly, write_all and sync do)
//     invalid_argument  create_new: the name is taken; a folder where a file must be, or the reverse; a device, pipe or
//                       socket; a folder in the way that is not empty; a NUL in a path
//     io                everything else
// A failed call may have done a part of its work, save where it says otherwise.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "cairn/error.h"

namespace cairn {

enum class OpenMode : std::uint8_t {
    read,        ///< must exist
    read_write,  ///< must exist
    create,      ///< read and write; made empty where it does not exist
    create_new,  ///< read and write; must not exist
};

enum class FileKind : std::uint8_t { file, directory, other };

struct FileInfo {
    FileKind kind = FileKind::other;  ///< of what a symbolic link points to
    std::uint64_t size = 0;           ///< bytes; of a file only
    std::int64_t modified_unix_s = 0;
};

struct DirectoryEntry {
    std::string name;
    FileKind kind = FileKind::other;  ///< a symbolic link is `other`
};

struct SpaceInfo {
    std::uint64_t total = 0;      ///< bytes of the whole file system
    std::uint64_t available = 0;  ///< bytes this user may still fill
};

class File {
public:
    virtual ~File() = default;
    /// Reads up to to.size() bytes; maybe fewer. 0: the file ends at or before `offset` (or `to` is empty).
    [[nodiscard]] virtual Result<std::size_t> read_some(std::uint64_t offset, MutableBytes to) = 0;
    /// Writes at least one byte where `from` is not empty; maybe fewer than all. Extends the file as needed, with zeros
    /// up to `offset`.
    [[nodiscard]] virtual Result<std::size_t> write_some(std::uint64_t offset, Bytes from) = 0;
    /// Cuts the file off at `size`, or extends it with zeros.
    [[nodiscard]] virtual Status truncate(std::uint64_t size) = 0;
    [[nodiscard]] virtual Status sync_some() = 0;  ///< may be interrupted: use sync()
    [[nodiscard]] virtual Result<std::uint64_t> size() = 0;
};

/// Held until it goes. The process's end, however violent, frees it.
class FileLock {
public:
    virtual ~FileLock() = default;
    /// Replaces what the locked file says, for whoever finds it locked. Others read the file as any other; one that
    /// reads at this very moment may see only a beginning.
    [[nodiscard]] virtual Status describe(std::string_view holder) = 0;
};

/// Held until it goes, as a FileLock.
class DirectoryLock {
public:
    virtual ~DirectoryLock() = default;
};

class FileSystem {
public:
    virtual ~FileSystem() = default;
    /// New files are readable and writable by their owner alone (0600).
    [[nodiscard]] virtual Result<std::unique_ptr<File>> open(const std::string &path, OpenMode mode) = 0;
    [[nodiscard]] virtual Result<FileInfo> info(const std::string &path) = 0;
    /// Of the name itself, as list() says it: a symbolic link is `other`, and is there though it leads nowhere.
    [[nodiscard]] virtual Result<FileKind> kind_of_name(const std::string &path) = 0;
    /// Everything in a folder but "." and "..", in no order.
    [[nodiscard]] virtual Result<std::vector<DirectoryEntry>> list(const std::string &path) = 0;
    /// Makes a folder and its parents, for their owner alone (0700). What is there stays as it is.
    [[nodiscard]] virtual Status make_directories(const std::string &path) = 0;
    /// Replaces `to` in one instant (a folder only an empty folder). On an error both are as they were.
    [[nodiscard]] virtual Status rename(const std::string &from, const std::string &to) = 0;
    /// A file, a symbolic link, or an empty folder. On an error it is still there.
    [[nodiscard]] virtual Status remove(const std::string &path) = 0;
    [[nodiscard]] virtual Status sync_directory(const std::string &path) = 0;
    [[nodiscard]] virtual Result<SpaceInfo> space(const std::string &path) = 0;
    /// Locks a file for this process, making it where it does not exist. capacity: another process (or another lock of
    /// this one) holds it. invalid_argument: the name is a symbolic link, or no file. Never waits.
    [[nodiscard]] virtual Result<std::unique_ptr<FileLock>> lock(const std::string &path) = 0;
    /// Locks a folder itself, which excludes others whatever becomes of the files in it. Errors as lock(). Where a file
    /// system cannot lock folders (some network ones) it holds nothing, and the lock of a file must do.
    [[nodiscard]] virtual Result<std::unique_ptr<DirectoryLock>> lock_directory(const std::string &path) = 0;
};

/// The files of the machine. Lives as long as the program.
[[nodiscard]] FileSystem &posix_file_system();

// The rest of this header is the same for every FileSystem. Interruptions are tried again as long as they last.

/// Fills `to` completely. corrupt: the file ends before (this `what` names offsets, and no path).
[[nodiscard]] Status read_exactly(File &file, std::uint64_t offset, MutableBytes to);
[[nodiscard]] Status write_all(File &file, std::uint64_t offset, Bytes from);
[[nodiscard]] Status sync(File &file);
/// The whole of a small file, of at most `most` bytes (corrupt where it is longer).
[[nodiscard]] Result<std::string> read_text(FileSystem &files, const std::string &path, std::size_t most = 65536);
/// "a" + "b" -> "a/b", with one slash where `folder` ends with some; "" + "b" -> "b".
[[nodiscard]] std::string join_path(std::string_view folder, std::string_view name);

}  // namespace cairn
