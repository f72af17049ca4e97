#include "store/chunk_hash.h"

#include <xxhash.h>

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define CAIRN_HAS_WIDE_HASH 1
extern "C" std::uint64_t cairn_chunk_hash_avx2(const void *bytes, std::size_t size, std::uint64_t seed) noexcept;
#endif

namespace cairn {

std::uint64_t chunk_hash(Bytes bytes, std::uint64_t seed) noexcept {
#ifdef CAIRN_HAS_WIDE_HASH
    static const bool wide = __builtin_cpu_supports("avx2") != 0;
    if (wide) return cairn_chunk_hash_avx2(bytes.data(), bytes.size(), seed);
#endif
    return XXH3_64bits_withSeed(bytes.data(), bytes.size(), seed);
}

}  // namespace cairn
