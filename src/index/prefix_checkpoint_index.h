// PrefixCheckpointIndex: token prefix -> checkpoints. Finds the deepest one that can be used for a prompt now.
//
//     struct Traits {
//         static bool restorable(const SnapshotPtr &s) { return s->resident(); }   // can be used right now
//         static bool stale(const SnapshotPtr &s) { return s->dead(); }            // never again: prune it
//     };
//     PrefixCheckpointIndex<SnapshotPtr, Traits> index(max_bytes);
//
//     auto reservation = index.reserve(ns, tokens);        // all memory the publication can need
//     if (!reservation) return fail(reservation.error());
//     ... complete the snapshot's payloads ...
//     auto published = index.publish(std::move(*reservation), snapshot);   // cannot fail
//
//     auto match = index.match(ns, prompt, prompt.size() - 1);
//     if (match.entry) restore(*match.entry, match.depth);
//     index.erase(published.ref);
//
// Tokens are compared, never only hashed, and nothing crosses a namespace. Each edge's tokens are stored once.
//
// Ownership: holds copies of the entries (cheap handles), never payloads. Reservations must end before the index does.
// Threads: one at a time. Traits, predicates and destructors of entries must not call back into the index.
// Errors: reserve(), and what begins with it: invalid_argument, no_memory.
// Cost: match, reserve, publish and path are linear in the tokens they touch (at the speed of memory) plus a few loads
// per node on the way, and do not depend on the number of checkpoints. erase is constant, plus the tokens of a removed
// edge / 126. A checkpoint takes about 100 bytes, plus its edge's tokens in chunks of 512 bytes.
#pragma once

#include <concepts>
#include <cstddef>
#include <limits>
#include <optional>
#include <type_traits>
#include <utility>

#include "base/check.h"
#include "cairn/error.h"
#include "cairn/types.h"
#include "index/checkpoint_ref.h"
#include "index/prefix_tree.h"
#include "state/namespace_key.h"

namespace cairn {

/// A handle that is cheap to copy and cannot fail to move.
template <class Entry>
concept CheckpointEntry = std::copy_constructible<Entry> && std::is_nothrow_move_constructible_v<Entry> &&
    std::is_nothrow_destructible_v<Entry>;

template <class Traits, class Entry>
concept CheckpointTraits = requires(const Entry &entry) {
    { Traits::restorable(entry) } -> std::same_as<bool>;
    { Traits::stale(entry) } -> std::same_as<bool>;
};

template <CheckpointEntry Entry, CheckpointTraits<Entry> Traits>
class PrefixCheckpointIndex {
    using Tree = PrefixTree<Entry>;

public:
    using Ref = CheckpointRef;

    /// Nodes that cover() looks at before it settles for an ancestor.
    static constexpr std::size_t kCoverVisits = 4096;

    struct Match {
        std::optional<Entry> entry;  ///< the deepest restorable checkpoint, if any
        Ref ref;                     ///< of `entry`
        TokenPos depth = 0;          ///< of `entry`; 0: none
        TokenPos common = 0;         ///< longest prefix that any path of the namespace held when asked, to any limit
        TokenPos deepest_unusable =
            0;  ///< deepest entry within the limit, below `depth`, that was stale or not restorable
        bool namespace_known = false;  ///< the namespace held an entry when asked
    };

    struct Cover {
        std::optional<Entry> entry;  ///< none: no accepted entry shares a token
        Ref ref;
        TokenPos entry_depth = 0;  ///< of `entry`: may lie before, at or behind `common`
        TokenPos common = 0;       ///< tokens that the asked-for path and that of `entry` share
        bool exhaustive = true;    ///< false: the visits ran out, a longer `common` may exist
    };

    struct Published {
        Ref ref;
        std::optional<Entry> replaced;  ///< the entry that was at this position
    };

    class Reservation;

    /// `max_bytes` bounds memory_bytes().
    explicit PrefixCheckpointIndex(std::size_t max_bytes = std::numeric_limits<std::size_t>::max()) noexcept
        : tree_(max_bytes) {}
    ~PrefixCheckpointIndex() { CAIRN_CHECK(reservations_ == 0, "{} reservations outlive their index", reservations_); }
    PrefixCheckpointIndex(const PrefixCheckpointIndex &) = delete;
    PrefixCheckpointIndex &operator=(const PrefixCheckpointIndex &) = delete;

