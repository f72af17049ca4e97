#include "tests/support/sim_disk.h"

#include <algorithm>
#include <limits>
#include <set>

#include "base/check.h"

namespace cairn {

namespace {

/// The finaliser of splitmix64: neighbouring inputs give unrelated outputs.
std::uint64_t mix(std::uint64_t x) {
    x += 0x9e3779b97f4a7c15;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    return x ^ (x >> 31);
}

}  // namespace

PowerLoss::PowerLoss(std::uint64_t seed, std::uint64_t first, std::uint64_t last)
    : seed_(mix(seed)),
      in_order_(seed_ % 2 == 0),
      cut_(first + mix(seed_ + 1) % (last - first + 2)),
      keep_(mix(seed_ + 2) % 5) {}

PowerLoss::Fate PowerLoss::fate_of(std::uint64_t change) const {
    if (in_order_) {
        if (change == cut_) return Fate::torn;
        return change < cut_ ? Fate::kept : Fate::lost;
    }
    const std::uint64_t random = mix(seed_ ^ mix(change));
    if (random % 4 < keep_) return Fate::kept;
    return keep_ > 0 && (random >> 8) % 2 == 0 ? Fate::torn : Fate::lost;
}

std::uint64_t PowerLoss::number(std::uint64_t change, std::uint64_t bound) const {
    return mix(mix(seed_ ^ mix(change)) + 1) % bound;
}

std::string &SimContent::own() {
    if (shared_) bytes_ = std::make_shared<std::string>(*bytes_);
    shared_ = false;
    return *bytes_;
}

void SimContent::put(std::uint64_t offset, std::string_view bytes) {
    std::string &all = own();
    all.resize(std::max<std::size_t>(all.size(), offset + bytes.size()));
    std::copy(bytes.begin(), bytes.end(), all.begin() + static_cast<std::ptrdiff_t>(offset));
}

void SimContent::apply(const Change &change) {
    if (change.bytes.empty())
        own().resize(change.offset);
    else
        put(change.offset, change.bytes);
}

void SimContent::write(std::uint64_t change, std::uint64_t offset, std::string_view bytes) {
    if (bytes.empty()) return;
    std::string before = offset < bytes_->size() ? bytes_->substr(offset, bytes.size()) : "";
    changes_.push_back({change, offset, std::string(bytes), std::move(before), bytes_->size()});
    apply(changes_.back());
}

void SimContent::truncate(std::uint64_t change, std::uint64_t size) {
    if (size == bytes_->size()) return;
    std::string before = size < bytes_->size() ? bytes_->substr(size) : "";
    changes_.push_back({change, size, "", std::move(before), bytes_->size()});
    apply(changes_.back());
}

void SimContent::sync() {
    const bool any_given_up =
        std::any_of(changes_.begin(), changes_.end(), [](const Change &c) { return c.promise == Promise::given_up; });
    if (!any_given_up) {
        changes_.clear();
        return;
    }
    // The way back leads through the changes that were given up, so that the later ones must stay, too.
    for (Change &change : changes_) {
        if (change.promise == Promise::none) change.promise = Promise::durable;
    }
}

void SimContent::fail_sync() {
    for (Change &change : changes_) {
        if (change.promise == Promise::none) change.promise = Promise::given_up;
    }
}

void SimContent::apply_torn(const Change &change, const PowerLoss &loss) {
    const std::uint64_t begin = change.offset;
    const std::uint64_t end = begin + change.bytes.size();
    const std::uint64_t boundaries = change.bytes.empty() ? 0 : (end - 1) / kSector - begin / kSector;
    if (boundaries == 0) return;  // one sector, or a truncation: these do not tear
    const std::uint64_t number = loss.number(change.number, boundaries * 3);
    const std::uint64_t at = (begin / kSector + 1 + number / 3) * kSector;
    const std::string_view bytes = change.bytes;
    switch (number % 3) {
        case 0: put(begin, bytes.substr(0, at - begin)); break;
        case 1: put(at, bytes.substr(at - begin)); break;
        default:  // the file's new length alone: zeros where it grew
            if (end > bytes_->size()) own().resize(end);
            break;
    }
}

void SimContent::lose_power(const PowerLoss &loss) {
    for (auto change = changes_.rbegin(); change != changes_.rend(); ++change) {
        own().resize(change->size_before);
        put(change->offset < change->size_before ? change->offset : 0, change->before);
    }
    for (const Change &change : changes_) {
        const auto fate = change.promise == Promise::durable ? PowerLoss::Fate::kept : loss.fate_of(change.number);
        if (fate == PowerLoss::Fate::kept) apply(change);
        if (fate == PowerLoss::Fate::torn) apply_torn(change, loss);
    }
    changes_.clear();
}

void SimContent::set(std::string bytes) {
    bytes_ = std::make_shared<std::string>(std::move(bytes));
    shared_ = false;
    changes_.clear();
}

void SimContent::flip_bit(std::uint64_t bit) {
    CAIRN_CHECK(bit / 8 < bytes_->size(), "bit {} of a file of {} bytes", bit, bytes_->size());
    char &byte = own()[bit / 8];
    byte = static_cast<char>(static_cast<unsigned char>(byte) ^ (1U << (bit % 8)));
}

SimContent SimContent::clone() {
    shared_ = true;
    return *this;
}

SimNodePtr SimNames::find(const std::string &name) const {
    const auto found = names_.find(name);
    return found == names_.end() ? nullptr : found->second;
}

void SimNames::put(const std::string &name, SimNodePtr node) {
    if (node)
        names_[name] = std::move(node);
    else
        names_.erase(name);
}

void SimNames::set(std::uint64_t change, const std::string &name, SimNodePtr node) {
    changes_.push_back({change, name, find(name), node});
    put(name, std::move(node));
}

void SimNames::set_durably(const std::string &name, SimNodePtr node) {
    std::erase_if(changes_, [&](const Change &change) { return change.name == name; });
    put(name, std::move(node));
}

void SimNames::sync() {
    changes_.clear();
}

void SimNames::lose_power(const PowerLoss &loss) {
    for (auto change = changes_.rbegin(); change != changes_.rend(); ++change)
        put(change->name, change->before);
    for (const Change &change : changes_) {
        if (loss.fate_of(change.number) == PowerLoss::Fate::kept) put(change.name, change.after);
    }
    changes_.clear();
}

void SimNames::clear() {
    names_.clear();
    changes_.clear();
}

SimNames SimNames::clone(const std::function<SimNodePtr(const SimNodePtr &)> &clone_node) const {
    SimNames result;
    for (const auto &[name, node] : names_)
        result.names_.emplace_hint(result.names_.end(), name, clone_node(node));
    for (const Change &change : changes_)
        result.changes_.push_back({change.number, change.name, clone_node(change.before), clone_node(change.after)});
    return result;
}

SimDisk::~SimDisk() {
    // Folders that were moved into each other, at different times, keep each other alive through their changes.
    for (const auto &weak : folders_) {
        if (const auto folder = weak.lock()) folder->names.clear();
    }
}

SimNodePtr SimDisk::make_folder() {
    auto folder = std::make_shared<SimNode>();
    folder->kind = FileKind::directory;
    folders_.push_back(folder);
    return folder;
}

Status SimDisk::step(Place &place, const std::string &name, const std::string &path) {
    if (!place.node || place.node->kind != FileKind::directory)
        return fail(ErrorCode::not_found, "{}: a folder on the way is missing or no folder", path);
    if (name.size() > 255) return fail(ErrorCode::io, "{}: a name is longer than 255 bytes", path);
    if (place.node != place.ancestors.back()) place.ancestors.push_back(place.node);
    if (name == "." || name == "..") {
        if (name == ".." && place.ancestors.size() > 1) place.ancestors.pop_back();
        place.folder = nullptr;
        place.name.clear();
        place.node = place.ancestors.back();
        return {};
    }
    place.folder = place.ancestors.back();
    place.name = name;
    place.node = place.folder->names.find(name);
    return {};
}

Result<SimDisk::Place> SimDisk::resolve(const std::string &path) const {
    if (path.find('\0') != std::string::npos)
        return fail(ErrorCode::invalid_argument, "{}: a path cannot hold a NUL byte", path.substr(0, path.find('\0')));
    if (path.empty()) return fail(ErrorCode::not_found, "an empty path names nothing");
    Place place;
    place.node = root_;
    place.ancestors = {root_};
    for (std::size_t begin = 0; begin < path.size();) {
        const std::size_t end = std::min(path.find('/', begin), path.size());
        const std::string name = path.substr(begin, end - begin);
        begin = end + 1;
        if (name.empty()) continue;  // a slash at the beginning or the end, or two in a row
        if (auto done = step(place, name, path); !done) return fail(done.error());
    }
    place.must_be_folder = place.name.empty() || path.back() == '/';
    return place;
}

std::vector<SimNodePtr> SimDisk::all_nodes() const {
    std::vector<SimNodePtr> nodes{root_};
    std::set<const SimNode *> known{root_.get()};
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        const SimNodePtr node = nodes[i];
        node->names.visit_nodes([&](const SimNodePtr &next) {
            if (known.insert(next.get()).second) nodes.push_back(next);
        });
    }
    return nodes;
}

