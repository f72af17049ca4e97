// chunk_hash: XXH3-64 of a chunk of a payload, by the widest instructions that this machine has.
//
//     chunk_hash(chunk, seed);
//
//     ChunkHash hash(seed);                    // the same number, of a chunk that comes piece by piece
//     hash.add(first), hash.add(second);
//     hash.value();
//
// Debian's libxxhash is built for every x86-64; reading a state back from the page cache spends a third of its time in
// it. Threads: any.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/bytes.h"

namespace cairn {

/// XXH3_64bits_withSeed.
[[nodiscard]] std::uint64_t chunk_hash(Bytes bytes, std::uint64_t seed) noexcept;

class ChunkHash {
public:
    explicit ChunkHash(std::uint64_t seed) noexcept;
    void add(Bytes bytes) noexcept;
    [[nodiscard]] std::uint64_t value() const noexcept;

private:
    static constexpr std::size_t kStateBytes = 576;
    alignas(64) std::byte state_[kStateBytes]{};  // an XXH3_state_t
};

}  // namespace cairn
