#include "store/chunk_hash.h"

#include <gtest/gtest.h>
#include <xxhash.h>

#include <algorithm>
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

TEST(ChunkHash, IsTheSamePieceByPiece) {
    std::mt19937 random(6);
    std::vector<std::byte> bytes(300'000);
    for (std::byte &byte : bytes)
        byte = static_cast<std::byte>(random());
    for (const std::size_t longest : {1, 300, 70'000}) {
        for (const std::size_t size : {std::size_t{0}, std::size_t{1}, std::size_t{1000}, bytes.size()}) {
            const Bytes whole = Bytes(bytes).first(size);
            const std::uint64_t seed = longest == 1 ? 0 : random();
            ChunkHash hash(seed);
            for (std::size_t at = 0; at < size;) {
                const std::size_t piece = std::min<std::size_t>(1 + random() % longest, size - at);
                hash.add(whole.subspan(at, piece));
                at += piece;
            }
            EXPECT_EQ(hash.value(), chunk_hash(whole, seed)) << size << " bytes in pieces of up to " << longest;
        }
    }
}

}  // namespace
}  // namespace cairn
