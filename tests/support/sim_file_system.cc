#include "tests/support/sim_file_system.h"

#include <algorithm>
#include <cstring>

#include "base/check.h"

namespace cairn {

namespace {

/// More is EFBIG: a test that gets here means something else.
constexpr std::uint64_t kMostFileBytes = std::uint64_t{1} << 30;
/// What pread and pwrite can name.
constexpr std::uint64_t kMostOffset = std::uint64_t{1} << 63;
constexpr std::uint64_t kDefaultSpace = std::uint64_t{1} << 40;

bool is_folder(const SimNodePtr &node) {
    return node && node->kind == FileKind::directory;
}

tl::unexpected<Error> no_such(const std::string &path) {
    return fail(ErrorCode::not_found, "{}: there is no such file or folder", path);
}

tl::unexpected<Error> read_only(const std::string &path) {
    return fail(ErrorCode::io, "{}: is read-only. Check its owner and permissions", path);
}

tl::unexpected<Error> disk_full(const std::string &path) {
    return fail(ErrorCode::capacity, "{}: the disk is full. Free some space there", path);
}

std::string_view as_text(Bytes bytes) {
    return {reinterpret_cast<const char *>(bytes.data()), bytes.size()};
}

}  // namespace

class SimFile final : public File {
public:
    SimFile(SimFileSystem &files, SimNodePtr node, std::string path, bool writable)
        : files_(files), node_(std::move(node)), path_(std::move(path)), writable_(writable), life_(files.life_) {}

    Result<std::size_t> read_some(std::uint64_t offset, MutableBytes to) override {
        const std::lock_guard lock(files_.mutex_);
        if (auto ok = begin("read_some", SimFileSystem::Interruptible::yes); !ok) return fail(ok.error());
        if (offset >= kMostOffset) return fail(ErrorCode::io, "{}: no offset of a file: {}", path_, offset);
        const auto wanted = files_.shortened(to.size(), path_);
        if (!wanted) return wanted;
        const std::string &bytes = node_->content.bytes();
        if (offset >= bytes.size()) return 0;
        const std::size_t size = std::min<std::uint64_t>(*wanted, bytes.size() - offset);
        if (size > 0) std::memcpy(to.data(), bytes.data() + offset, size);
        return size;
    }
    Result<std::size_t> write_some(std::uint64_t offset, Bytes from) override {
        const std::lock_guard lock(files_.mutex_);
        if (auto ok = begin("write_some", SimFileSystem::Interruptible::yes); !ok) return fail(ok.error());
        if (!writable_) return fail(ErrorCode::io, "{}: was opened for reading only", path_);
        const auto wanted = files_.shortened(from.size(), path_);
        if (!wanted) return wanted;
        return files_.write_node(*node_, path_, offset, from.first(*wanted));
    }
    Status truncate(std::uint64_t size) override {
        const std::lock_guard lock(files_.mutex_);
        if (auto ok = begin("truncate", SimFileSystem::Interruptible::no); !ok) return ok;
        if (!writable_) return fail(ErrorCode::io, "{}: was opened for reading only", path_);
        return files_.truncate_node(*node_, path_, size);
    }
    Status sync_some() override {
        const std::lock_guard lock(files_.mutex_);
        auto ok = begin("sync_some", SimFileSystem::Interruptible::yes);
        if (ok) ok = files_.shortened(0, path_).map([](std::size_t) {});
        if (ok)
            node_->content.sync();
        else if (ok.error().code != ErrorCode::cancelled)
            node_->content.fail_sync();
        return ok;
    }
    Result<std::uint64_t> size() override {
        const std::lock_guard lock(files_.mutex_);
        if (auto ok = begin("size", SimFileSystem::Interruptible::no); !ok) return fail(ok.error());
        return node_->content.bytes().size();
    }

private:
    Status begin(const char *operation, SimFileSystem::Interruptible interruptible) {
        auto ok = files_.begin(operation, path_, interruptible);
        if (auto alive = files_.check_alive(life_, path_); !alive) return alive;
        return ok;
    }

