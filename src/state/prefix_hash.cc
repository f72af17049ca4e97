#include "state/prefix_hash.h"

#include <xxhash.h>

#include <bit>
#include <cstring>

namespace cairn {

namespace {

Digest128 digest_of(const void *data, std::size_t size) {
    XXH128_canonical_t canonical;
    XXH128_canonicalFromHash(&canonical, XXH3_128bits(data, size));
    Digest128 result;
    static_assert(sizeof canonical.digest == sizeof result);
    std::memcpy(result.data(), canonical.digest, sizeof canonical.digest);
    return result;
}

}  // namespace

Digest128 hash_of_prefix(TokenView tokens) {
    static_assert(std::endian::native == std::endian::little, "tokens are hashed as they lie in memory");
    return digest_of(tokens.data(), tokens.size_bytes());
}

Digest128 hash_of_text(const std::string &text) {
    return digest_of(text.data(), text.size());
}

}  // namespace cairn
