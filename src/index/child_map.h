// ChildMap: (parent, first token of an edge) -> child, for all nodes of a tree in one table.
//
// Chained hashing whose table grows by one bucket per insertion (linear hashing, Litwin 1980): no insertion ever stops
// to move a million others. Chains run through the nodes, so an entry needs no memory but its share of a bucket. A
// table per node lost: most nodes have one or two children, some (a root of a busy namespace) have 100,000.
//
// Nodes is a Pool whose elements have `parent`, `first_token` and `hash_next`.
// Ownership: borrows the nodes. Threads: one at a time. Cost: constant, whatever the fan-out.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "cairn/types.h"
#include "index/pool.h"

namespace cairn {

template <class Nodes>
class ChildMap {
public:
    ChildMap(MemoryMeter &meter, Nodes &nodes) noexcept : nodes_(nodes), buckets_(meter) {}

    /// Makes insert() of up to `count` nodes in all keep chains short. False where memory was refused.
    [[nodiscard]] bool make_room(std::size_t count) noexcept { return buckets_.grow_to(count); }
    [[nodiscard]] std::size_t size() const noexcept { return size_; }

    [[nodiscard]] PoolId find(PoolId parent, Token token) const noexcept {
        if (bucket_count_ == 0) return kNoId;
        PoolId id = buckets_[bucket_of(hash(parent, token))];
        while (id != kNoId && !(nodes_[id].parent == parent && nodes_[id].first_token == token))
            id = nodes_[id].hash_next;
        return id;
    }

    /// make_room() must have been called for at least one node.
    void insert(PoolId id) noexcept {
        ++size_;
        if (size_ > bucket_count_ && bucket_count_ < buckets_.capacity()) add_bucket();
        push(bucket_of(hash_of(id)), id);
    }

    /// `id` must be in the map, under the parent and token it has now.
    void remove(PoolId id) noexcept {
        PoolId *link = &buckets_[bucket_of(hash_of(id))];
        while (*link != id)
            link = &nodes_[*link].hash_next;
        *link = nodes_[id].hash_next;
        --size_;
    }

    /// Forgets all nodes; keeps the memory.
    void clear() noexcept {
        bucket_count_ = 0;
        size_ = 0;
    }
    /// Forgets all nodes and gives the memory back.
    void release() noexcept {
        clear();
        buckets_.release();
    }

private:
    [[nodiscard]] static std::uint64_t hash(PoolId parent, Token token) noexcept {
        std::uint64_t x = (std::uint64_t{parent} << 32) | static_cast<std::uint32_t>(token);
        x = (x ^ (x >> 32)) * 0xd6e8feb86659fd93u;
        x = (x ^ (x >> 32)) * 0xd6e8feb86659fd93u;
        return x ^ (x >> 32);
    }
    [[nodiscard]] std::uint64_t hash_of(PoolId id) const noexcept {
        return hash(nodes_[id].parent, nodes_[id].first_token);
    }

    // Buckets [0, n) with n between two powers of two: those the wider mask would put behind the end use the narrower.
    [[nodiscard]] std::uint32_t bucket_of(std::uint64_t hash_value) const noexcept {
        const std::uint32_t mask = std::bit_ceil(bucket_count_) - 1;
        const auto bucket = static_cast<std::uint32_t>(hash_value) & mask;
        return bucket < bucket_count_ ? bucket : bucket & (mask >> 1);
    }

    void push(std::uint32_t bucket, PoolId id) noexcept {
        nodes_[id].hash_next = buckets_[bucket];
        buckets_[bucket] = id;
    }

    // Splits the one bucket whose nodes may now belong to the new one.
    void add_bucket() noexcept {
        const std::uint32_t added = bucket_count_++;
        buckets_[added] = kNoId;
        if (added == 0) return;
        const std::uint32_t source = added - std::bit_floor(added);
        PoolId id = buckets_[source];
        buckets_[source] = kNoId;
        while (id != kNoId) {
            const PoolId next = nodes_[id].hash_next;
            push(bucket_of(hash_of(id)), id);
            id = next;
        }
    }

    Nodes &nodes_;
    SlabArray<PoolId, 10> buckets_;
    std::uint32_t bucket_count_ = 0;
    std::size_t size_ = 0;
};

}  // namespace cairn
