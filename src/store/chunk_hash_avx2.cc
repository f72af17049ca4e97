// XXH3-64 compiled for AVX2; chunk_hash.cc calls it where the machine has that. Only headers of C are included, and
// after them all functions are static: code for one machine must not become the program's for all.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)

#include <immintrin.h>
#include <limits.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#pragma GCC push_options
#pragma GCC target("avx2")
#define XXH_INLINE_ALL
#define XXH_VECTOR 2  // XXH_AVX2
#include <xxhash.h>

extern "C" {
uint64_t cairn_chunk_hash_avx2(const void *bytes, size_t size, uint64_t seed) noexcept;
void cairn_chunk_hash_begin_avx2(void *state, uint64_t seed) noexcept;
void cairn_chunk_hash_add_avx2(void *state, const void *bytes, size_t size) noexcept;
uint64_t cairn_chunk_hash_end_avx2(const void *state) noexcept;
}

uint64_t cairn_chunk_hash_avx2(const void *bytes, size_t size, uint64_t seed) noexcept {
    return XXH3_64bits_withSeed(bytes, size, seed);
}
void cairn_chunk_hash_begin_avx2(void *state, uint64_t seed) noexcept {
    XXH3_64bits_reset_withSeed((XXH3_state_t *)state, seed);
}
void cairn_chunk_hash_add_avx2(void *state, const void *bytes, size_t size) noexcept {
    XXH3_64bits_update((XXH3_state_t *)state, bytes, size);
}
uint64_t cairn_chunk_hash_end_avx2(const void *state) noexcept {
    return XXH3_64bits_digest((const XXH3_state_t *)state);
}
#pragma GCC pop_options

#endif
