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

extern "C" uint64_t cairn_chunk_hash_avx2(const void *bytes, size_t size, uint64_t seed) noexcept;

uint64_t cairn_chunk_hash_avx2(const void *bytes, size_t size, uint64_t seed) noexcept {
    return XXH3_64bits_withSeed(bytes, size, seed);
}
#pragma GCC pop_options

#endif
