// The FileSystem of the machine. Every call is one system call or a few; nothing is cached here.
#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <system_error>
#include <utility>

#include "env/file_system.h"

namespace cairn {

namespace {

/// Calls `system_call` until it is not interrupted. For the calls whose interruption the caller must not see.
template <class SystemCall>
auto uninterrupted(const SystemCall &system_call) {
    for (;;) {
        const auto result = system_call();
        if (result != -1 || errno != EINTR) return result;
    }
}

ErrorCode code_of(int error) {
    switch (error) {
        case ENOENT:
        case ENOTDIR: return ErrorCode::not_found;
        case ENOSPC:
        case EDQUOT: return ErrorCode::capacity;
        case EINTR: return ErrorCode::cancelled;
        case EEXIST:  // create_new. Some file systems also say it of a folder that is not empty
        case ENOTEMPTY:
        case EISDIR: return ErrorCode::invalid_argument;
        default: return ErrorCode::io;
    }
}

const char *advice_for(int error) {
    switch (error) {
        case ENOSPC: return ". Free some space there";
        case EDQUOT: return ". Free some space or have the quota raised";
        case EFBIG: return ". Raise the limit of the size of files (ulimit -f), or use another file system";
        case EACCES:
        case EPERM: return ". Check its owner and permissions";
        case EROFS: return ". Choose a folder that can be written to";
        case EMFILE:
        case ENFILE: return ". Raise the limit of open files (ulimit -n)";
        default: return "";
    }
}

/// `done`: what could not be done, as in "opened". Reads errno.
tl::unexpected<Error> failure(const std::string &path, const char *done) {
    const int error = errno;
    return fail(code_of(error), "{}: cannot be {}: {}{}", path, done, std::generic_category().message(error),
                advice_for(error));
}

/// The C interface would take the path up to the NUL: another file.
Status check_path(const std::string &path) {
    if (path.find('\0') == std::string::npos) return {};
    return fail(ErrorCode::invalid_argument, "{}: a path cannot hold a NUL byte", path.substr(0, path.find('\0')));
}

bool is_folder(const std::string &path) {
    struct stat status {};
    return uninterrupted([&] { return ::stat(path.c_str(), &status); }) == 0 && S_ISDIR(status.st_mode);
}

bool is_link(const std::string &path) {
    struct stat status {};
    return uninterrupted([&] { return ::lstat(path.c_str(), &status); }) == 0 && S_ISLNK(status.st_mode);
}

bool exists(const std::string &path) {
    struct stat status {};
    return uninterrupted([&] { return ::stat(path.c_str(), &status); }) == 0;
}

/// ENOTDIR says the same of a missing folder on the way and of a last part that is a file; callers want to know which.
tl::unexpected<Error> folder_failure(const std::string &path, const char *done) {
    if (errno != ENOTDIR || !exists(path)) {
        return failure(path, done);
    }
    return fail(ErrorCode::invalid_argument, "{}: cannot be {}: it is not a folder", path, done);
}

FileKind kind_of(mode_t mode) {
    if (S_ISREG(mode)) return FileKind::file;
    return S_ISDIR(mode) ? FileKind::directory : FileKind::other;
}

/// An open file descriptor. Move-only; closes itself.
class Descriptor {
public:
    Descriptor() = default;
    explicit Descriptor(int fd) noexcept : fd_(fd) {}
    Descriptor(Descriptor &&other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
    Descriptor &operator=(Descriptor &&other) noexcept {
        std::swap(fd_, other.fd_);
        return *this;
    }
    ~Descriptor() {
        // Not tried again where it is interrupted: on Linux the descriptor is free even then.
        if (fd_ >= 0) ::close(fd_);
    }
    [[nodiscard]] int get() const noexcept { return fd_; }

private:
    int fd_ = -1;
};

class PosixFile final : public File {
public:
    PosixFile(Descriptor fd, std::string path) : fd_(std::move(fd)), path_(std::move(path)) {}

