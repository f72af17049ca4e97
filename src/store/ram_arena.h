// RamArena: the memory of the RAM tier. One reservation of address space of the tier's budget, given out in blocks.
//
//     RamArena arena(64_MiB);
//     Result<RamBlock> block = arena.allocate(upper_bound);    // ErrorCode::capacity: no free range is large enough
//     ... write up to `used` bytes to block->bytes() ...
//     block->shrink(used);                                     // the rest is free again
//                                                              // the block's end frees all of it
//
//     0                                committed()                budget()
//     |#####|..|#########|....|###|.............|~~~~~~~~~~~~~~~~~~|
//      block  free             block             address space only: no memory behind it yet
//
// Why not malloc: a fresh vector of a state's size spends most of a capture in page faults, and its size is nobody's
// budget. Here pages are faulted in once, in large steps, by whoever commits them, and stay.
//
// Blocks are found best-fit, lowest address first, so holes are used up before fresh memory; neighbouring free ranges
// are joined at once. Where the holes are too small and their sum is not, blocks are moved together: of all runs of
// neighbouring holes that would do, the one with the fewest bytes between them. So whatever fits the budget fits the
// arena. The alternative, to evict until two neighbours are free, threw out whole conversations for want of one piece.
// A pinned block stays where it is, so that another thread may read it; while there are some, an allocation may fail
// although its bytes are free.
//
// Ownership: a block frees itself, and must not outlive its arena (checked). A pin must not outlive its block
// (checked). Threads: one at a time for the arena with all its blocks and pins. What bytes() gives is good until the
// next allocate(), and as long as the block is pinned. Errors: capacity where the budget has no room; no_memory where
// the machine refuses pages. Nothing has changed then. Cost: O(log free ranges), plus page faults for memory used for
// the first time. Moving: O(free ranges) and a copy of the bytes that are moved, moved() in all.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "base/bytes.h"
#include "cairn/error.h"

namespace cairn {

class RamArena;

/// While it lives, its block stays where it is. Move-only.
class RamPin {
public:
    RamPin() = default;
    RamPin(RamPin &&other) noexcept
        : arena_(std::exchange(other.arena_, nullptr)), offset_(std::exchange(other.offset_, 0)) {}
    RamPin &operator=(RamPin &&other) noexcept {
        RamPin gone(std::move(other));
        std::swap(arena_, gone.arena_);
        std::swap(offset_, gone.offset_);
        return *this;
    }
    ~RamPin();

private:
    friend class RamBlock;
    RamPin(RamArena &arena, std::size_t offset) noexcept : arena_(&arena), offset_(offset) {}

    RamArena *arena_ = nullptr;
    std::size_t offset_ = 0;
};

/// A piece of an arena; move-only. A default-made one holds nothing.
class RamBlock {
public:
    RamBlock() = default;
    RamBlock(RamBlock &&other) noexcept { swap(other); }
    RamBlock &operator=(RamBlock &&other) noexcept {
        RamBlock gone(std::move(other));
        swap(gone);
        return *this;
    }
    ~RamBlock();

    /// As many bytes as were asked for, or what the last shrink() left.
    [[nodiscard]] MutableBytes bytes() noexcept { return {data_, size_}; }
    [[nodiscard]] Bytes bytes() const noexcept { return {data_, size_}; }
    [[nodiscard]] std::size_t size() const noexcept { return size_; }
    /// What the arena counts for it: size() rounded up to whole granules.
    [[nodiscard]] std::size_t footprint() const noexcept;
    [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
    /// Gives back everything from `size` on; the first `size` bytes stay where they are. 0 gives back all.
    void shrink(std::size_t size);
    /// Of an empty block: an empty pin.
    [[nodiscard]] RamPin pin() const;

private:
    friend class RamArena;
    RamBlock(RamArena &arena, std::byte *data, std::size_t size) noexcept : arena_(&arena), data_(data), size_(size) {}
    void swap(RamBlock &other) noexcept;

    RamArena *arena_ = nullptr;
    std::byte *data_ = nullptr;
    std::size_t size_ = 0;
};

class RamArena {
public:
    /// Blocks begin and end on multiples of this: a cache line, so that copies of two blocks never share one.
    static constexpr std::size_t kGranularity = 64;
    /// Memory is committed in steps of at least this much.
    static constexpr std::size_t kCommitStep = 16_MiB;

    /// Takes no memory yet. `budget` is rounded down to whole granules.
    explicit RamArena(std::size_t budget);
    ~RamArena();
    RamArena(const RamArena &) = delete;
    RamArena &operator=(const RamArena &) = delete;

    /// A block of `bytes` bytes with undefined content; of 0 bytes: an empty block.
    [[nodiscard]] Result<RamBlock> allocate(std::size_t bytes);
    /// Commits one more step of memory where less than `ahead` committed bytes are free, so that a later allocate()
    /// meets no page faults. False when there was nothing to do.
    bool commit_ahead(std::size_t ahead);

    /// What two blocks of these sizes count for together; nothing where that does not fit std::size_t.
    [[nodiscard]] static std::optional<std::size_t> footprint(std::size_t a, std::size_t b) noexcept;
    [[nodiscard]] std::size_t budget() const noexcept { return budget_; }
    [[nodiscard]] std::size_t used() const noexcept { return used_; }            ///< footprints of all blocks
    [[nodiscard]] std::size_t committed() const noexcept { return committed_; }  ///< memory really taken
    [[nodiscard]] std::size_t blocks() const noexcept { return blocks_.size(); }
    [[nodiscard]] std::size_t moved() const noexcept { return moved_; }  ///< bytes moved so far to join holes
    [[nodiscard]] std::size_t largest_free() const noexcept;
    /// Aborts with context where blocks and free ranges overlap, leave gaps, or do not add up.
    void check_invariants() const;

private:
    friend class RamBlock;
    friend class RamPin;
    using Range = std::pair<std::size_t, std::size_t>;  // size, offset

    [[nodiscard]] Status reserve_addresses();
    [[nodiscard]] Status commit_to(std::size_t end);
    /// False where pinned blocks lie in the way.
    [[nodiscard]] bool join_holes(std::size_t size);
    [[nodiscard]] bool pinned_between(std::size_t begin, std::size_t end) const noexcept;
    void slide(std::size_t begin, std::size_t end);
    void release(std::size_t offset, std::size_t size);
    [[nodiscard]] std::size_t offset_of(const std::byte *data) const noexcept {
        return static_cast<std::size_t>(data - base_);
    }
    void add_free(std::size_t offset, std::size_t size);
    void remove_free(std::map<std::size_t, std::size_t>::iterator range);

    std::size_t budget_;
    std::size_t mapped_ = 0;  // budget_ rounded up to whole pages; 0 until the first allocation
    std::size_t committed_ = 0;
    std::size_t used_ = 0;
    std::size_t moved_ = 0;
    std::byte *base_ = nullptr;
    std::map<std::size_t, RamBlock *> blocks_;           // offset -> whoever holds it now
    std::map<std::size_t, std::size_t> pins_;            // offset of a block -> pins on it, at least one
    std::map<std::size_t, std::size_t> free_by_offset_;  // offset -> size
    std::set<Range> free_by_size_;                       // the same ranges
};

}  // namespace cairn
