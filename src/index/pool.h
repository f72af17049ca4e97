// Pool: elements that are taken and given back by number, at stable addresses, without an allocation each.
//
//     if (!pool.make_room(3)) return fail(...);
//     PoolId id = pool.take();              // cannot fail: make_room() promised it
//     pool[id].depth = 7;
//     pool.give_back(id);                   // destroyed; its room is the next to be used
//
// T is made by its default constructor and has a member `PoolId next`, which is the pool's while the element is free.
// Ownership: owns all elements, those in use too. Threads: one at a time. Cost: constant, save for make_room().
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <type_traits>

#include "base/check.h"
#include "index/slab_array.h"

namespace cairn {

using PoolId = std::uint32_t;
inline constexpr PoolId kNoId = std::numeric_limits<PoolId>::max();

template <class T, unsigned kSlabShift>
class Pool {
    static_assert(std::is_nothrow_default_constructible_v<T> && std::is_nothrow_destructible_v<T>);

public:
    explicit Pool(MemoryMeter &meter) noexcept : room_(meter) {}
    ~Pool() { destroy_all(); }
    Pool(const Pool &) = delete;
    Pool &operator=(const Pool &) = delete;

    [[nodiscard]] T &operator[](PoolId id) noexcept { return room_[id]; }
    [[nodiscard]] const T &operator[](PoolId id) const noexcept { return room_[id]; }
    /// True for the id of an element that is or once was in use.
    [[nodiscard]] bool knows(PoolId id) const noexcept { return id < made_; }
    [[nodiscard]] std::size_t in_use() const noexcept { return made_ - free_count_; }
    /// Most elements that were ever in use at once, and so the bound of all ids.
    [[nodiscard]] std::size_t high_water() const noexcept { return made_; }

    /// Makes the next `count` take() succeed. False, and nothing changed, where memory was refused.
    [[nodiscard]] bool make_room(std::size_t count) noexcept {
        return count <= free_count_ || room_.grow_to(made_ + (count - free_count_));
    }

    [[nodiscard]] PoolId take() noexcept {
        if (free_ == kNoId) {
            CAIRN_CHECK(made_ < room_.capacity(), "pool of {} elements has no room left", made_);
            std::construct_at(room_.slot(made_));
            return made_++;
        }
        const PoolId id = free_;
        free_ = room_[id].next;
        --free_count_;
        room_[id].next = kNoId;
        return id;
    }

    void give_back(PoolId id) noexcept {
        if constexpr (!std::is_trivially_destructible_v<T>) {
            std::destroy_at(room_.slot(id));
            std::construct_at(room_.slot(id));
        }
        give_back_list(id, id, 1);
    }

    /// Gives back `count` elements that are linked by `next` from `first` to `last`, as they are. They keep their
    /// order.
    void give_back_list(PoolId first, PoolId last, std::size_t count) noexcept {
        room_[last].next = free_;
        free_ = first;
        free_count_ += count;
    }

    /// Destroys everything and gives the memory back.
    void release() noexcept {
        destroy_all();
        room_.release();
        made_ = 0;
        free_ = kNoId;
        free_count_ = 0;
    }

private:
    void destroy_all() noexcept {
        if constexpr (!std::is_trivially_destructible_v<T>) {
            for (PoolId id = 0; id < made_; ++id)
                std::destroy_at(room_.slot(id));
        }
    }

    SlabArray<T, kSlabShift> room_;
    PoolId made_ = 0;  // elements constructed so far: [0, made_)
    PoolId free_ = kNoId;
    std::size_t free_count_ = 0;
};

}  // namespace cairn