    Result<std::size_t> read_some(std::uint64_t offset, MutableBytes to) override {
        const ssize_t read = ::pread(fd_.get(), to.data(), to.size(), static_cast<off_t>(offset));
        if (read < 0) return failure(path_, "read");
        return static_cast<std::size_t>(read);
    }
    Result<std::size_t> write_some(std::uint64_t offset, Bytes from) override {
        const ssize_t written = ::pwrite(fd_.get(), from.data(), from.size(), static_cast<off_t>(offset));
        if (written < 0) return failure(path_, "written");
        if (written == 0 && !from.empty()) {
            // No file system of Linux does it; a caller that goes on would never come to an end.
            return fail(ErrorCode::io, "{}: cannot be written: the system wrote nothing and named no reason", path_);
        }
        return static_cast<std::size_t>(written);
    }
    Status truncate(std::uint64_t size) override {
        if (uninterrupted([&] { return ::ftruncate(fd_.get(), static_cast<off_t>(size)); }) != 0)
            return failure(path_, "cut to another size");
        return {};
    }
    Status sync_some() override {
        // fdatasync flushes the size with the bytes; only times may stay behind.
        if (::fdatasync(fd_.get()) != 0) return failure(path_, "flushed to the disk");
        return {};
    }
    Result<std::uint64_t> size() override {
        struct stat status {};
        if (uninterrupted([&] { return ::fstat(fd_.get(), &status); }) != 0)
            return failure(path_, "asked for its size");
        return static_cast<std::uint64_t>(status.st_size);
    }
    [[nodiscard]] int descriptor() const noexcept { return fd_.get(); }

private:
    Descriptor fd_;
    std::string path_;
};

/// O_NONBLOCK: opening a pipe without a writer would wait for ever. Reads and writes of regular files do not heed it.
Result<Descriptor> open_regular(const std::string &path, int flags) {
    if (auto ok = check_path(path); !ok) return fail(ok.error());
    flags |= O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
    Descriptor fd(uninterrupted([&] { return ::open(path.c_str(), flags, 0600); }));
    if (fd.get() < 0 && errno == ENXIO)
        return fail(ErrorCode::invalid_argument, "{}: cannot be opened: it is not a file, but a socket or device",
                    path);
    if (fd.get() < 0) return failure(path, "opened");
    struct stat status {};
    if (uninterrupted([&] { return ::fstat(fd.get(), &status); }) != 0) return failure(path, "opened");
    if (!S_ISREG(status.st_mode))
        return fail(ErrorCode::invalid_argument, "{}: cannot be opened: it is not a file, but a {}", path,
                    S_ISDIR(status.st_mode) ? "folder" : "device or pipe");
    return fd;
}

int flags_of(OpenMode mode) {
    switch (mode) {
        case OpenMode::read: return O_RDONLY;
        case OpenMode::read_write: return O_RDWR;
        case OpenMode::create: return O_RDWR | O_CREAT;
        case OpenMode::create_new: return O_RDWR | O_CREAT | O_EXCL;
    }
    return O_RDONLY;
}

class PosixDirectoryLock final : public DirectoryLock {
public:
    explicit PosixDirectoryLock(Descriptor fd) : fd_(std::move(fd)) {}

private:
    Descriptor fd_;
};

class PosixFileLock final : public FileLock {
public:
    explicit PosixFileLock(std::unique_ptr<PosixFile> file) : file_(std::move(file)) {}
    Status describe(std::string_view holder) override {
        // Emptied first: a reader in between sees a beginning of the new text, never a mixture.
        if (auto done = file_->truncate(0); !done) return done;
        return write_all(*file_, 0, std::as_bytes(std::span(holder)));
    }

private:
    std::unique_ptr<PosixFile> file_;  // flock ends with its descriptor
};

/// Whether `path` still names the file behind `fd`. Where somebody removed it meanwhile, a lock on it excludes nobody.
bool still_named(const std::string &path, int fd) {
    struct stat named {};
    struct stat open {};
    return uninterrupted([&] { return ::stat(path.c_str(), &named); }) == 0 &&
           uninterrupted([&] { return ::fstat(fd, &open); }) == 0 && named.st_dev == open.st_dev &&
           named.st_ino == open.st_ino;
}

/// Most file systems tell the kind with the name; the others are asked. Nothing where the entry has gone.
Result<FileKind> kind_of_entry(DIR *folder, const std::string &path, const dirent &entry) {
    switch (entry.d_type) {
        case DT_REG: return FileKind::file;
        case DT_DIR: return FileKind::directory;
        case DT_UNKNOWN: break;
        default: return FileKind::other;
    }
    struct stat status {};
    if (uninterrupted([&] { return ::fstatat(::dirfd(folder), entry.d_name, &status, AT_SYMLINK_NOFOLLOW); }) != 0)
        return failure(join_path(path, entry.d_name), "looked at");
    return kind_of(status.st_mode);
}

struct CloseFolder {
    void operator()(DIR *folder) const noexcept { ::closedir(folder); }
};

class PosixFileSystem final : public FileSystem {
public:
    Result<std::unique_ptr<File>> open(const std::string &path, OpenMode mode) override {
        auto fd = open_regular(path, flags_of(mode));
        if (!fd) return fail(fd.error());
        return std::make_unique<PosixFile>(std::move(*fd), path);
    }

