// PrefixTree: the shape under PrefixCheckpointIndex. A radix tree over tokens, one root per namespace.
//
//     root --[7 3 9 9]--> (A) --[4 4]--> (B)          (X) holds an entry, o does not
//                          \---[5 1 2]--> o --[8]--> (C)
//                                          \--[6 6]--> (D)
//
// A node without an entry is a root or a fork: a leaf without an entry is removed, and one with a single child is
// merged into that child. So every subtree holds an entry. A node with an entry keeps its id while edges around it are
// split and merged: splitting makes the upper part new, merging keeps the lower one.
//
// Memory is asked for in make_room() and open_space() only. All else is noexcept and allocates nothing.
// Ownership: owns nodes, tokens and entries. Threads: one at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>
#include <optional>
#include <unordered_map>
#include <utility>

#include "base/check.h"
#include "cairn/types.h"
#include "index/checkpoint_ref.h"
#include "index/child_map.h"
#include "index/pool.h"
#include "index/token_store.h"
#include "state/namespace_key.h"

namespace cairn {

/// One namespace. It is there while it holds an entry or a reservation needs it.
struct TreeSpace {
    const NamespaceKey *key = nullptr;
    PoolId root = kNoId;
    std::size_t entries = 0;
    std::size_t reservations = 0;
};

template <class Entry>
struct TreeNode {
    PoolId next = kNoId;  ///< next sibling
    PoolId prev = kNoId;  ///< previous sibling
    PoolId parent = kNoId;
    PoolId first_child = kNoId;
    PoolId hash_next = kNoId;  ///< ChildMap's
    Token first_token = 0;     ///< of the edge that leads here
    TokenList edge;            ///< the tokens from the parent to here; empty for a root
    TokenPos depth = 0;        ///< tokens from the root to here
    std::uint64_t stamp = 0;   ///< of the entry
    TreeSpace *space = nullptr;
    std::optional<Entry> entry;
};

template <class Entry>
class PrefixTree {
public:
    using Node = TreeNode<Entry>;

    /// Where a walk ended.
    struct Place {
        PoolId node = kNoId;   ///< the deepest node whose whole path the tokens hold
        PoolId child = kNoId;  ///< the child of `node` on whose edge the walk ended; kNoId: at `node` itself
        TokenCursor cut;       ///< where on that edge
        TokenPos depth = 0;    ///< tokens that are the same
    };

    explicit PrefixTree(std::size_t max_bytes) noexcept
        : meter_(max_bytes), nodes_(meter_), store_(meter_), children_(meter_, nodes_) {}
    ~PrefixTree() = default;
    PrefixTree(const PrefixTree &) = delete;
    PrefixTree &operator=(const PrefixTree &) = delete;

    [[nodiscard]] const MemoryMeter &meter() const noexcept { return meter_; }
    [[nodiscard]] TokenStore &store() noexcept { return store_; }
    [[nodiscard]] const Node &node(PoolId id) const noexcept { return nodes_[id]; }
    [[nodiscard]] const auto &spaces() const noexcept { return spaces_; }

    // -- memory ----------------------------------------------------------------------------------------------------
    /// Room for `nodes` more nodes and `chunks` more chunks. False where memory was refused.
    [[nodiscard]] bool make_room(std::size_t nodes, std::size_t chunks) noexcept {
        return store_.make_room(chunks) && nodes_.make_room(nodes) && children_.make_room(nodes_.in_use() + nodes);
    }
    [[nodiscard]] PoolId take_node() noexcept { return nodes_.take(); }
    void give_back_node(PoolId id) noexcept { nodes_.give_back(id); }

    // -- namespaces ------------------------------------------------------------------------------------------------
    [[nodiscard]] const TreeSpace *find_space(const NamespaceKey &key) const {
        const auto found = spaces_.find(key);
        return found == spaces_.end() ? nullptr : &found->second;
    }

