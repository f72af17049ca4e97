// Byte counts with checked arithmetic, and views of raw memory. Unit: bytes everywhere.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace cairn {

using Bytes = std::span<const std::byte>;
using MutableBytes = std::span<std::byte>;

/// a + b, or nothing where it does not fit std::size_t.
[[nodiscard]] constexpr std::optional<std::size_t> checked_add(std::size_t a, std::size_t b) noexcept {
    std::size_t sum = 0;
    if (__builtin_add_overflow(a, b, &sum)) return std::nullopt;
    return sum;
}

/// a * b, or nothing where it does not fit std::size_t.
[[nodiscard]] constexpr std::optional<std::size_t> checked_mul(std::size_t a, std::size_t b) noexcept {
    std::size_t product = 0;
    if (__builtin_mul_overflow(a, b, &product)) return std::nullopt;
    return product;
}

/// `value` rounded up to a multiple of `alignment` (a power of two), or nothing where it does not fit.
[[nodiscard]] constexpr std::optional<std::size_t> checked_align_up(std::size_t value, std::size_t alignment) noexcept {
    const auto sum = checked_add(value, alignment - 1);
    if (!sum) return std::nullopt;
    return *sum & ~(alignment - 1);
}

inline constexpr std::size_t operator""_KiB(unsigned long long n) {
    return static_cast<std::size_t>(n) << 10;
}
inline constexpr std::size_t operator""_MiB(unsigned long long n) {
    return static_cast<std::size_t>(n) << 20;
}
inline constexpr std::size_t operator""_GiB(unsigned long long n) {
    return static_cast<std::size_t>(n) << 30;
}

}  // namespace cairn