    Result<FileInfo> info(const std::string &path) override {
        if (auto ok = check_path(path); !ok) return fail(ok.error());
        struct stat status {};
        if (uninterrupted([&] { return ::stat(path.c_str(), &status); }) != 0) return failure(path, "looked at");
        FileInfo info;
        info.kind = kind_of(status.st_mode);
        if (info.kind == FileKind::file) info.size = static_cast<std::uint64_t>(status.st_size);
        info.modified_unix_s = status.st_mtim.tv_sec;
        return info;
    }

    Result<FileKind> kind_of_name(const std::string &path) override {
        if (auto ok = check_path(path); !ok) return fail(ok.error());
        struct stat status {};
        if (uninterrupted([&] { return ::lstat(path.c_str(), &status); }) != 0) return failure(path, "looked at");
        return kind_of(status.st_mode);
    }

    Result<std::vector<DirectoryEntry>> list(const std::string &path) override {
        if (auto ok = check_path(path); !ok) return fail(ok.error());
        DIR *opened = nullptr;
        do {
            errno = 0;
            opened = ::opendir(path.c_str());
        } while (opened == nullptr && errno == EINTR);
        if (opened == nullptr) return folder_failure(path, "listed");
        const std::unique_ptr<DIR, CloseFolder> folder(opened);
        std::vector<DirectoryEntry> entries;
        for (;;) {
            errno = 0;
            const dirent *entry = ::readdir(folder.get());
            if (entry == nullptr && errno == EINTR) continue;
            if (entry == nullptr && errno != 0) return failure(path, "listed");
            if (entry == nullptr) return entries;
            const std::string_view name = entry->d_name;
            if (name == "." || name == "..") continue;
            const auto kind = kind_of_entry(folder.get(), path, *entry);
            if (!kind && kind.error().code == ErrorCode::not_found) continue;
            if (!kind) return fail(kind.error());
            entries.push_back({std::string(name), *kind});
        }
    }

    Status make_directories(const std::string &path) override {
        if (auto ok = check_path(path); !ok) return ok;
        for (std::size_t end = 0; end != std::string::npos;) {
            end = path.find('/', end + 1);
            const std::string part = path.substr(0, end);
            if (uninterrupted([&] { return ::mkdir(part.c_str(), 0700); }) == 0 || errno == EEXIST) continue;
            if (errno == ENOTDIR) break;  // said below
            return failure(part, "made a folder");
        }
        if (is_folder(path)) return {};
        return fail(ErrorCode::invalid_argument, "{}: cannot be made a folder: it, or a part of its path, is a file",
                    path);
    }

