#include "store/chunk_hash.h"

#define XXH_STATIC_LINKING_ONLY  // for the size of its state
#include <xxhash.h>

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define CAIRN_HAS_WIDE_HASH 1
extern "C" {
std::uint64_t cairn_chunk_hash_avx2(const void *bytes, std::size_t size, std::uint64_t seed) noexcept;
void cairn_chunk_hash_begin_avx2(void *state, std::uint64_t seed) noexcept;
void cairn_chunk_hash_add_avx2(void *state, const void *bytes, std::size_t size) noexcept;
std::uint64_t cairn_chunk_hash_end_avx2(const void *state) noexcept;
}
#endif

namespace cairn {
namespace {

bool is_wide() noexcept {
#ifdef CAIRN_HAS_WIDE_HASH
    static const bool wide = __builtin_cpu_supports("avx2") != 0;
    return wide;
#else
    return false;
#endif
}

}  // namespace

std::uint64_t chunk_hash(Bytes bytes, std::uint64_t seed) noexcept {
#ifdef CAIRN_HAS_WIDE_HASH
    if (is_wide()) return cairn_chunk_hash_avx2(bytes.data(), bytes.size(), seed);
#endif
    return XXH3_64bits_withSeed(bytes.data(), bytes.size(), seed);
}

ChunkHash::ChunkHash(std::uint64_t seed) noexcept {
    static_assert(sizeof(XXH3_state_t) <= kStateBytes && alignof(XXH3_state_t) <= 64);
#ifdef CAIRN_HAS_WIDE_HASH
    if (is_wide()) {
        cairn_chunk_hash_begin_avx2(state_, seed);
        return;
    }
#endif
    XXH3_64bits_reset_withSeed(reinterpret_cast<XXH3_state_t *>(state_), seed);
}

void ChunkHash::add(Bytes bytes) noexcept {
#ifdef CAIRN_HAS_WIDE_HASH
    if (is_wide()) return cairn_chunk_hash_add_avx2(state_, bytes.data(), bytes.size());
#endif
    XXH3_64bits_update(reinterpret_cast<XXH3_state_t *>(state_), bytes.data(), bytes.size());
}

std::uint64_t ChunkHash::value() const noexcept {
#ifdef CAIRN_HAS_WIDE_HASH
    if (is_wide()) return cairn_chunk_hash_end_avx2(state_);
#endif
    return XXH3_64bits_digest(reinterpret_cast<const XXH3_state_t *>(state_));
}

}  // namespace cairn
