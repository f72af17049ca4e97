#include "tests/index/allocation_counter.h"

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <new>

namespace {

std::atomic<std::uint64_t> count{0};

void *counted(std::size_t size, std::size_t alignment) noexcept {
    count.fetch_add(1, std::memory_order_relaxed);
    return std::aligned_alloc(alignment, (size + alignment) / alignment * alignment);
}

void *counted_or_throw(std::size_t size, std::size_t alignment) {
    if (void *memory = counted(size, alignment)) return memory;
    throw std::bad_alloc();
}

}  // namespace

namespace cairn::index_test {

std::uint64_t allocations_so_far() noexcept {
    return count.load(std::memory_order_relaxed);
}

}  // namespace cairn::index_test

void *operator new(std::size_t size) {
    return counted_or_throw(size, alignof(std::max_align_t));
}
void *operator new[](std::size_t size) {
    return counted_or_throw(size, alignof(std::max_align_t));
}
void *operator new(std::size_t size, const std::nothrow_t &) noexcept {
    return counted(size, alignof(std::max_align_t));
}
void *operator new[](std::size_t size, const std::nothrow_t &) noexcept {
    return counted(size, alignof(std::max_align_t));
}
void *operator new(std::size_t size, std::align_val_t alignment) {
    return counted_or_throw(size, static_cast<std::size_t>(alignment));
}
void *operator new(std::size_t size, std::align_val_t alignment, const std::nothrow_t &) noexcept {
    return counted(size, static_cast<std::size_t>(alignment));
}
void operator delete(void *memory) noexcept {
    std::free(memory);
}
void operator delete[](void *memory) noexcept {
    std::free(memory);
}
void operator delete(void *memory, std::size_t) noexcept {
    std::free(memory);
}
void operator delete[](void *memory, std::size_t) noexcept {
    std::free(memory);
}
void operator delete(void *memory, const std::nothrow_t &) noexcept {
    std::free(memory);
}
void operator delete[](void *memory, const std::nothrow_t &) noexcept {
    std::free(memory);
}
void operator delete(void *memory, std::align_val_t) noexcept {
    std::free(memory);
}
void operator delete(void *memory, std::size_t, std::align_val_t) noexcept {
    std::free(memory);
}
void operator delete(void *memory, std::align_val_t, const std::nothrow_t &) noexcept {
    std::free(memory);
}