void SimDisk::sync_all() {
    for (const SimNodePtr &node : all_nodes()) {
        node->content.sync();
        node->names.sync();
    }
}

void SimDisk::lose_power(std::uint64_t seed) {
    const auto nodes = all_nodes();
    std::uint64_t first = std::numeric_limits<std::uint64_t>::max();
    std::uint64_t last = 0;
    for (const SimNodePtr &node : nodes) {
        const auto note = [&](std::uint64_t change) {
            first = std::min(first, change);
            last = std::max(last, change);
        };
        node->content.visit_changes(note);
        node->names.visit_changes(note);
    }
    if (first > last) return;
    const PowerLoss loss(seed, first, last);
    for (const SimNodePtr &node : nodes) {
        node->content.lose_power(loss);
        node->names.lose_power(loss);
    }
    drop_second_names();
}

void SimDisk::drop_second_names() {
    std::set<const SimNode *> reached{root_.get()};
    std::vector<SimNodePtr> folders{root_};
    for (std::size_t i = 0; i < folders.size(); ++i) {
        const SimNodePtr folder = folders[i];
        const auto names = folder->names.all();  // a copy: one may be dropped
        for (const auto &[name, node] : names) {
            if (node->kind != FileKind::directory) continue;
            if (reached.insert(node.get()).second)
                folders.push_back(node);
            else
                folder->names.set_durably(name, nullptr);
        }
    }
}

