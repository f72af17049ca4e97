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
    if (arena_ != nullptr && size_ != 0) arena_->release(data_, size_);
}

std::size_t RamBlock::footprint() const noexcept {
    return granules(size_);
}

void RamBlock::shrink(std::size_t size) {
    CAIRN_CHECK(size <= size_, "shrinking a block of {} bytes to {}", size_, size);
    const std::size_t kept = granules(size);
    const std::size_t had = granules(size_);
    if (kept < had) {
        arena_->release(data_ + kept, had - kept);
        if (kept != 0) ++arena_->blocks_;  // release() counted a whole block as gone
    }
    if (kept != 0) {
        forbid(data_ + size, kept - size);
    }
    size_ = size;
}

RamArena::RamArena(std::size_t budget) : budget_(budget & ~(kGranularity - 1)) {
    if (budget_ != 0) add_free(0, budget_);
}

RamArena::~RamArena() {
    CAIRN_CHECK(used_ == 0 && blocks_ == 0, "{} blocks of {} bytes outlive their arena", blocks_, used_);
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
    const auto found = bytes <= budget_ ? free_by_size_.lower_bound(Range{granules(bytes), 0}) : free_by_size_.end();
    if (found == free_by_size_.end()) {
        return fail(ErrorCode::capacity,
                    "No free range of the RAM tier holds {} bytes: {} of {} are used, {} in one piece are free.", bytes,
                    used_, budget_, largest_free());
    }
    const auto [size, offset] = *found;
    const std::size_t taken = granules(bytes);
    if (auto committed = commit_to(offset + taken); !committed) return fail(committed.error());
    remove_free(free_by_offset_.find(offset));
    if (taken < size) add_free(offset + taken, size - taken);
    used_ += taken;
    ++blocks_;
    permit(base_ + offset, bytes);
    return RamBlock(*this, base_ + offset, bytes);
}

void RamArena::release(std::byte *data, std::size_t bytes) {
    auto offset = static_cast<std::size_t>(data - base_);
    std::size_t size = granules(bytes);
    CAIRN_CHECK(blocks_ > 0 && used_ >= size, "freeing {} bytes of {} in {} blocks", size, used_, blocks_);
    forbid(data, size);
    used_ -= size;
    --blocks_;
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

std::size_t RamArena::largest_free() const noexcept {
    return free_by_size_.empty() ? 0 : free_by_size_.rbegin()->first;
}

void RamArena::check_invariants() const {
    CAIRN_CHECK(used_ <= budget_, "used {} of {} bytes", used_, budget_);
    CAIRN_CHECK(free_by_offset_.size() == free_by_size_.size());
    std::size_t free = 0;
    std::size_t end = 0;
    bool first = true;
    for (const auto &[offset, size] : free_by_offset_) {
        CAIRN_CHECK(size != 0 && (first || offset > end), "free ranges touch or overlap at {}", offset);
        CAIRN_CHECK(free_by_size_.count(Range{size, offset}) == 1);
        free += size;
        end = offset + size;
        first = false;
    }
    CAIRN_CHECK(end <= budget_ && free + used_ == budget_, "{} free and {} used of {}", free, used_, budget_);
}

}  // namespace cairn
