#include "store/chunk_hash.h"

#include <gtest/gtest.h>
#include <xxhash.h>

#include <random>
#include <vector>

namespace cairn {
namespace {

/// Whatever instructions this machine has: the number is the library's, or files would not be readable elsewhere.
TEST(ChunkHash, IsTheLibrarysForEveryLengthAndAlignment) {
    std::mt19937 random(5);
    std::vector<std::byte> bytes((1 << 20) + 64);
    for (std::byte &byte : bytes)
        byte = static_cast<std::byte>(random());
    std::vector<std::size_t> lengths;
    for (std::size_t n = 0; n <= 1100; ++n)
        lengths.push_back(n);
    for (const std::size_t n : {4096, 65535, 65536, 65537, 1 << 20})
        lengths.push_back(n);
    for (const std::size_t n : lengths) {
        for (const std::size_t offset : {0, 1, 31}) {
            const Bytes part = Bytes(bytes).subspan(offset, n);
            const std::uint64_t seed = random();
            ASSERT_EQ(chunk_hash(part, seed), XXH3_64bits_withSeed(part.data(), part.size(), seed))
                << n << " bytes at " << offset;
        }
    }
}

}  // namespace
}  // namespace cairn
