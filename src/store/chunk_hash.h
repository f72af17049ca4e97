// chunk_hash: XXH3-64 of a chunk of a payload, by the widest instructions that this machine has.
//
// Debian's libxxhash is built for every x86-64; reading a state back from the page cache spends a third of its time in
// it. Threads: any.
#pragma once

#include <cstdint>

#include "base/bytes.h"

namespace cairn {

/// XXH3_64bits_withSeed.
[[nodiscard]] std::uint64_t chunk_hash(Bytes bytes, std::uint64_t seed) noexcept;

}  // namespace cairn