SimDisk SimDisk::clone() const {
    SimDisk result;
    std::map<const SimNode *, SimNodePtr> clones;  // a node with two names stays one node
    const std::function<SimNodePtr(const SimNodePtr &)> clone_node = [&](const SimNodePtr &node) -> SimNodePtr {
        if (!node) return nullptr;
        if (const auto known = clones.find(node.get()); known != clones.end()) return known->second;
        const bool folder = node->kind == FileKind::directory;
        const SimNodePtr clone = folder ? result.make_folder() : std::make_shared<SimNode>();
        clones.emplace(node.get(), clone);
        clone->read_only = node->read_only;
        clone->unreadable = node->unreadable;
        clone->modified_unix_s = node->modified_unix_s;
        clone->content = node->content.clone();
        clone->names = node->names.clone(clone_node);
        return clone;
    };
    result.root_ = clone_node(root_);
    result.changes_ = changes_;
    return result;
}

std::map<std::string, SimNodePtr> SimDisk::files() const {
    std::map<std::string, SimNodePtr> result;
    std::vector<std::pair<std::string, SimNodePtr>> folders{{"", root_}};
    while (!folders.empty()) {
        const auto [path, folder] = folders.back();
        folders.pop_back();
        for (const auto &[name, node] : folder->names.all()) {
            if (node->kind == FileKind::directory)
                folders.emplace_back(path + "/" + name, node);
            else
                result.emplace(path + "/" + name, node);
        }
    }
    return result;
}

std::uint64_t SimDisk::used_bytes() const {
    std::uint64_t bytes = 0;
    for (const auto &[path, node] : files())
        bytes += node->content.bytes().size();
    return bytes;
}

}  // namespace cairn