    /// The namespace `key`, made where it is not there; null where memory was refused. One node must be reserved.
    [[nodiscard]] TreeSpace *open_space(const NamespaceKey &key) noexcept {
        if (const auto found = spaces_.find(key); found != spaces_.end()) return &found->second;
        if (!meter_.take(space_bytes(key))) return nullptr;
        try {
            const auto made = spaces_.emplace(key, TreeSpace{}).first;
            TreeSpace &space = made->second;
            space.key = &made->first;
            space.root = nodes_.take();
            nodes_[space.root].space = &space;
            return &space;
        } catch (const std::bad_alloc &) {
            meter_.give_back(space_bytes(key));
            return nullptr;
        }
    }

    void close_space_if_unused(TreeSpace &space) noexcept {
        if (space.entries != 0 || space.reservations != 0) return;
        CAIRN_CHECK(nodes_[space.root].first_child == kNoId, "a namespace without entries still has paths");
        nodes_.give_back(space.root);
        meter_.give_back(space_bytes(*space.key));
        spaces_.erase(spaces_.find(*space.key));
    }

    // -- walking ---------------------------------------------------------------------------------------------------
    /// Follows `source` down from the node `top` as far as the tree knows it. `at_entry(id)` sees each entry below.
    template <class Source, class AtEntry>
    [[nodiscard]] Place walk(PoolId top, Source &source, AtEntry &&at_entry) const {
        Place place;
        place.node = top;
        place.depth = nodes_[top].depth;
        while (!source.run().empty()) {
            const PoolId child = children_.find(place.node, source.run().front());
            if (child == kNoId) break;
            TokenCursor edge = store_.begin(nodes_[child].edge);
            place.depth += static_cast<TokenPos>(advance_while_equal(store_, edge, source));
            if (!edge.at_end()) {
                place.child = child;
                place.cut = edge;
                break;
            }
            place.node = child;
            if (nodes_[child].entry) at_entry(child);
        }
        return place;
    }

    /// The node after `id` in the subtree of `top`, parents first; kNoId behind the last one.
    [[nodiscard]] PoolId next_in(PoolId top, PoolId id) const noexcept {
        if (nodes_[id].first_child != kNoId) return nodes_[id].first_child;
        return next_beside(top, id);
    }
    /// As next_in(), passing over what lies below `id`.
    [[nodiscard]] PoolId next_beside(PoolId top, PoolId id) const noexcept {
        while (id != top) {
            if (nodes_[id].next != kNoId) return nodes_[id].next;
            id = nodes_[id].parent;
        }
        return kNoId;
    }

    [[nodiscard]] bool is_current(CheckpointRef ref) const noexcept {
        return ref.stamp != 0 && nodes_.knows(ref.node) && nodes_[ref.node].stamp == ref.stamp;
    }

    [[nodiscard]] Tokens path(PoolId id) const {
        Tokens tokens(static_cast<std::size_t>(nodes_[id].depth));
        for (; nodes_[id].parent != kNoId; id = nodes_[id].parent) {
            store_.copy_out(nodes_[id].edge, tokens.data() + nodes_[nodes_[id].parent].depth);
        }
        return tokens;
    }

    // -- changing --------------------------------------------------------------------------------------------------
    /// Makes a node at `place`, which lies on an edge, from the taken node `middle`. May use up `spare`.
    void split(const Place &place, PoolId middle, PoolId &spare) noexcept {
        Node &lower = nodes_[place.child];
        Node &upper = nodes_[middle];
        children_.remove(place.child);
        upper.parent = lower.parent;
        upper.first_token = lower.first_token;
        upper.depth = place.depth;
        upper.space = lower.space;
        upper.edge = store_.cut(lower.edge, place.cut, spare);
        replace_child(place.child, middle);
        children_.insert(middle);
        lower.first_token = store_.front(lower.edge);
        add_child(middle, place.child);
    }

    /// Hangs the taken node `leaf` below `parent`, on an edge of its own.
    void attach(PoolId parent, PoolId leaf, TokenList edge, TokenPos depth) noexcept {
        Node &node = nodes_[leaf];
        node.edge = edge;
        node.first_token = store_.front(edge);
        node.depth = depth;
        node.space = nodes_[parent].space;
        add_child(parent, leaf);
    }