    /// The deepest checkpoint of at most `limit` tokens whose whole path is a prefix of `tokens` and that is restorable
    /// now. One walk; stale entries on it are pruned.
    [[nodiscard]] Match match(const NamespaceKey &ns, TokenView tokens, TokenPos limit);

    /// For state that can be cut at any token: an entry that `accepts` and that shares as many tokens with `tokens` as
    /// possible. It may lie before, at or behind the point where they part. Prunes nothing.
    ///
    /// Walks down to that point, then looks at the subtree there, then, going up, at each ancestor and its other
    /// subtrees, each until the first accepted entry. Every subtree holds entries, so where most are accepted this ends
    /// after a few nodes. At most `max_visits` nodes are looked at this way; then only ancestors are. Cost: the walk,
    /// plus max_visits, plus the nodes on the path.
    template <class Accepts>
    requires std::predicate<Accepts &, const Entry &>
    [[nodiscard]] Cover cover(const NamespaceKey &ns, TokenView tokens, Accepts accepts,
                              std::size_t max_visits = kCoverVisits) const;

    /// All memory that publishing at `tokens` can need, whatever happens to the tree before. Copies the tokens.
    /// invalid_argument: no tokens, or too many for a position. no_memory: the tree is as it was.
    [[nodiscard]] Result<Reservation> reserve(const NamespaceKey &ns, TokenView tokens);

    /// Makes `entry` matchable. Allocates nothing. A reservation is good for one publication.
    Published publish(Reservation &&reservation, Entry entry) noexcept;

    /// reserve() and publish() at once.
    [[nodiscard]] Result<Published> publish_at(const NamespaceKey &ns, TokenView tokens, Entry entry) {
        auto reservation = reserve(ns, tokens);
        if (!reservation) return fail(reservation.error());
        return publish(std::move(*reservation), std::move(entry));
    }
    /// The same, `tokens` behind the checkpoint `above`, at the cost of these tokens alone: for many checkpoints of one
    /// path. invalid_argument also where `above` names none any more.
    [[nodiscard]] Result<Published> publish_below(Ref above, TokenView tokens, Entry entry);

    /// Removes a checkpoint and returns its entry; nothing where `ref` names none any more.
    std::optional<Entry> erase(Ref ref) noexcept {
        if (!tree_.is_current(ref)) return std::nullopt;
        TreeSpace &space = *tree_.node(ref.node).space;
        std::optional<Entry> gone(tree_.remove(ref.node));
        tree_.close_space_if_unused(space);
        return gone;
    }

    /// The nearest checkpoint above `ref` on its path that `accepts`; null where there is none. Until the next change.
    /// Cost: the nodes between.
    template <class Accepts>
    requires std::predicate<Accepts &, const Entry &>
    [[nodiscard]] const Entry *above(Ref ref, Accepts accepts) const {
        if (!tree_.is_current(ref)) return nullptr;
        for (PoolId id = tree_.node(ref.node).parent; id != kNoId; id = tree_.node(id).parent) {
            if (tree_.node(id).entry && accepts(*tree_.node(id).entry)) return &*tree_.node(id).entry;
        }
        return nullptr;
    }
    /// True where a checkpoint below `ref` `accepts`; of the first `max_visits` nodes.
    template <class Accepts>
    requires std::predicate<Accepts &, const Entry &>
    [[nodiscard]] bool any_below(Ref ref, Accepts accepts, std::size_t max_visits) const {
        if (!tree_.is_current(ref)) return false;
        PoolId id = tree_.next_in(ref.node, ref.node);
        for (; id != kNoId && max_visits > 0; id = tree_.next_in(ref.node, id), --max_visits) {
            if (tree_.node(id).entry && accepts(*tree_.node(id).entry)) return true;
        }
        return false;
    }

    /// The entry of `ref`, until the next change of the index; null where it names none any more.
    [[nodiscard]] const Entry *find(Ref ref) const noexcept {
        return tree_.is_current(ref) ? &*tree_.node(ref.node).entry : nullptr;
    }
    /// The tokens of a checkpoint; none where `ref` names none any more.
    [[nodiscard]] Tokens path(Ref ref) const { return tree_.is_current(ref) ? tree_.path(ref.node) : Tokens{}; }
    /// 0 where `ref` names none any more.
    [[nodiscard]] TokenPos depth(Ref ref) const noexcept {
        return tree_.is_current(ref) ? tree_.node(ref.node).depth : 0;
    }

