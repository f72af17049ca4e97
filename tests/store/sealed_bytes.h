// Headers that were changed and sealed again, as somebody who knows the format could write them.
#pragma once

#include <gtest/gtest.h>
#include <xxhash.h>

#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "store/sealed_header.h"

namespace cairn::test {

/// Puts the right checksum into the header that `file` begins with, of `header_bytes` bytes. As the format's page says,
/// and not with the code that is tested.
inline void seal_again(std::string &file, std::size_t header_bytes = 4096) {
    const std::string sealed = file.substr(0, 16) + file.substr(32, header_bytes - 32);
    XXH128_canonical_t checksum;
    XXH128_canonicalFromHash(&checksum, XXH3_128bits(sealed.data(), sealed.size()));
    file.replace(16, 16, reinterpret_cast<const char *>(checksum.digest), sizeof checksum.digest);
}

/// Little endian.
template <class Integer>
void put(std::string &file, std::size_t offset, Integer value) {
    std::memcpy(file.data() + offset, &value, sizeof value);
}

}  // namespace cairn::test
