// SealedHeader: the head of every file that cairn writes itself: what the file is, its version, and a checksum.
//
//     offset  0   magic         8 bytes
//             8   version       u32, little endian as everything
//            12   header_bytes  u32: of the whole header, a multiple of 4,096
//            16   checksum      16 bytes: XXH3-128, canonical (big-endian), of the header without these 16 bytes
//            32   fields        of the format, then zeros up to header_bytes
//
// The first 32 bytes and the meaning of the checksum stay as they are in all versions to come, so that a program can
// tell a file of a newer version from a damaged one.
//
//     SealedHeaderWriter out(kPayloadFormat, header_bytes);
//     out.u64(id);
//     std::vector<std::byte> head = out.seal();
//
//     auto head = read_sealed_header(*file, path, kPayloadFormat);     // undamaged, of this version
//     SealedHeaderReader in(*head);
//     const std::uint64_t id = in.u64();
//     if (!in.ends_well()) ...                                         // too short, or more than zeros behind
//
// Threads: plain values. Errors: those of File; corrupt; unsupported: a newer version; no_memory.
// Safety: any bytes may be read. No more memory is taken than kMaxHeaderBytes, nor than the file is long.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "cairn/error.h"
#include "env/file_system.h"

namespace cairn {

inline constexpr std::uint32_t kHeaderPage = 4096;  ///< what follows a header lies on a page of its own
inline constexpr std::uint32_t kMaxHeaderBytes = 64_MiB;
inline constexpr std::uint32_t kSealBytes = 32;  ///< magic, version, header_bytes, checksum

struct SealedFormat {
    std::string_view magic;  ///< 8 bytes
    std::uint32_t version;   ///< written, and the newest that can be read
    const char *noun;        ///< for messages, with its article
};

class SealedHeaderWriter {
public:
    /// `bytes`: of the whole header; a multiple of kHeaderPage, at most kMaxHeaderBytes.
    SealedHeaderWriter(const SealedFormat &format, std::size_t bytes);
    void u32(std::uint32_t value) { integer(value); }
    void i32(std::int32_t value) { integer(static_cast<std::uint32_t>(value)); }
    void u64(std::uint64_t value) { integer(value); }
    void raw(const void *data, std::size_t size);
    /// The finished header; the writer is empty afterwards.
    [[nodiscard]] std::vector<std::byte> seal();

private:
    template <class Integer>
    void integer(Integer value);

    std::vector<std::byte> bytes_;
    std::size_t at_ = kSealBytes;
};

/// Takes fields out of a header. Behind its end everything reads as zeros, and ends_well() is false.
class SealedHeaderReader {
public:
    explicit SealedHeaderReader(Bytes head) noexcept : head_(head) {}
    [[nodiscard]] std::uint32_t u32() noexcept { return integer<std::uint32_t>(); }
    [[nodiscard]] std::int32_t i32() noexcept { return static_cast<std::int32_t>(integer<std::uint32_t>()); }
    [[nodiscard]] std::uint64_t u64() noexcept { return integer<std::uint64_t>(); }
    void raw(void *to, std::size_t size) noexcept;
    /// Nothing was read that is not there, and only zeros, less than a page of them, are left.
    [[nodiscard]] bool ends_well() const noexcept;

private:
    template <class Integer>
    [[nodiscard]] Integer integer() noexcept;

    Bytes head_;
    std::size_t at_ = kSealBytes;
    bool overrun_ = false;
};

/// Reads a header and checks it, in this order: the file holds a header at all, magic, length, checksum, version.
[[nodiscard]] Result<std::vector<std::byte>> read_sealed_header(File &file, const std::string &path,
                                                                const SealedFormat &format);

}  // namespace cairn