    Status rename(const std::string &from, const std::string &to) override {
        if (auto ok = check_path(from); !ok) return ok;
        if (auto ok = check_path(to); !ok) return ok;
        if (uninterrupted([&] { return ::rename(from.c_str(), to.c_str()); }) == 0) return {};
        if (errno == ENOTDIR && is_folder(from) && exists(to)) {
            return fail(ErrorCode::invalid_argument, "{}: cannot be renamed to {}: that is a file, and this a folder",
                        from, to);
        }
        return failure(from, fmt::format("renamed to {}", to).c_str());
    }

    Status remove(const std::string &path) override {
        if (auto ok = check_path(path); !ok) return ok;
        if (uninterrupted([&] { return ::remove(path.c_str()); }) != 0) return failure(path, "removed");
        return {};
    }

    Status sync_directory(const std::string &path) override {
        if (auto ok = check_path(path); !ok) return ok;
        const Descriptor fd(
            uninterrupted([&] { return ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NONBLOCK); }));
        if (fd.get() < 0) return folder_failure(path, "flushed to the disk");
        // EINVAL: this file system cannot flush folders (some network and user-space ones), which is no failure of
        // ours.
        if (uninterrupted([&] { return ::fsync(fd.get()); }) != 0 && errno != EINVAL)
            return failure(path, "flushed to the disk");
        return {};
    }

    Result<SpaceInfo> space(const std::string &path) override {
        if (auto ok = check_path(path); !ok) return fail(ok.error());
        struct statvfs status {};
        if (uninterrupted([&] { return ::statvfs(path.c_str(), &status); }) != 0)
            return failure(path, "asked for free space");
        const std::uint64_t unit = status.f_frsize;
        return SpaceInfo{status.f_blocks * unit, status.f_bavail * unit};
    }

    Result<std::unique_ptr<FileLock>> lock(const std::string &path) override {
        // flock and not fcntl: a lock of fcntl does not exclude its own process, and goes when any descriptor of the
        // file is closed.
        constexpr int kTries = 16;
        for (int i = 0; i < kTries; ++i) {
            // A link could lead to a file that is somebody else's, and what is not a file cannot say who holds it.
            auto fd = open_regular(path, O_RDWR | O_CREAT | O_NOFOLLOW);
            if (!fd && is_link(path))
                return fail(ErrorCode::invalid_argument, "{}: cannot be locked: it is a symbolic link", path);
            if (!fd) return fail(fd.error());
            auto file = std::make_unique<PosixFile>(std::move(*fd), path);
            const int descriptor = file->descriptor();
            if (uninterrupted([&] { return ::flock(descriptor, LOCK_EX | LOCK_NB); }) != 0) {
                if (errno != EWOULDBLOCK) return failure(path, "locked");
                return fail(ErrorCode::capacity, "{}: is locked by another process, or a second time by this one",
                            path);
            }
            if (still_named(path, descriptor)) return std::make_unique<PosixFileLock>(std::move(file));
        }
        return fail(ErrorCode::capacity, "{}: cannot be locked: somebody removes the file over and over", path);
    }

    Result<std::unique_ptr<DirectoryLock>> lock_directory(const std::string &path) override {
        if (auto ok = check_path(path); !ok) return fail(ok.error());
        Descriptor fd(uninterrupted([&] { return ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); }));
        if (fd.get() < 0) return folder_failure(path, "locked");
        // Anything but "held" means that this file system cannot do it: flock on NFS wants to write, for one.
        if (uninterrupted([&] { return ::flock(fd.get(), LOCK_EX | LOCK_NB); }) != 0 && errno == EWOULDBLOCK)
            return fail(ErrorCode::capacity, "{}: is locked by another process, or a second time by this one", path);
        return std::make_unique<PosixDirectoryLock>(std::move(fd));
    }
};

}  // namespace

FileSystem &posix_file_system() {
    static PosixFileSystem files;
    return files;
}

}  // namespace cairn