    /// Calls fn(depth, entry) for every entry of a namespace, parents first.
    template <class Fn>
    void for_each(const NamespaceKey &ns, Fn fn) const {
        if (const TreeSpace *space = tree_.find_space(ns)) visit(*space, fn);
    }
    /// ... of all namespaces.
    template <class Fn>
    void for_each(Fn fn) const {
        for (const auto &item : tree_.spaces())
            visit(item.second, fn);
    }

    /// Removes all checkpoints. Reservations stay good. Gives the memory back where there are none.
    void clear() noexcept { tree_.clear(reservations_ != 0); }

    /// Checkpoints in the index.
    [[nodiscard]] std::size_t size() const noexcept { return tree_.entries(); }
    /// Memory the index holds, in use or not yet.
    [[nodiscard]] std::size_t memory_bytes() const noexcept { return tree_.meter().used(); }
    /// Aborts with context where the tree is not what it must be. For tests and debug: visits everything.
    void check_invariants() const { tree_.check_invariants(reserved_nodes_, reserved_chunks_); }

private:
    /// A path needs a node for itself and one where an edge is cut; that may need one chunk more.
    static constexpr std::size_t kNodesPerPath = 2;

    void prune_upwards(PoolId id) noexcept;
    [[nodiscard]] Result<Reservation> reserve_from(TokenPos begin, const NamespaceKey &ns, TokenView tokens);
    Published publish_from(PoolId begin, Reservation &&reservation, Entry &&entry) noexcept;
    [[nodiscard]] PoolId place_path(PoolId begin, Reservation &reservation) noexcept;
    template <class Fn>
    void visit(const TreeSpace &space, Fn &fn) const {
        for (PoolId id = space.root; id != kNoId; id = tree_.next_in(space.root, id)) {
            if (tree_.node(id).entry) fn(tree_.node(id).depth, *tree_.node(id).entry);
        }
    }

    Tree tree_;
    std::size_t reservations_ = 0;
    std::size_t reserved_nodes_ = 0;
    std::size_t reserved_chunks_ = 0;
};

/// Memory for one publication; move-only, gives back what it still holds.
template <CheckpointEntry Entry, CheckpointTraits<Entry> Traits>
class PrefixCheckpointIndex<Entry, Traits>::Reservation {
public:
    Reservation(Reservation &&other) noexcept { swap(other); }
    Reservation &operator=(Reservation &&other) noexcept {
        Reservation gone(std::move(other));
        swap(gone);
        return *this;
    }
    ~Reservation() {
        if (index_ != nullptr) release();
    }

    /// Tokens of the path; 0 once used.
    [[nodiscard]] TokenPos depth() const noexcept { return depth_; }

private:
    friend class PrefixCheckpointIndex;

    // The memory must have been promised by make_room(). `tokens` are those behind `begin`.
    Reservation(PrefixCheckpointIndex &index, TreeSpace &space, TokenPos begin, TokenView tokens) noexcept
        : index_(&index), space_(&space), depth_(begin + static_cast<TokenPos>(tokens.size())) {
        Tree &tree = index.tree_;
        for (PoolId &node : nodes_)
            node = tree.take_node();
        path_ = tree.store().copy_in(tokens);
        spare_ = tree.store().take_spare();
        chunks_ = TokenStore::chunks_for(tokens.size()) + 1;
        ++space.reservations;
        ++index.reservations_;
        index.reserved_nodes_ += kNodesPerPath;
        index.reserved_chunks_ += chunks_;
    }

    [[nodiscard]] PoolId use_node() noexcept {
        PoolId &node = nodes_[0] != kNoId ? nodes_[0] : nodes_[1];
        return std::exchange(node, kNoId);
    }

    void release() noexcept {
        Tree &tree = index_->tree_;
        for (const PoolId node : nodes_) {
            if (node != kNoId) tree.give_back_node(node);
        }
        if (spare_ != kNoId) tree.store().give_back_spare(spare_);
        tree.store().release(path_);
        --space_->reservations;
        --index_->reservations_;
        index_->reserved_nodes_ -= kNodesPerPath;
        index_->reserved_chunks_ -= chunks_;
        tree.close_space_if_unused(*space_);
    }

