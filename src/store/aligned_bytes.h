// AlignedBytes: memory that files are read into.
//
//     AlignedBytes memory = make_aligned_bytes(size);      // throws std::bad_alloc, as new does
//
// Why aligned: the kernel copies with `rep movsb`, which on some processors (AMD Zen 3) takes three times as long where
// the target lies 16 bytes behind the begin of a page, and that is where malloc puts what is large.
#pragma once

#include <cstddef>
#include <memory>
#include <new>

namespace cairn {

struct AlignedDelete {
    static constexpr std::align_val_t kAlignment{64};
    void operator()(std::byte *bytes) const noexcept { ::operator delete[](bytes, kAlignment); }
};

using AlignedBytes = std::unique_ptr<std::byte[], AlignedDelete>;

/// `size` bytes, not initialised.
[[nodiscard]] inline AlignedBytes make_aligned_bytes(std::size_t size) {
    return AlignedBytes(static_cast<std::byte *>(::operator new[](size, AlignedDelete::kAlignment)));
}

}  // namespace cairn
