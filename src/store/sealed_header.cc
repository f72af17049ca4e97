#include "store/sealed_header.h"

#include <xxhash.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <new>
#include <utility>

#include "base/check.h"

namespace cairn {

namespace {

constexpr std::size_t kMagicAt = 0, kVersionAt = 8, kHeaderBytesAt = 12, kChecksumAt = 16;

using Checksum = std::array<std::uint8_t, 16>;
static_assert(kChecksumAt + sizeof(Checksum) == kSealBytes);

template <class Integer>
void store(Integer value, std::byte *to) noexcept {
    for (std::size_t i = 0; i < sizeof value; ++i)
        to[i] = static_cast<std::byte>(value >> (8 * i));
}

template <class Integer>
Integer load(const std::byte *from) noexcept {
    Integer value = 0;
    for (std::size_t i = 0; i < sizeof value; ++i)
        value |= static_cast<Integer>(static_cast<Integer>(from[i]) << (8 * i));
    return value;
}

Checksum checksum_of(Bytes head) {
    const std::unique_ptr<XXH3_state_t, decltype(&XXH3_freeState)> state(XXH3_createState(), &XXH3_freeState);
    CAIRN_CHECK(state != nullptr, "no memory for a hash");
    XXH3_128bits_reset(state.get());
    XXH3_128bits_update(state.get(), head.data(), kChecksumAt);
    XXH3_128bits_update(state.get(), head.data() + kSealBytes, head.size() - kSealBytes);
    XXH128_canonical_t canonical;
    XXH128_canonicalFromHash(&canonical, XXH3_128bits_digest(state.get()));
    Checksum result;
    static_assert(sizeof canonical.digest == sizeof result);
    std::memcpy(result.data(), canonical.digest, sizeof result);
    return result;
}

/// Everything that can be said before the rest of the header is read.
Status check_seal(Bytes seal, std::uint64_t file_bytes, const std::string &path, const SealedFormat &format) {
    if (std::memcmp(seal.data() + kMagicAt, format.magic.data(), format.magic.size()) != 0) {
        return fail(ErrorCode::corrupt, "{} is not {} of cairn: it does not begin like one.", path, format.noun);
    }
    const auto bytes = load<std::uint32_t>(seal.data() + kHeaderBytesAt);
    if (bytes == 0 || bytes % kHeaderPage != 0 || bytes > kMaxHeaderBytes || bytes > file_bytes) {
        return fail(ErrorCode::corrupt, "{} is damaged: its header cannot be {} bytes long.", path, bytes);
    }
    return {};
}

Status check_sealed(Bytes head, const std::string &path, const SealedFormat &format) {
    const Checksum checksum = checksum_of(head);
    if (std::memcmp(head.data() + kChecksumAt, checksum.data(), checksum.size()) != 0) {
        return fail(ErrorCode::corrupt, "{} is damaged: the checksum of its header is wrong.", path);
    }
    const auto version = load<std::uint32_t>(head.data() + kVersionAt);
    if (version > format.version) {
        return fail(ErrorCode::unsupported,
                    "{} is {} of version {}, written by a newer cairn; this one reads up to version {}. Use the newer "
                    "program for it.",
                    path, format.noun, version, format.version);
    }
    if (version == 0) {
        return fail(ErrorCode::corrupt, "{} is damaged: there is no version 0 of {}.", path, format.noun);
    }
    return {};
}

}  // namespace

SealedHeaderWriter::SealedHeaderWriter(const SealedFormat &format, std::size_t bytes) : bytes_(bytes) {
    CAIRN_CHECK(bytes > 0 && bytes % kHeaderPage == 0 && bytes <= kMaxHeaderBytes, "a header of {} bytes", bytes);
    CAIRN_CHECK(format.magic.size() == kVersionAt);
    std::memcpy(bytes_.data() + kMagicAt, format.magic.data(), format.magic.size());
    store(format.version, bytes_.data() + kVersionAt);
    store(static_cast<std::uint32_t>(bytes), bytes_.data() + kHeaderBytesAt);
}

void SealedHeaderWriter::raw(const void *data, std::size_t size) {
    CAIRN_CHECK(size <= bytes_.size() - at_, "{} bytes at {} of a header of {}", size, at_, bytes_.size());
    if (size > 0) std::memcpy(bytes_.data() + at_, data, size);
    at_ += size;
}

template <class Integer>
void SealedHeaderWriter::integer(Integer value) {
    std::array<std::byte, sizeof value> bytes;
    store(value, bytes.data());
    raw(bytes.data(), bytes.size());
}
template void SealedHeaderWriter::integer(std::uint32_t);
template void SealedHeaderWriter::integer(std::uint64_t);

std::vector<std::byte> SealedHeaderWriter::seal() {
    const Checksum checksum = checksum_of(bytes_);
    std::memcpy(bytes_.data() + kChecksumAt, checksum.data(), checksum.size());
    return std::exchange(bytes_, {});
}

void SealedHeaderReader::raw(void *to, std::size_t size) noexcept {
    if (overrun_ || size > head_.size() - at_) {
        overrun_ = true;
        std::fill_n(static_cast<std::byte *>(to), size, std::byte{0});
        return;
    }
    if (size > 0) std::memcpy(to, head_.data() + at_, size);
    at_ += size;
}

template <class Integer>
Integer SealedHeaderReader::integer() noexcept {
    std::array<std::byte, sizeof(Integer)> bytes;
    raw(bytes.data(), bytes.size());
    return load<Integer>(bytes.data());
}
template std::uint32_t SealedHeaderReader::integer() noexcept;
template std::uint64_t SealedHeaderReader::integer() noexcept;

bool SealedHeaderReader::ends_well() const noexcept {
    const Bytes rest = head_.subspan(at_);
    return !overrun_ && rest.size() < kHeaderPage &&
           std::all_of(rest.begin(), rest.end(), [](std::byte byte) { return byte == std::byte{0}; });
}

Result<std::vector<std::byte>> read_sealed_header(File &file, const std::string &path, const SealedFormat &format) {
    const auto file_bytes = file.size();
    if (!file_bytes) return fail(file_bytes.error());
    if (*file_bytes < kHeaderPage) {
        return fail(ErrorCode::corrupt, "{} is not {} of cairn: its {} bytes are too few.", path, format.noun,
                    *file_bytes);
    }
    std::array<std::byte, kSealBytes> seal;
    if (auto done = read_exactly(file, 0, seal); !done) return fail(done.error());
    if (auto done = check_seal(seal, *file_bytes, path, format); !done) return fail(done.error());

    std::vector<std::byte> head;
    try {
        head.resize(load<std::uint32_t>(seal.data() + kHeaderBytesAt));
    } catch (const std::bad_alloc &) {
        return fail(ErrorCode::no_memory, "There is no memory for the header of {}.", path);
    }
    std::copy(seal.begin(), seal.end(), head.begin());
    if (auto done = read_exactly(file, kSealBytes, MutableBytes(head).subspan(kSealBytes)); !done) {
        return fail(done.error());
    }
    if (auto done = check_sealed(head, path, format); !done) return fail(done.error());
    return head;
}

}  // namespace cairn