    void swap(Reservation &other) noexcept {
        std::swap(index_, other.index_);
        std::swap(space_, other.space_);
        std::swap(path_, other.path_);
        std::swap(spare_, other.spare_);
        std::swap(chunks_, other.chunks_);
        std::swap(nodes_, other.nodes_);
        std::swap(depth_, other.depth_);
    }

    PrefixCheckpointIndex *index_ = nullptr;  // null once used
    TreeSpace *space_ = nullptr;
    TokenList path_;
    PoolId spare_ = kNoId;
    std::size_t chunks_ = 0;
    PoolId nodes_[kNodesPerPath] = {kNoId, kNoId};
    TokenPos depth_ = 0;
};

template <CheckpointEntry Entry, CheckpointTraits<Entry> Traits>
auto PrefixCheckpointIndex<Entry, Traits>::match(const NamespaceKey &ns, TokenView tokens, TokenPos limit) -> Match {
    Match match;
    const TreeSpace *space = tree_.find_space(ns);
    if (space == nullptr || space->entries == 0) return match;
    match.namespace_known = true;

    PoolId best = kNoId;
    PoolId deepest_stale = kNoId;
    ViewSource source(tokens);
    match.common = tree_
                       .walk(space->root, source,
                             [&](PoolId id) {
                                 const auto &node = tree_.node(id);
                                 const bool stale = Traits::stale(*node.entry);
                                 if (stale) deepest_stale = id;
                                 if (node.depth > limit) return;
                                 if (!stale && Traits::restorable(*node.entry)) {
                                     best = id;
                                 } else {
                                     match.deepest_unusable = node.depth;
                                 }
                             })
                       .depth;

    if (best != kNoId) {
        const auto &node = tree_.node(best);
        match.entry.emplace(*node.entry);
        match.ref = {best, node.stamp};
        match.depth = node.depth;
        if (match.deepest_unusable < match.depth) match.deepest_unusable = 0;
    }
    if (deepest_stale != kNoId) prune_upwards(deepest_stale);
    return match;
}

// Removes the stale entry of `id` and those of its ancestors.
template <CheckpointEntry Entry, CheckpointTraits<Entry> Traits>
void PrefixCheckpointIndex<Entry, Traits>::prune_upwards(PoolId id) noexcept {
    TreeSpace &space = *tree_.node(id).space;
    while (id != kNoId) {
        // The next one first: removing an entry may remove any node but those with an entry of their own.
        PoolId above = tree_.node(id).parent;
        while (above != kNoId && !(tree_.node(above).entry && Traits::stale(*tree_.node(above).entry))) {
            above = tree_.node(above).parent;
        }
        static_cast<void>(tree_.remove(id));
        id = above;
    }
    tree_.close_space_if_unused(space);
}

template <CheckpointEntry Entry, CheckpointTraits<Entry> Traits>
template <class Accepts>
requires std::predicate<Accepts &, const Entry &>
auto PrefixCheckpointIndex<Entry, Traits>::cover(const NamespaceKey &ns, TokenView tokens, Accepts accepts,
                                                 std::size_t max_visits) const -> Cover {
    Cover cover;
    const TreeSpace *space = tree_.find_space(ns);
    if (space == nullptr) return cover;
    ViewSource source(tokens);
    const auto place = tree_.walk(space->root, source, [](PoolId) {});

    // The first accepted entry in the subtree of `top`, without that of `seen`; within the visits that are left.
    const auto search = [&](PoolId top, PoolId seen) {
        for (PoolId id = top; id != kNoId; id = id == seen ? tree_.next_beside(top, id) : tree_.next_in(top, id)) {
            if (id == seen) continue;
            if (max_visits == 0 && id != top) {
                cover.exhaustive = false;
                break;
            }
            if (max_visits > 0) --max_visits;
            if (tree_.node(id).entry && accepts(*tree_.node(id).entry)) return id;
        }
        return kNoId;
    };

    PoolId seen = kNoId;
    PoolId top = place.child != kNoId ? place.child : place.node;
    for (TokenPos common = place.depth; common > 0; common = tree_.node(top).depth) {
        if (const PoolId found = search(top, seen); found != kNoId) {
            const auto &node = tree_.node(found);
            cover.entry.emplace(*node.entry);
            cover.ref = {found, node.stamp};
            cover.entry_depth = node.depth;
            cover.common = common;
            break;
        }
        seen = top;
        top = tree_.node(top).parent;
    }
    return cover;
}

template <CheckpointEntry Entry, CheckpointTraits<Entry> Traits>
auto PrefixCheckpointIndex<Entry, Traits>::reserve(const NamespaceKey &ns, TokenView tokens) -> Result<Reservation> {
    return reserve_from(0, ns, tokens);
}

template <CheckpointEntry Entry, CheckpointTraits<Entry> Traits>
auto PrefixCheckpointIndex<Entry, Traits>::reserve_from(TokenPos begin, const NamespaceKey &ns, TokenView tokens)
    -> Result<Reservation> {
    const auto most = static_cast<std::size_t>(std::numeric_limits<TokenPos>::max() - begin);
    if (tokens.empty() || tokens.size() > most) {
        return fail(ErrorCode::invalid_argument, "A checkpoint needs a prefix of 1 to {} tokens, not {}.", most,
                    tokens.size());
    }
    const std::size_t chunks = TokenStore::chunks_for(tokens.size()) + 1;
    TreeSpace *space = nullptr;
    if (tree_.make_room(kNodesPerPath + 1, chunks)) space = tree_.open_space(ns);
    if (space == nullptr) {
        return fail(ErrorCode::no_memory,
                    "The prefix index got no memory for a path of {} tokens ({} of at most {} bytes are taken): erase "
                    "checkpoints, or raise its limit.",
                    tokens.size(), memory_bytes(), tree_.meter().limit());
    }
    return Reservation(*this, *space, begin, tokens);
}

template <CheckpointEntry Entry, CheckpointTraits<Entry> Traits>
auto PrefixCheckpointIndex<Entry, Traits>::publish(Reservation &&reservation, Entry entry) noexcept -> Published {
    CAIRN_CHECK(reservation.index_ == this, "a reservation of another index, or one that was used already");
    const PoolId root = reservation.space_->root;
    return publish_from(root, std::move(reservation), std::move(entry));
}

template <CheckpointEntry Entry, CheckpointTraits<Entry> Traits>
auto PrefixCheckpointIndex<Entry, Traits>::publish_below(Ref above, TokenView tokens, Entry entry)
    -> Result<Published> {
    if (!tree_.is_current(above)) {
        return fail(ErrorCode::invalid_argument, "The checkpoint to go on from is not in the index any more.");
    }
    auto reservation = reserve_from(depth(above), *tree_.node(above.node).space->key, tokens);
    if (!reservation) return fail(reservation.error());
    return publish_from(above.node, std::move(*reservation), std::move(entry));
}

template <CheckpointEntry Entry, CheckpointTraits<Entry> Traits>
auto PrefixCheckpointIndex<Entry, Traits>::publish_from(PoolId begin, Reservation &&reservation, Entry &&entry) noexcept
    -> Published {
    Reservation used(std::move(reservation));  // what is left of it goes back when this ends
    const PoolId id = place_path(begin, used);
    Published published;
    published.replaced = tree_.put(id, std::move(entry));
    published.ref = {id, tree_.node(id).stamp};
    return published;
}

// The node of the reserved path, which goes on from the node `begin`; made where it is not there.
template <CheckpointEntry Entry, CheckpointTraits<Entry> Traits>
PoolId PrefixCheckpointIndex<Entry, Traits>::place_path(PoolId begin, Reservation &reservation) noexcept {
    ListSource source(tree_.store(), reservation.path_);
    const auto place = tree_.walk(begin, source, [](PoolId) {});
    PoolId id = place.node;
    if (place.child != kNoId) {
        id = reservation.use_node();
        tree_.split(place, id, reservation.spare_);
    }
    if (place.depth == reservation.depth_) return id;

    TokenList rest = std::exchange(reservation.path_, TokenList{});
    tree_.store().drop_front(rest, source.place());
    const PoolId leaf = reservation.use_node();
    tree_.attach(id, leaf, rest, reservation.depth_);
    return leaf;
}

}  // namespace cairn
