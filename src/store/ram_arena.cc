#include "store/ram_arena.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/check.h"

#if defined(__SANITIZE_ADDRESS__)
#define CAIRN_ARENA_POISONS 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define CAIRN_ARENA_POISONS 1
#endif
#endif
#ifdef CAIRN_ARENA_POISONS
#include <sanitizer/asan_interface.h>
#endif

namespace cairn {
namespace {

// Under the address sanitizer, free memory of the arena is as forbidden as freed heap memory.
void forbid([[maybe_unused]] std::byte *data, [[maybe_unused]] std::size_t size) {
#ifdef CAIRN_ARENA_POISONS
    ASAN_POISON_MEMORY_REGION(data, size);
#endif
}

void permit([[maybe_unused]] std::byte *data, [[maybe_unused]] std::size_t size) {
#ifdef CAIRN_ARENA_POISONS
    ASAN_UNPOISON_MEMORY_REGION(data, size);
#endif
}

std::size_t page_size() {
    return static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

std::size_t granules(std::size_t bytes) {
    const auto rounded = checked_align_up(bytes, RamArena::kGranularity);
    CAIRN_CHECK(rounded.has_value(), "a block of {} bytes", bytes);
    return *rounded;
}

Status fault_in(std::byte *begin, std::size_t size) {
#ifdef MADV_POPULATE_WRITE
    if (::madvise(begin, size, MADV_POPULATE_WRITE) == 0) return {};
    if (errno == ENOMEM || errno == EHWPOISON) {
        return fail(ErrorCode::no_memory,
                    "The machine refused {} bytes for snapshots in RAM ({}): lower the RAM budget.", size,
                    std::strerror(errno));
    }
#endif
    // Kernels before 5.14: touch every page.
    for (std::size_t at = 0; at < size; at += page_size()) {
        *static_cast<volatile std::byte *>(begin + at) = std::byte{0};
    }
    return {};
}

}  // namespace

RamBlock::~RamBlock() {
    shrink(0);
}

std::size_t RamBlock::footprint() const noexcept {
    return granules(size_);
}

void RamBlock::swap(RamBlock &other) noexcept {
    std::swap(arena_, other.arena_);
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    for (RamBlock *block : {this, &other}) {
        if (block->size_ != 0) block->arena_->blocks_.find(block->arena_->offset_of(block->data_))->second = block;
    }
}

void RamBlock::shrink(std::size_t size) {
    CAIRN_CHECK(size <= size_, "shrinking a block of {} bytes to {}", size_, size);
    if (size == size_) return;
    const std::size_t kept = granules(size);
    const std::size_t had = granules(size_);
    const std::size_t offset = arena_->offset_of(data_);
    CAIRN_CHECK(size != 0 || arena_->pins_.count(offset) == 0, "a pinned block of {} bytes is given back", size_);
    if (kept < had) arena_->release(offset + kept, had - kept);
    if (size == 0) {
        arena_->blocks_.erase(offset);
    } else {
        forbid(data_ + size, kept - size);
    }
    size_ = size;
}

RamPin RamBlock::pin() const {
    if (size_ == 0) return {};
    const std::size_t offset = arena_->offset_of(data_);
    ++arena_->pins_[offset];
    return {*arena_, offset};
}

RamPin::~RamPin() {
    if (arena_ == nullptr) return;
    const auto at = arena_->pins_.find(offset_);
    CAIRN_CHECK(at != arena_->pins_.end(), "a pin outlives its block");
    if (--at->second == 0) arena_->pins_.erase(at);
}

RamArena::RamArena(std::size_t budget) : budget_(budget & ~(kGranularity - 1)) {
    if (budget_ != 0) add_free(0, budget_);
}

RamArena::~RamArena() {
    CAIRN_CHECK(pins_.empty(), "{} pins outlive their arena", pins_.size());
    CAIRN_CHECK(used_ == 0, "{} blocks of {} bytes outlive their arena", blocks_.size(), used_);
    if (base_ == nullptr) return;
    permit(base_, mapped_);
    ::munmap(base_, mapped_);
}

Status RamArena::reserve_addresses() {
    if (base_ != nullptr) return {};
    const auto size = checked_align_up(budget_, page_size());
    void *base =
        size ? ::mmap(nullptr, *size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0) : MAP_FAILED;
    if (base == MAP_FAILED) {
        return fail(ErrorCode::no_memory,
                    "There is no address space for {} bytes of snapshots in RAM: lower the RAM budget.", budget_);
    }
    base_ = static_cast<std::byte *>(base);
    mapped_ = *size;
#ifdef MADV_HUGEPAGE
    (void)::madvise(base_, mapped_, MADV_HUGEPAGE);  // fewer faults and TLB misses where the kernel has them
#endif
    return {};
}

Status RamArena::commit_to(std::size_t end) {
    if (auto reserved = reserve_addresses(); !reserved) return reserved;
    if (end <= committed_) return {};
    const std::size_t wanted = std::max(end, committed_ + std::min(kCommitStep, mapped_ - committed_));
    const std::size_t target = std::min(mapped_, *checked_align_up(wanted, page_size()));
    std::byte *begin = base_ + committed_;
    const std::size_t size = target - committed_;
    if (::mprotect(begin, size, PROT_READ | PROT_WRITE) != 0) {
        return fail(ErrorCode::no_memory,
                    "The machine refused {} bytes for snapshots in RAM ({}): lower the RAM budget.", size,
                    std::strerror(errno));
    }
    if (auto faulted = fault_in(begin, size); !faulted) return faulted;
    forbid(begin, size);
    committed_ = target;
    return {};
}

bool RamArena::commit_ahead(std::size_t ahead) {
    const std::size_t room = committed_ - std::min(committed_, used_);
    if (room >= ahead || committed_ >= budget_) return false;
    return commit_to(committed_ + 1).has_value();
}

Result<RamBlock> RamArena::allocate(std::size_t bytes) {
    if (bytes == 0) return RamBlock{};
    if (bytes > budget_ || granules(bytes) > budget_ - used_) {
        return fail(ErrorCode::capacity, "The RAM tier has no room for {} bytes: {} of {} are used.", bytes, used_,
                    budget_);
    }
    const std::size_t taken = granules(bytes);
    if (largest_free() < taken && !join_holes(taken)) {
        return fail(ErrorCode::capacity,
                    "The RAM tier has no {} bytes in one piece: blocks that are in use by another thread lie between.",
                    bytes);
    }
    const auto [size, offset] = *free_by_size_.lower_bound(Range{taken, 0});
    if (auto committed = commit_to(offset + taken); !committed) return fail(committed.error());
    remove_free(free_by_offset_.find(offset));
    if (taken < size) add_free(offset + taken, size - taken);
    used_ += taken;
    permit(base_ + offset, bytes);
    RamBlock block(*this, base_ + offset, bytes);
    blocks_.emplace(offset, &block);
    return block;
}

// Makes one free range of at least `size` bytes out of neighbouring ones: of all runs of them that are large enough,
// the one with the fewest bytes of blocks in between. No run goes across a pinned block.
bool RamArena::join_holes(std::size_t size) {
    std::size_t fewest = static_cast<std::size_t>(-1);
    std::size_t begin = 0;
    std::size_t end = 0;
    std::size_t free = 0;
    auto first = free_by_offset_.begin();
    for (auto at = free_by_offset_.begin(); at != free_by_offset_.end(); ++at) {
        const auto [offset, length] = *at;
        if (at != first && pinned_between(std::prev(at)->first, offset)) {
            first = at;
            free = 0;
        }
        free += length;
        while (free >= size) {
            const std::size_t between = offset + length - first->first - free;
            if (between < fewest) {
                fewest = between;
                begin = first->first;
                end = offset + length;
            }
            free -= first->second;
            ++first;
        }
    }
    CAIRN_CHECK(end != 0 || !pins_.empty(), "{} bytes are free, and no run of holes has {}", budget_ - used_, size);
    if (end != 0) slide(begin, end);
    return end != 0;
}

bool RamArena::pinned_between(std::size_t begin, std::size_t end) const noexcept {
    const auto pin = pins_.lower_bound(begin);
    return pin != pins_.end() && pin->first < end;
}

// Moves all blocks in [begin, end) to its front. Both ends are ends of free ranges.
void RamArena::slide(std::size_t begin, std::size_t end) {
    auto range = free_by_offset_.lower_bound(begin);
    while (range != free_by_offset_.end() && range->first < end)
        remove_free(range++);
    std::size_t to = begin;
    for (auto at = blocks_.lower_bound(begin); at != blocks_.end() && at->first < end;) {
        RamBlock *block = at->second;
        const std::size_t size = granules(block->size_);
        permit(base_ + to, block->size_);
        std::memmove(base_ + to, base_ + at->first, block->size_);
        moved_ += block->size_;
        block->data_ = base_ + to;
        // The same node under its new key: no allocation that could fail half-way.
        auto node = blocks_.extract(at++);
        node.key() = to;
        blocks_.insert(at, std::move(node));
        to += size;
    }
    for (auto at = blocks_.lower_bound(begin); at != blocks_.end() && at->first < end; ++at) {
        forbid(at->second->data_ + at->second->size_, granules(at->second->size_) - at->second->size_);
    }
    forbid(base_ + to, std::min(end, committed_) - to);
    add_free(to, end - to);
}

void RamArena::release(std::size_t offset, std::size_t size) {
    CAIRN_CHECK(used_ >= size, "freeing {} bytes of {}", size, used_);
    forbid(base_ + offset, size);
    used_ -= size;
    auto next = free_by_offset_.lower_bound(offset);
    if (next != free_by_offset_.end() && next->first == offset + size) {
        size += next->second;
        auto joined = next++;
        remove_free(joined);
    }
    if (next != free_by_offset_.begin()) {
        const auto before = std::prev(next);
        if (before->first + before->second == offset) {
            offset = before->first;
            size += before->second;
            remove_free(before);
        }
    }
    add_free(offset, size);
}

void RamArena::add_free(std::size_t offset, std::size_t size) {
    free_by_offset_.emplace(offset, size);
    free_by_size_.emplace(size, offset);
}

void RamArena::remove_free(std::map<std::size_t, std::size_t>::iterator range) {
    free_by_size_.erase(Range{range->second, range->first});
    free_by_offset_.erase(range);
}

std::optional<std::size_t> RamArena::footprint(std::size_t a, std::size_t b) noexcept {
    const auto first = checked_align_up(a, kGranularity);
    const auto second = checked_align_up(b, kGranularity);
    return first && second ? checked_add(*first, *second) : std::nullopt;
}

std::size_t RamArena::largest_free() const noexcept {
    return free_by_size_.empty() ? 0 : free_by_size_.rbegin()->first;
}

void RamArena::check_invariants() const {
    CAIRN_CHECK(free_by_offset_.size() == free_by_size_.size());
    std::size_t used = 0;
    std::size_t at = 0;
    bool after_hole = false;
    auto block = blocks_.begin();
    auto hole = free_by_offset_.begin();
    while (at < budget_) {
        if (block != blocks_.end() && block->first == at) {
            CAIRN_CHECK(block->second->data_ == base_ + at && block->second->arena_ == this, "a block at {} moved away",
                        at);
            used += block->second->footprint();
            at += block->second->footprint();
            after_hole = false;
            ++block;
            continue;
        }
        CAIRN_CHECK(hole != free_by_offset_.end() && hole->first == at && hole->second != 0, "nobody's bytes at {}",
                    at);
        CAIRN_CHECK(!after_hole && free_by_size_.count(Range{hole->second, at}) == 1, "two free ranges touch at {}",
                    at);
        at += hole->second;
        after_hole = true;
        ++hole;
    }
    CAIRN_CHECK(at == budget_ && used == used_, "{} bytes are in blocks, {} are accounted", used, used_);
    CAIRN_CHECK(block == blocks_.end() && hole == free_by_offset_.end(), "blocks or holes behind the end");
}

}  // namespace cairn
