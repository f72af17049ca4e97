// PrefixHash: XXH3-128 of a token prefix, to bind stored state to the very tokens it was computed from.
//
// It finds accidents, not adversaries. Whoever restores by it compares the tokens themselves as well where it has them.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <string>

#include "cairn/types.h"

namespace cairn {

using Digest128 = std::array<std::uint8_t, 16>;

/// Of the tokens as little-endian 32-bit integers. Cost: linear.
[[nodiscard]] Digest128 hash_of_prefix(TokenView tokens);
/// Of a tenant's name.
[[nodiscard]] Digest128 hash_of_text(const std::string &text);

}  // namespace cairn
