// SlabArray: uninitialised room for elements that never move, found by number, and never more of it than a limit
// allows.
//
//     MemoryMeter meter(64_MiB);
//     SlabArray<Node, 10> room(meter);
//     if (!room.grow_to(5000)) return fail(...);     // the limit or the machine refused: nothing has changed
//     std::construct_at(room.slot(17), ...);
//
// Growing adds half of what is there, in one piece, so that a million elements take some 30 allocations and none is
// ever copied (a vector's doubling would stop the caller for as long as the copy takes). Where half is refused, exactly
// what is needed is tried. Fresh room is not touched: pages that hold no element yet are not resident.
//
// Ownership: owns the room, not the elements: whoever constructed one destroys it. Borrows the meter.
// Threads: one at a time.
// Cost: slot() is two loads.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <new>
#include <vector>

#include "base/check.h"

namespace cairn {

/// Bytes in use, and the most that may be.
class MemoryMeter {
public:
    explicit MemoryMeter(std::size_t limit) noexcept : limit_(limit) {}
    MemoryMeter(const MemoryMeter &) = delete;
    MemoryMeter &operator=(const MemoryMeter &) = delete;

    /// False, and nothing taken, where that would pass the limit.
    [[nodiscard]] bool take(std::size_t bytes) noexcept {
        if (bytes > limit_ - used_) return false;
        used_ += bytes;
        return true;
    }
    void give_back(std::size_t bytes) noexcept { used_ -= bytes; }
    [[nodiscard]] std::size_t used() const noexcept { return used_; }
    [[nodiscard]] std::size_t limit() const noexcept { return limit_; }

private:
    std::size_t limit_;
    std::size_t used_ = 0;
};

template <class T, unsigned kSlabShift>
class SlabArray {
public:
    explicit SlabArray(MemoryMeter &meter) noexcept : meter_(&meter) {}
    ~SlabArray() { release(); }
    SlabArray(const SlabArray &) = delete;
    SlabArray &operator=(const SlabArray &) = delete;

    [[nodiscard]] T *slot(std::uint32_t i) const noexcept { return slabs_[i >> kSlabShift] + (i & (kSlab - 1)); }
    [[nodiscard]] T &operator[](std::uint32_t i) const noexcept { return *slot(i); }
    [[nodiscard]] std::size_t capacity() const noexcept { return slabs_.size() << kSlabShift; }

    /// Room for `count` elements. False, and nothing changed, where memory was refused.
    [[nodiscard]] bool grow_to(std::size_t count) noexcept {
        if (count <= capacity()) return true;
        if (count > kMostElements) return false;
        const std::size_t needed = (count - capacity() + kSlab - 1) >> kSlabShift;
        const std::size_t most = (kMostElements >> kSlabShift) - slabs_.size();
        const std::size_t geometric = std::min(std::max(needed, slabs_.size() / 2), most);
        return extend(geometric) || (geometric > needed && extend(needed));
    }

    /// Gives all room back. No element may be alive.
    void release() noexcept {
        for (const Extent &extent : extents_) {
            ::operator delete(extent.room, kAlignment);
            meter_->give_back(extent.bytes);
        }
        extents_ = {};
        slabs_ = {};
    }

private:
    struct Extent {
        T *room;
        std::size_t bytes;
    };
    static constexpr std::size_t kSlab = std::size_t{1} << kSlabShift;
    static constexpr std::size_t kMostElements = std::numeric_limits<std::uint32_t>::max() - kSlab;
    // A cache line: what fits one does not straddle two.
    static constexpr std::align_val_t kAlignment{64};
    static_assert(alignof(T) <= 64);

    [[nodiscard]] bool extend(std::size_t slabs) noexcept {
        const std::size_t bytes = slabs * (kSlab * sizeof(T) + sizeof(T *)) + sizeof(Extent);
        if (!make_table_room(slabs) || !meter_->take(bytes)) return false;
        T *room = static_cast<T *>(::operator new(slabs *kSlab * sizeof(T), kAlignment, std::nothrow));
        if (room == nullptr) {
            meter_->give_back(bytes);
            return false;
        }
        extents_.push_back({room, bytes});
        for (std::size_t i = 0; i < slabs; ++i)
            slabs_.push_back(room + i * kSlab);
        return true;
    }

    // The tables first, so that nothing can fail once room was taken.
    [[nodiscard]] bool make_table_room(std::size_t slabs) noexcept try {
        if (slabs_.capacity() < slabs_.size() + slabs)
            slabs_.reserve(std::max(2 * slabs_.size(), slabs_.size() + slabs));
        if (extents_.capacity() == extents_.size()) extents_.reserve(2 * extents_.size() + 4);
        return true;
    } catch (const std::bad_alloc &) {
        return false;
    }

    MemoryMeter *meter_;
    std::vector<T *> slabs_;
    std::vector<Extent> extents_;
};

}  // namespace cairn
