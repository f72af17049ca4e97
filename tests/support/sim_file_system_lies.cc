// The part of SimFileSystem that only tests call: ends, faults, and the disk itself.
#include "base/check.h"
#include "tests/support/sim_file_system.h"

namespace cairn {

void SimFileSystem::end_life() {
    ++life_;
    faults_.clear();
    short_io_.reset();
}

void SimFileSystem::crash(std::uint64_t seed) {
    const std::lock_guard lock(mutex_);
    end_life();
    disk_.lose_power(seed);
}

void SimFileSystem::kill() {
    const std::lock_guard lock(mutex_);
    end_life();
}

std::unique_ptr<SimFileSystem> SimFileSystem::clone() {
    const std::lock_guard lock(mutex_);
    auto copy = std::make_unique<SimFileSystem>();
    copy->disk_ = disk_.clone();
    copy->space_ = space_;
    copy->unix_s_ = unix_s_;
    return copy;
}

void SimFileSystem::sync_all() {
    const std::lock_guard lock(mutex_);
    disk_.sync_all();
}

void SimFileSystem::fail_operation(std::uint64_t n, ErrorCode code, Repeat repeat) {
    CAIRN_CHECK(n > 0, "the next operation is 1");
    CAIRN_CHECK(code != ErrorCode::cancelled || repeat == Repeat::once,
                "whoever is interrupted for ever tries again for ever");
    const std::lock_guard lock(mutex_);
    faults_.push_back({operations_ + n, code, repeat});
}

void SimFileSystem::clear_faults() {
    const std::lock_guard lock(mutex_);
    faults_.clear();
}

std::uint64_t SimFileSystem::operations() const {
    const std::lock_guard lock(mutex_);
    return operations_;
}

void SimFileSystem::set_space(std::uint64_t total, std::uint64_t available) {
    CAIRN_CHECK(available <= total, "{} bytes of {}", available, total);
    const std::lock_guard lock(mutex_);
    space_ = Space{total, disk_.used_bytes() + available};
}

void SimFileSystem::set_short_io(std::uint64_t seed) {
    const std::lock_guard lock(mutex_);
    short_io_.emplace(seed);
}

void SimFileSystem::set_unix_time(std::int64_t unix_s) {
    const std::lock_guard lock(mutex_);
    unix_s_ = unix_s;
}

SimNodePtr SimFileSystem::existing(const std::string &path) const {
    auto place = disk_.resolve(path);
    CAIRN_CHECK(place && place->node, "{}: the test's disk holds no such file", path);
    return std::move(place->node);
}

void SimFileSystem::set_read_only(const std::string &path, bool read_only) {
    const std::lock_guard lock(mutex_);
    existing(path)->read_only = read_only;
}

void SimFileSystem::set_unreadable(const std::string &path, bool unreadable) {
    const std::lock_guard lock(mutex_);
    existing(path)->unreadable = unreadable;
}

std::string SimFileSystem::content(const std::string &path) const {
    const std::lock_guard lock(mutex_);
    return existing(path)->content.bytes();
}

void SimFileSystem::flip_bit(const std::string &path, std::uint64_t bit) {
    const std::lock_guard lock(mutex_);
    existing(path)->content.flip_bit(bit);
}

SimDisk::Place SimFileSystem::make_place(const std::string &path) {
    for (auto end = path.find('/', 1); end != std::string::npos; end = path.find('/', end + 1)) {
        const auto place = disk_.resolve(path.substr(0, end));
        CAIRN_CHECK(place && (!place->node || place->node->kind == FileKind::directory), "{}: a file is in the way",
                    path);
        if (place->node) continue;
        place->folder->names.set_durably(place->name, disk_.make_folder());
    }
    auto place = disk_.resolve(path);
    CAIRN_CHECK(place && place->folder, "{}: a test cannot put anything there", path);
    return std::move(*place);
}

void SimFileSystem::set_content(const std::string &path, std::string_view bytes) {
    const std::lock_guard lock(mutex_);
    const auto place = make_place(path);
    CAIRN_CHECK(!place.node || place.node->kind == FileKind::file, "{}: is a folder", path);
    const SimNodePtr node = place.node ? place.node : std::make_shared<SimNode>();
    node->content.set(std::string(bytes));
    node->modified_unix_s = unix_s_;
    place.folder->names.set_durably(place.name, node);
}

void SimFileSystem::replace_with_directory(const std::string &path) {
    const std::lock_guard lock(mutex_);
    const auto place = make_place(path);
    auto folder = disk_.make_folder();
    folder->modified_unix_s = unix_s_;
    place.folder->names.set_durably(place.name, std::move(folder));
}

std::vector<std::string> SimFileSystem::files() const {
    const std::lock_guard lock(mutex_);
    std::vector<std::string> paths;
    for (const auto &[path, node] : disk_.files())
        paths.push_back(path);
    return paths;
}

}  // namespace cairn