    /// Puts `entry` on a node and returns the one that was there.
    [[nodiscard]] std::optional<Entry> put(PoolId id, Entry &&entry) noexcept {
        Node &node = nodes_[id];
        std::optional<Entry> old = std::move(node.entry);
        if (!old) {
            ++node.space->entries;
            ++entries_;
        }
        node.entry.reset();
        node.entry.emplace(std::move(entry));
        node.stamp = ++last_stamp_;
        return old;
    }

    /// Takes the entry off a node, removes what no entry needs any more, and returns the entry. The namespace stays.
    [[nodiscard]] Entry remove(PoolId id) noexcept {
        Node &node = nodes_[id];
        Entry gone = std::move(*node.entry);
        node.entry.reset();
        node.stamp = 0;
        --node.space->entries;
        --entries_;
        tidy(id);
        return gone;
    }

    /// Removes all entries and paths. Namespaces stay while a reservation needs them; `taken` tells whether there is
    /// any.
    void clear(bool taken) noexcept {
        for (auto space = spaces_.begin(); space != spaces_.end();) {
            clear_space(space->second);
            // Only one without reservations goes; the iterator moves on first.
            TreeSpace &cleared = (space++)->second;
            close_space_if_unused(cleared);
        }
        children_.clear();
        entries_ = 0;
        if (taken) return;
        children_.release();
        nodes_.release();
        store_.release_all();
    }

    [[nodiscard]] std::size_t entries() const noexcept { return entries_; }

    /// Aborts with context unless everything fits together. `taken_nodes` and `taken_chunks`: held by reservations.
    void check_invariants(std::size_t taken_nodes, std::size_t taken_chunks) const {
        Totals totals;
        for (const auto &[key, space] : spaces_)
            check_space(key, space, totals);
        CAIRN_CHECK(totals.entries == entries_, "{} entries found, {} counted", totals.entries, entries_);
        CAIRN_CHECK(totals.nodes + taken_nodes == nodes_.in_use(), "{} nodes found, {} reserved, {} in use",
                    totals.nodes, taken_nodes, nodes_.in_use());
        CAIRN_CHECK(totals.nodes - spaces_.size() == children_.size(), "{} children found, {} in the table",
                    totals.nodes - spaces_.size(), children_.size());
        CAIRN_CHECK(totals.chunks + taken_chunks == store_.chunks_in_use(), "{} chunks found, {} reserved, {} in use",
                    totals.chunks, taken_chunks, store_.chunks_in_use());
        CAIRN_CHECK(meter_.used() <= meter_.limit(), "{} of {} bytes", meter_.used(), meter_.limit());
    }

private:
    struct Totals {
        std::size_t nodes = 0;
        std::size_t chunks = 0;
        std::size_t entries = 0;
    };

    /// What a namespace takes outside the pools: its element in the map, its bucket, the allocator's own.
    [[nodiscard]] static std::size_t space_bytes(const NamespaceKey &key) noexcept {
        return sizeof(std::pair<const NamespaceKey, TreeSpace>) + key.tenant.size() + 64;
    }

    void add_child(PoolId parent, PoolId id) noexcept {
        Node &node = nodes_[id];
        node.parent = parent;
        node.prev = kNoId;
        node.next = std::exchange(nodes_[parent].first_child, id);
        if (node.next != kNoId) nodes_[node.next].prev = id;
        children_.insert(id);
    }

    // Puts `by` where `id` is among its siblings; the table of children is the caller's.
    void replace_child(PoolId id, PoolId by) noexcept {
        Node &node = nodes_[id];
        nodes_[by].prev = node.prev;
        nodes_[by].next = node.next;
        (node.prev != kNoId ? nodes_[node.prev].next : nodes_[node.parent].first_child) = by;
        if (node.next != kNoId) nodes_[node.next].prev = by;
    }

    // Removes or merges a node that holds no entry, unless it is a root or a fork.
    void tidy(PoolId id) noexcept {
        const Node &node = nodes_[id];
        if (node.parent == kNoId || node.entry) return;
        if (node.first_child == kNoId) {
            const PoolId parent = node.parent;
            remove_leaf(id);
            tidy(parent);  // once: a parent without an entry had another child
        } else if (nodes_[node.first_child].next == kNoId) {
            merge_into_child(id);
        }
    }

