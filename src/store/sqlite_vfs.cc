#include "store/sqlite_vfs.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <new>
#include <string_view>
#include <utility>

#include "base/check.h"

namespace cairn {
namespace {

constexpr int kMaxName = 64;  // SQLite's names are "db" and a suffix

/// SQLite allocates szOsFile bytes for each; xOpen makes one in them and xClose ends it.
struct VfsFile : sqlite3_file {
    SqliteVfs *vfs = nullptr;
    std::unique_ptr<File> file;
    bool name_unsynced = false;  ///< made by this open, maybe: its name is to be synced with it
};

SqliteVfs &self(sqlite3_vfs *vfs) {
    return *static_cast<SqliteVfs *>(vfs->pAppData);
}
VfsFile &self(sqlite3_file *file) {
    return *static_cast<VfsFile *>(file);
}
/// The machine's own VFS, for what has nothing to do with files.
sqlite3_vfs *machine() {
    return sqlite3_vfs_find(nullptr);
}

// -- one file. Exceptions must not cross SQLite's C: a callback that cannot get a few bytes ends the process
// -----------

int close_file(sqlite3_file *raw) noexcept {
    self(raw).~VfsFile();
    return SQLITE_OK;
}

int read_file(sqlite3_file *raw, void *to, int amount, sqlite3_int64 offset) noexcept {
    VfsFile &at = self(raw);
    MutableBytes left(static_cast<std::byte *>(to), static_cast<std::size_t>(amount));
    auto position = static_cast<std::uint64_t>(offset);
    while (!left.empty()) {
        const auto got = uninterrupted([&] { return at.file->read_some(position, left); });
        if (!got) return at.vfs->failed(got.error(), SQLITE_IOERR_READ);
        if (*got == 0) break;
        CAIRN_CHECK(*got <= left.size(), "read {} bytes of {}", *got, left.size());
        left = left.subspan(*got);
        position += *got;
    }
    if (left.empty()) return SQLITE_OK;
    std::memset(left.data(), 0, left.size());  // SQLite relies on it
    return SQLITE_IOERR_SHORT_READ;
}

int write_file(sqlite3_file *raw, const void *from, int amount, sqlite3_int64 offset) noexcept {
    VfsFile &at = self(raw);
    const Bytes bytes(static_cast<const std::byte *>(from), static_cast<std::size_t>(amount));
    const auto done = write_all(*at.file, static_cast<std::uint64_t>(offset), bytes);
    return done ? SQLITE_OK : at.vfs->failed(done.error(), SQLITE_IOERR_WRITE);
}

int truncate_file(sqlite3_file *raw, sqlite3_int64 size) noexcept {
    VfsFile &at = self(raw);
    const auto done = uninterrupted([&] { return at.file->truncate(static_cast<std::uint64_t>(size)); });
    return done ? SQLITE_OK : at.vfs->failed(done.error(), SQLITE_IOERR_TRUNCATE);
}

int sync_file(sqlite3_file *raw, int) noexcept {
    VfsFile &at = self(raw);
    if (const auto done = sync(*at.file); !done) return at.vfs->failed(done.error(), SQLITE_IOERR_FSYNC);
    if (!at.name_unsynced) return SQLITE_OK;
    const auto named = uninterrupted([&] { return at.vfs->files().sync_directory(folder_of(at.vfs->path())); });
    if (!named) return at.vfs->failed(named.error(), SQLITE_IOERR_DIR_FSYNC);
    at.name_unsynced = false;
    return SQLITE_OK;
}

int file_size(sqlite3_file *raw, sqlite3_int64 *size) noexcept {
    VfsFile &at = self(raw);
    const auto found = uninterrupted([&] { return at.file->size(); });
    if (!found) return at.vfs->failed(found.error(), SQLITE_IOERR_FSTAT);
    *size = static_cast<sqlite3_int64>(*found);
    return SQLITE_OK;
}

int lock_file(sqlite3_file *, int) noexcept {
    return SQLITE_OK;
}

int check_reserved_lock(sqlite3_file *, int *held) noexcept {
    *held = 0;
    return SQLITE_OK;
}

int control_file(sqlite3_file *, int, void *) noexcept {
    return SQLITE_NOTFOUND;
}

int sector_size(sqlite3_file *) noexcept {
    return 4096;
}

/// As SQLite's own VFS for Unix says: a write that the power cuts off leaves the bytes beside it as they were.
int device_characteristics(sqlite3_file *) noexcept {
    return SQLITE_IOCAP_POWERSAFE_OVERWRITE;
}

/// Version 1: without shared memory and memory mapping.
constexpr sqlite3_io_methods kFileMethods{
    .iVersion = 1,
    .xClose = close_file,
    .xRead = read_file,
    .xWrite = write_file,
    .xTruncate = truncate_file,
    .xSync = sync_file,
    .xFileSize = file_size,
    .xLock = lock_file,
    .xUnlock = lock_file,
    .xCheckReservedLock = check_reserved_lock,
    .xFileControl = control_file,
    .xSectorSize = sector_size,
    .xDeviceCharacteristics = device_characteristics,
    .xShmMap = nullptr,
    .xShmLock = nullptr,
    .xShmBarrier = nullptr,
    .xShmUnmap = nullptr,
    .xFetch = nullptr,
    .xUnfetch = nullptr,
};

// -- all files -----------------------------------------------------------------------------------------------------

OpenMode mode_of(int flags) {
    if ((flags & SQLITE_OPEN_READONLY) != 0) return OpenMode::read;
    if ((flags & SQLITE_OPEN_CREATE) == 0) return OpenMode::read_write;
    return (flags & SQLITE_OPEN_EXCLUSIVE) != 0 ? OpenMode::create_new : OpenMode::create;
}

int open_file(sqlite3_vfs *raw, const char *name, sqlite3_file *to, int flags, int *out_flags) noexcept {
    SqliteVfs &vfs = self(raw);
    to->pMethods = nullptr;  // until it is open SQLite must not close it
    const auto path = vfs.path_of(name);
    if (!path) return SQLITE_CANTOPEN;
    auto file = uninterrupted([&] { return vfs.files().open(*path, mode_of(flags)); });
    if (!file) return vfs.failed(file.error(), SQLITE_CANTOPEN);
    auto *made = new (to) VfsFile;
    made->pMethods = &kFileMethods;
    made->vfs = &vfs;
    made->file = std::move(*file);
    made->name_unsynced = (flags & SQLITE_OPEN_CREATE) != 0;
    if (out_flags != nullptr) *out_flags = flags;
    return SQLITE_OK;
}

int delete_file(sqlite3_vfs *raw, const char *name, int sync_folder) noexcept {
    SqliteVfs &vfs = self(raw);
    const auto path = vfs.path_of(name);
    if (!path) return SQLITE_IOERR_DELETE;
    const auto gone = uninterrupted([&] { return vfs.files().remove(*path); });
    if (!gone && gone.error().code == ErrorCode::not_found) return SQLITE_IOERR_DELETE_NOENT;
    if (!gone) return vfs.failed(gone.error(), SQLITE_IOERR_DELETE);
    if (sync_folder == 0) return SQLITE_OK;
    const auto synced = uninterrupted([&] { return vfs.files().sync_directory(folder_of(vfs.path())); });
    return synced ? SQLITE_OK : vfs.failed(synced.error(), SQLITE_IOERR_DIR_FSYNC);
}

/// An empty file counts as none, as in SQLite's own VFS: an empty journal has nothing to say.
int access_file(sqlite3_vfs *raw, const char *name, int, int *found) noexcept {
    SqliteVfs &vfs = self(raw);
    *found = 0;
    const auto path = vfs.path_of(name);
    if (!path) return SQLITE_OK;
    const auto info = uninterrupted([&] { return vfs.files().info(*path); });
    if (!info && info.error().code == ErrorCode::not_found) return SQLITE_OK;
    if (!info) return vfs.failed(info.error(), SQLITE_IOERR_ACCESS);
    *found = info->kind != FileKind::file || info->size > 0 ? 1 : 0;
    return SQLITE_OK;
}

int full_path(sqlite3_vfs *, const char *name, int room, char *to) noexcept {
    const std::size_t length = std::strlen(name);
    if (length + 1 > static_cast<std::size_t>(room)) return SQLITE_CANTOPEN;
    std::memcpy(to, name, length + 1);
    return SQLITE_OK;
}

void *open_library(sqlite3_vfs *, const char *) noexcept {
    return nullptr;
}
void library_error(sqlite3_vfs *, int room, char *to) noexcept {
    if (room > 0) to[0] = '\0';
}
using LibrarySymbol = void (*)();
LibrarySymbol library_symbol(sqlite3_vfs *, void *, const char *) noexcept {
    return nullptr;
}
void close_library(sqlite3_vfs *, void *) noexcept {}

int randomness(sqlite3_vfs *, int room, char *to) noexcept {
    return machine()->xRandomness(machine(), room, to);
}
int sleep_us(sqlite3_vfs *, int microseconds) noexcept {
    return machine()->xSleep(machine(), microseconds);
}
int current_time(sqlite3_vfs *, double *julian_day) noexcept {
    return machine()->xCurrentTime(machine(), julian_day);
}
int last_system_error(sqlite3_vfs *, int, char *) noexcept {
    return 0;
}

}  // namespace

std::string folder_of(const std::string &path) {
    const auto slash = path.rfind('/');
    if (slash == std::string::npos) return ".";
    return slash == 0 ? "/" : path.substr(0, slash);
}

SqliteVfs::SqliteVfs(FileSystem &files, std::string path)
    : files_(files), path_(std::move(path)), vfs_(std::make_unique<sqlite3_vfs>()) {
    static std::atomic<std::uint64_t> made{0};  // SQLite's list of VFSs is the process's, so the names must be, too
    name_ = fmt::format("cairn-{}", made.fetch_add(1));
    *vfs_ = {};
    vfs_->iVersion = 1;
    vfs_->szOsFile = sizeof(VfsFile);
    vfs_->mxPathname = kMaxName;
    vfs_->zName = name_.c_str();
    vfs_->pAppData = this;
    vfs_->xOpen = open_file;
    vfs_->xDelete = delete_file;
    vfs_->xAccess = access_file;
    vfs_->xFullPathname = full_path;
    vfs_->xDlOpen = open_library;
    vfs_->xDlError = library_error;
    vfs_->xDlSym = library_symbol;
    vfs_->xDlClose = close_library;
    vfs_->xRandomness = randomness;
    vfs_->xSleep = sleep_us;
    vfs_->xCurrentTime = current_time;
    vfs_->xGetLastError = last_system_error;
    const int code = sqlite3_vfs_register(vfs_.get(), 0);
    CAIRN_CHECK(code == SQLITE_OK, "SQLite takes no file system: {}", sqlite3_errstr(code));
}

SqliteVfs::~SqliteVfs() {
    sqlite3_vfs_unregister(vfs_.get());
}

std::optional<std::string> SqliteVfs::path_of(const char *sqlite_name) const {
    constexpr std::array<std::string_view, 3> kSuffixes{"", "-wal", "-journal"};
    if (sqlite_name == nullptr) return std::nullopt;  // a temporary file
    const std::string_view name = sqlite_name;
    if (!name.starts_with(kDatabase)) return std::nullopt;
    const std::string_view suffix = name.substr(std::strlen(kDatabase));
    if (std::find(kSuffixes.begin(), kSuffixes.end(), suffix) == kSuffixes.end()) return std::nullopt;
    return path_ + std::string(suffix);
}

int SqliteVfs::failed(const Error &error, int otherwise) {
    last_error_ = error;
    if (error.code == ErrorCode::no_memory) return SQLITE_IOERR_NOMEM;
    return error.code == ErrorCode::capacity && otherwise == SQLITE_IOERR_WRITE ? SQLITE_FULL : otherwise;
}

}  // namespace cairn
