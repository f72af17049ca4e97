// SimDisk: what a disk holds, and what of it would survive a loss of power. The inside of SimFileSystem.
//
//     SimDisk disk;
//     auto place = disk.resolve("cache/x");
//     place->folder->names.set(disk.next_change(), "x", node);    // written, not durable
//     place->folder->names.sync();                                // durable
//     disk.lose_power(seed);                                      // each change that is not durable: lost, kept or
//     torn
//
// Files know their bytes as written, and how to go back: each change since the last sync keeps what it replaced. So a
// sync costs nothing, and a loss of power goes back to what is durable, then makes again what it decides to keep.
// Folders do the same with their names.
//
//     durable --change 1--> --change 2--> --change 3--> as written
//        '------------ go back, then again 1 and 3 ----------'
//
// Changes have numbers, ascending over the whole disk; one that touches two folders (rename) has the same in both.
//
// Ownership: nodes are shared by all names, changes and open files that refer to them. Threads: one at a time; a clone
// is independent of its origin. Cost: a clone shares all bytes and copies a file when it or its origin is written to.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cairn/error.h"
#include "env/file_system.h"

namespace cairn {

struct SimNode;
using SimNodePtr = std::shared_ptr<SimNode>;

/// What a loss of power does to each change that is not durable. Depends on the seed and the change's number alone.
class PowerLoss {
public:
    enum class Fate : std::uint8_t { lost, kept, torn };

    /// [first, last]: the numbers of all changes that are not durable.
    PowerLoss(std::uint64_t seed, std::uint64_t first, std::uint64_t last);
    [[nodiscard]] Fate fate_of(std::uint64_t change) const;
    /// A number below `bound`, for the details of a change's fate.
    [[nodiscard]] std::uint64_t number(std::uint64_t change, std::uint64_t bound) const;

private:
    std::uint64_t seed_;
    bool in_order_;       // as a disk that keeps the order: what came before cut_ is kept, what came after is lost
    std::uint64_t cut_;   // the change that power fails in
    std::uint64_t keep_;  // else: this many of 4 are kept
};

/// The bytes of a file.
class SimContent {
public:
    static constexpr std::uint64_t kSector = 512;  ///< the disk writes these whole or not at all

    [[nodiscard]] const std::string &bytes() const { return *bytes_; }
    void write(std::uint64_t change, std::uint64_t offset, std::string_view bytes);
    void truncate(std::uint64_t change, std::uint64_t size);
    void sync();
    /// A sync that failed: no later one makes durable what was written before. (Linux: such pages count as clean.)
    void fail_sync();
    void lose_power(const PowerLoss &loss);
    /// Replaces all, durable at once.
    void set(std::string bytes);
    void flip_bit(std::uint64_t bit);
    [[nodiscard]] SimContent clone();
    /// Calls visit(number) for every change that is not durable.
    template <class Visit>
    void visit_changes(const Visit &visit) const {
        for (const Change &change : changes_)
            visit(change.number);
    }

private:
    enum class Promise : std::uint8_t { none, given_up, durable };  // durable: only while an older one is given up
    struct Change {
        std::uint64_t number;
        std::uint64_t offset;  // truncation: the new size
        std::string bytes;     // none: a truncation
        std::string before;    // what was at `offset`, as far as the file reached
        std::uint64_t size_before;
        Promise promise = Promise::none;
    };

    [[nodiscard]] std::string &own();  // the bytes, to be changed
    void apply(const Change &change);
    void apply_torn(const Change &change, const PowerLoss &loss);
    void put(std::uint64_t offset, std::string_view bytes);

    std::shared_ptr<std::string> bytes_ = std::make_shared<std::string>();
    bool shared_ = false;  // with a clone: copied before it is changed
    std::vector<Change> changes_;
};

/// The names in a folder.
class SimNames {
public:
    [[nodiscard]] SimNodePtr find(const std::string &name) const;
    [[nodiscard]] const std::map<std::string, SimNodePtr> &all() const { return names_; }
    /// Null removes the name.
    void set(std::uint64_t change, const std::string &name, SimNodePtr node);
    /// Durable at once.
    void set_durably(const std::string &name, SimNodePtr node);
    void sync();
    void lose_power(const PowerLoss &loss);
    void clear();
    /// The same names for what clone(node) makes of each node. It must give the same for the same node.
    [[nodiscard]] SimNames clone(const std::function<SimNodePtr(const SimNodePtr &)> &clone_node) const;
    template <class Visit>
    void visit_changes(const Visit &visit) const {
        for (const Change &change : changes_)
            visit(change.number);
    }
    /// Calls visit(node) for every node that has a name here, or had or would have one after a loss of power.
    template <class Visit>
    void visit_nodes(const Visit &visit) const {
        for (const auto &[name, node] : names_)
            visit(node);
        for (const Change &change : changes_) {
            if (change.before) visit(change.before);
            if (change.after) visit(change.after);
        }
    }

private:
    struct Change {
        std::uint64_t number;
        std::string name;
        SimNodePtr before;
        SimNodePtr after;
    };
    void put(const std::string &name, SimNodePtr node);

    std::map<std::string, SimNodePtr> names_;
    std::vector<Change> changes_;
};

struct SimNode {
    FileKind kind = FileKind::file;
    bool read_only = false;
    bool unreadable = false;
    std::int64_t modified_unix_s = 0;
    std::uint64_t locked_in = 0;  ///< the life of the process in which it was locked; 0: never
    SimContent content;           ///< of a file
    SimNames names;               ///< of a folder
};

class SimDisk {
public:
    /// Where a path leads.
    struct Place {
        SimNodePtr folder;                  ///< that the last name is in; null for the root, "." and ".."
        std::string name;                   ///< the last name; empty likewise
        SimNodePtr node;                    ///< null: there is none
        bool must_be_folder = false;        ///< the path ends with a slash
        std::vector<SimNodePtr> ancestors;  ///< all folders from the root to `folder`
    };

    SimDisk() : root_(make_folder()) {}
    SimDisk(SimDisk &&) noexcept = default;
    SimDisk &operator=(SimDisk &&other) noexcept {
        std::swap(root_, other.root_);
        std::swap(folders_, other.folders_);
        std::swap(changes_, other.changes_);
        return *this;
    }
    ~SimDisk();
    [[nodiscard]] SimNodePtr make_folder();
    /// Paths begin at the root, with or without a slash. not_found where a folder on the way is missing or a file.
    [[nodiscard]] Result<Place> resolve(const std::string &path) const;
    [[nodiscard]] std::uint64_t next_change() { return ++changes_; }
    void sync_all();
    void lose_power(std::uint64_t seed);
    [[nodiscard]] SimDisk clone() const;
    /// Every file with its path, which begins with a slash, in the order of the alphabet.
    [[nodiscard]] std::map<std::string, SimNodePtr> files() const;
    /// Sum of the sizes of all files that have a name.
    [[nodiscard]] std::uint64_t used_bytes() const;

private:
    [[nodiscard]] static Status step(Place &place, const std::string &name, const std::string &path);
    [[nodiscard]] std::vector<SimNodePtr> all_nodes() const;
    /// A half-kept rename may give a folder two names: it keeps one.
    void drop_second_names();

    std::vector<std::weak_ptr<SimNode>> folders_;  // all there ever were
    SimNodePtr root_;
    std::uint64_t changes_ = 0;
};

}  // namespace cairn