    void remove_leaf(PoolId id) noexcept {
        Node &node = nodes_[id];
        children_.remove(id);
        (node.prev != kNoId ? nodes_[node.prev].next : nodes_[node.parent].first_child) = node.next;
        if (node.next != kNoId) nodes_[node.next].prev = node.prev;
        store_.release(node.edge);
        nodes_.give_back(id);
    }

    void merge_into_child(PoolId id) noexcept {
        const Node &upper = nodes_[id];
        const PoolId child = upper.first_child;
        Node &lower = nodes_[child];
        children_.remove(child);
        children_.remove(id);
        lower.edge = store_.join(upper.edge, lower.edge);
        lower.first_token = upper.first_token;
        lower.parent = upper.parent;
        replace_child(id, child);
        children_.insert(child);
        nodes_.give_back(id);
    }

    void clear_space(TreeSpace &space) noexcept {
        PoolId id = space.root;
        for (;;) {
            while (nodes_[id].first_child != kNoId)
                id = nodes_[id].first_child;
            if (id == space.root) break;
            const PoolId parent = nodes_[id].parent;
            nodes_[parent].first_child = nodes_[id].next;
            store_.release(nodes_[id].edge);
            nodes_.give_back(id);
            id = parent;
        }
        space.entries = 0;
    }

    void check_space(const NamespaceKey &key, const TreeSpace &space, Totals &totals) const {
        CAIRN_CHECK(space.key == &key && nodes_[space.root].parent == kNoId && nodes_[space.root].depth == 0,
                    "a namespace's root is not one");
        CAIRN_CHECK(!nodes_[space.root].entry, "a root holds an entry");
        CAIRN_CHECK(space.entries + space.reservations > 0, "an unused namespace is still there");
        const std::size_t before = totals.entries;
        for (PoolId id = space.root; id != kNoId; id = next_in(space.root, id)) {
            ++totals.nodes;
            totals.entries += nodes_[id].entry.has_value();
            CAIRN_CHECK(nodes_[id].space == &space, "node {} belongs to another namespace", id);
            check_children(id);
            if (id != space.root) check_node(id, totals);
        }
        CAIRN_CHECK(totals.entries - before == space.entries, "{} entries in a namespace, {} counted",
                    totals.entries - before, space.entries);
    }

    void check_node(PoolId id, Totals &totals) const {
        const Node &node = nodes_[id];
        const std::size_t length = store_.check(node.edge, totals.chunks);
        CAIRN_CHECK(length > 0 && nodes_[node.parent].depth + static_cast<TokenPos>(length) == node.depth,
                    "node {} at depth {} has an edge of {} from depth {}", id, node.depth, length,
                    nodes_[node.parent].depth);
        CAIRN_CHECK(store_.front(node.edge) == node.first_token, "node {} has another first token", id);
        CAIRN_CHECK(children_.find(node.parent, node.first_token) == id, "node {} is not found from its parent", id);
        CAIRN_CHECK(node.entry.has_value() == (node.stamp != 0), "node {} has a stamp {} against its entry", id,
                    node.stamp);
        const bool fork = node.first_child != kNoId && nodes_[node.first_child].next != kNoId;
        CAIRN_CHECK(node.entry.has_value() || fork, "node {} holds no entry and is no fork", id);
    }

    void check_children(PoolId id) const {
        PoolId prev = kNoId;
        for (PoolId child = nodes_[id].first_child; child != kNoId; child = nodes_[child].next) {
            CAIRN_CHECK(nodes_[child].parent == id, "node {} does not know its parent {}", child, id);
            CAIRN_CHECK(nodes_[child].prev == prev, "node {} does not know its sibling", child);
            prev = child;
        }
    }

    MemoryMeter meter_;
    Pool<Node, 9> nodes_;
    TokenStore store_;
    ChildMap<Pool<Node, 9>> children_;
    std::unordered_map<NamespaceKey, TreeSpace> spaces_;
    std::size_t entries_ = 0;
    std::uint64_t last_stamp_ = 0;
};

}  // namespace cairn