    SimFileSystem &files_;
    SimNodePtr node_;
    std::string path_;
    bool writable_;
    std::uint64_t life_;
};

class SimFileLock final : public FileLock {
public:
    SimFileLock(SimFileSystem &files, SimNodePtr node, std::string path)
        : files_(files), node_(std::move(node)), path_(std::move(path)), life_(files.life_) {
        node_->locked_in = life_;
    }
    ~SimFileLock() override {
        const std::lock_guard lock(files_.mutex_);
        if (node_->locked_in == life_) node_->locked_in = 0;
    }
    Status describe(std::string_view holder) override {
        const std::lock_guard lock(files_.mutex_);
        auto ok = files_.begin("describe", path_, SimFileSystem::Interruptible::no);
        if (auto alive = files_.check_alive(life_, path_); !alive) return alive;
        if (!ok) return ok;
        if (auto done = files_.truncate_node(*node_, path_, 0); !done) return done;
        const auto written = files_.write_node(*node_, path_, 0, std::as_bytes(std::span(holder)));
        if (!written) return fail(written.error());
        if (*written < holder.size()) return disk_full(path_);
        return {};
    }

private:
    SimFileSystem &files_;
    SimNodePtr node_;
    std::string path_;
    std::uint64_t life_;
};

class SimDirectoryLock final : public DirectoryLock {
public:
    SimDirectoryLock(SimFileSystem &files, SimNodePtr node)
        : files_(files), node_(std::move(node)), life_(files.life_) {
        node_->locked_in = life_;
    }
    ~SimDirectoryLock() override {
        const std::lock_guard lock(files_.mutex_);
        if (node_->locked_in == life_) node_->locked_in = 0;
    }

private:
    SimFileSystem &files_;
    SimNodePtr node_;
    std::uint64_t life_;
};

Status SimFileSystem::begin(const char *operation, const std::string &path, Interruptible interruptible) {
    ++operations_;
    for (const Fault &fault : faults_) {
        const bool due =
            fault.operation == operations_ || (fault.repeat == Repeat::for_ever && fault.operation < operations_);
        if (!due || (fault.code == ErrorCode::cancelled && interruptible == Interruptible::no)) continue;
        return fail(fault.code, "{}: operation {} ({}) was made to fail", path, operations_, operation);
    }
    return {};
}

Status SimFileSystem::check_alive(std::uint64_t life, const std::string &path) const {
    if (life == life_) return {};
    return fail(ErrorCode::io, "{}: was opened before the process ended or the machine lost power", path);
}

Result<std::size_t> SimFileSystem::shortened(std::size_t size, const std::string &path) {
    if (!short_io_) return size;
    auto &random = *short_io_;
    if (random() % 4 == 0) return fail(ErrorCode::cancelled, "{}: interrupted. Try again", path);
    return size == 0 || random() % 4 == 0 ? size : 1 + random() % size;
}

std::uint64_t SimFileSystem::available() const {
    const std::uint64_t most = space_ ? space_->most_used : kDefaultSpace;
    const std::uint64_t used = disk_.used_bytes();
    return most > used ? most - used : 0;
}

Result<std::size_t> SimFileSystem::write_node(SimNode &node, const std::string &path, std::uint64_t offset,
                                              Bytes from) {
    const std::uint64_t size = node.content.bytes().size();
    if (from.empty()) return 0;
    if (offset > kMostFileBytes || from.size() > kMostFileBytes - offset)
        return fail(ErrorCode::io, "{}: the file would be too large", path);
    if (space_ && offset + from.size() > size) {
        // As a real disk: what fits is written, and only a write of which nothing fits fails.
        const std::uint64_t most = size + available();
        if (most <= offset) return disk_full(path);
        from = from.first(std::min<std::uint64_t>(from.size(), most - offset));
    }
    node.content.write(disk_.next_change(), offset, as_text(from));
    node.modified_unix_s = unix_s_;
    return from.size();
}

Status SimFileSystem::truncate_node(SimNode &node, const std::string &path, std::uint64_t size) {
    const std::uint64_t old_size = node.content.bytes().size();
    if (size > kMostFileBytes) return fail(ErrorCode::io, "{}: the file would be too large", path);
    if (space_ && size > old_size && size - old_size > available()) return disk_full(path);
    node.content.truncate(disk_.next_change(), size);
    node.modified_unix_s = unix_s_;
    return {};
}

void SimFileSystem::set_name(const SimDisk::Place &place, SimNodePtr node, std::uint64_t change) {
    place.folder->names.set(change, place.name, std::move(node));
    place.folder->modified_unix_s = unix_s_;
}

Result<SimNodePtr> SimFileSystem::open_node(const std::string &path, OpenMode mode) {
    const auto place = disk_.resolve(path);
    if (!place) return fail(place.error());
    const SimNodePtr &node = place->node;
    const bool makes = mode == OpenMode::create || mode == OpenMode::create_new;
    if (node && mode == OpenMode::create_new)
        return fail(ErrorCode::invalid_argument, "{}: cannot be made: the name is taken", path);
    if (is_folder(node) || (makes && place->must_be_folder))
        return fail(ErrorCode::invalid_argument, "{}: cannot be opened: it is not a file, but a folder", path);
    if (place->must_be_folder || (!node && !makes)) return no_such(path);
    if (node && node->read_only && mode != OpenMode::read) return read_only(path);
    if (node) return node;
    if (place->folder->read_only) return read_only(path);
    auto made = std::make_shared<SimNode>();
    made->modified_unix_s = unix_s_;
    set_name(*place, made, disk_.next_change());
    return made;
}

Result<SimNodePtr> SimFileSystem::folder_at(const std::string &path) const {
    auto place = disk_.resolve(path);
    if (!place) return fail(place.error());
    if (!place->node) return no_such(path);
    if (is_folder(place->node)) return std::move(place->node);
    if (place->must_be_folder) return no_such(path);
    return fail(ErrorCode::invalid_argument, "{}: is not a folder", path);
}

Result<std::unique_ptr<File>> SimFileSystem::open(const std::string &path, OpenMode mode) {
    const std::lock_guard lock(mutex_);
    if (auto ok = begin("open", path, Interruptible::no); !ok) return fail(ok.error());
    auto node = open_node(path, mode);
    if (!node) return fail(node.error());
    return std::make_unique<SimFile>(*this, std::move(*node), path, mode != OpenMode::read);
}

Result<FileInfo> SimFileSystem::info(const std::string &path) {
    const std::lock_guard lock(mutex_);
    if (auto ok = begin("info", path, Interruptible::no); !ok) return fail(ok.error());
    const auto place = disk_.resolve(path);
    if (!place) return fail(place.error());
    const SimNodePtr &node = place->node;
    if (!node || (place->must_be_folder && !is_folder(node))) return no_such(path);
    return FileInfo{node->kind, node->content.bytes().size(), node->modified_unix_s};
}

Result<FileKind> SimFileSystem::kind_of_name(const std::string &path) {
    const std::lock_guard lock(mutex_);
    if (auto ok = begin("kind_of_name", path, Interruptible::no); !ok) return fail(ok.error());
    const auto place = disk_.resolve(path);
    if (!place) return fail(place.error());
    if (!place->node || (place->must_be_folder && !is_folder(place->node))) return no_such(path);
    return place->node->kind;
}

Result<std::vector<DirectoryEntry>> SimFileSystem::list(const std::string &path) {
    const std::lock_guard lock(mutex_);
    if (auto ok = begin("list", path, Interruptible::no); !ok) return fail(ok.error());
    const auto folder = folder_at(path);
    if (!folder) return fail(folder.error());
    if ((*folder)->unreadable)
        return fail(ErrorCode::io, "{}: cannot be listed. Check its owner and permissions", path);
    std::vector<DirectoryEntry> entries;
    for (const auto &[name, node] : (*folder)->names.all())
        entries.push_back({name, node->kind});
    std::shuffle(entries.begin(), entries.end(), std::mt19937_64(operations_));
    return entries;
}

Status SimFileSystem::make_directories(const std::string &path) {
    const std::lock_guard lock(mutex_);
    if (auto ok = begin("make_directories", path, Interruptible::no); !ok) return ok;
    if (path.empty()) return no_such(path);
    for (std::size_t end = 0; end != std::string::npos;) {
        end = path.find('/', end + 1);
        const std::string part = path.substr(0, end);
        const auto place = disk_.resolve(part);
        if (!place) return fail(place.error());
        if (is_folder(place->node)) continue;
        if (place->node)
            return fail(ErrorCode::invalid_argument, "{}: cannot be made a folder: {} is a file", path, part);
        if (place->folder->read_only) return read_only(part);
        const auto made = disk_.make_folder();
        made->modified_unix_s = unix_s_;
        set_name(*place, made, disk_.next_change());
    }
    return {};
}

Status SimFileSystem::check_rename(const SimDisk::Place &from, const SimDisk::Place &to,
                                   const std::string &path) const {
    if (!from.node) return no_such(path);
    if (!from.folder || !to.folder) return fail(ErrorCode::io, "{}: such a name cannot be changed", path);
    const bool folder = is_folder(from.node);
    if (!folder && (from.must_be_folder || to.must_be_folder)) return no_such(path);
    if (from.folder->read_only || to.folder->read_only) return read_only(path);
    if (std::find(to.ancestors.begin(), to.ancestors.end(), from.node) != to.ancestors.end())
        return fail(ErrorCode::io, "{}: cannot be moved into itself", path);
    if (!to.node || to.node == from.node) return {};
    if (to.must_be_folder && !is_folder(to.node)) return no_such(path);
    if (is_folder(to.node) != folder)
        return fail(ErrorCode::invalid_argument, "{}: cannot be renamed: one is a folder and the other a file", path);
    if (folder && !to.node->names.all().empty())
        return fail(ErrorCode::invalid_argument, "{}: cannot be renamed: the folder in its way is not empty", path);
    return {};
}

Status SimFileSystem::rename(const std::string &from, const std::string &to) {
    const std::lock_guard lock(mutex_);
    if (auto ok = begin("rename", from, Interruptible::no); !ok) return ok;
    const auto source = disk_.resolve(from);
    if (!source) return fail(source.error());
    const auto target = disk_.resolve(to);
    if (!target) return fail(target.error());
    if (auto ok = check_rename(*source, *target, from); !ok) return ok;
    if (source->node == target->node) return {};
    const std::uint64_t change = disk_.next_change();
    set_name(*source, nullptr, change);
    set_name(*target, source->node, change);
    return {};
}

Status SimFileSystem::remove(const std::string &path) {
    const std::lock_guard lock(mutex_);
    if (auto ok = begin("remove", path, Interruptible::no); !ok) return ok;
    const auto place = disk_.resolve(path);
    if (!place) return fail(place.error());
    if (!place->node || (place->must_be_folder && !is_folder(place->node))) return no_such(path);
    if (!place->folder) return fail(ErrorCode::io, "{}: such a name cannot be removed", path);
    if (place->folder->read_only) return read_only(path);
    if (is_folder(place->node) && !place->node->names.all().empty())
        return fail(ErrorCode::invalid_argument, "{}: cannot be removed: the folder is not empty", path);
    set_name(*place, nullptr, disk_.next_change());
    return {};
}

Status SimFileSystem::sync_directory(const std::string &path) {
    const std::lock_guard lock(mutex_);
    if (auto ok = begin("sync_directory", path, Interruptible::no); !ok) return ok;
    const auto folder = folder_at(path);
    if (!folder) return fail(folder.error());
    (*folder)->names.sync();
    return {};
}

Result<SpaceInfo> SimFileSystem::space(const std::string &path) {
    const std::lock_guard lock(mutex_);
    if (auto ok = begin("space", path, Interruptible::no); !ok) return fail(ok.error());
    const auto place = disk_.resolve(path);
    if (!place) return fail(place.error());
    if (!place->node || (place->must_be_folder && !is_folder(place->node))) return no_such(path);
    return SpaceInfo{space_ ? space_->total : kDefaultSpace, available()};
}

Result<std::unique_ptr<FileLock>> SimFileSystem::lock(const std::string &path) {
    const std::lock_guard guard(mutex_);
    if (auto ok = begin("lock", path, Interruptible::no); !ok) return fail(ok.error());
    const auto node = open_node(path, OpenMode::create);
    if (!node) return fail(node.error());
    if ((*node)->locked_in == life_)
        return fail(ErrorCode::capacity, "{}: is locked by another process, or a second time by this one", path);
    return std::make_unique<SimFileLock>(*this, *node, path);
}

Result<std::unique_ptr<DirectoryLock>> SimFileSystem::lock_directory(const std::string &path) {
    const std::lock_guard guard(mutex_);
    if (auto ok = begin("lock_directory", path, Interruptible::no); !ok) return fail(ok.error());
    const auto folder = folder_at(path);
    if (!folder) return fail(folder.error());
    if ((*folder)->locked_in == life_)
        return fail(ErrorCode::capacity, "{}: is locked by another process, or a second time by this one", path);
    return std::make_unique<SimDirectoryLock>(*this, *folder);
}

}  // namespace cairn
