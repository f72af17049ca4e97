// PayloadHeader: what a payload is, as a value; what it must agree with; and its bytes in a file.
// Format: docs/formats/payload.md. Files: payload_file.h.
//
// Threads: plain values. Errors: corrupt, with the reason.
// Safety: any bytes may be decoded. What is taken from them is bounded by their number.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "cairn/error.h"
#include "cairn/types.h"
#include "state/fingerprint.h"
#include "state/namespace_key.h"
#include "state/prefix_hash.h"
#include "store/sealed_header.h"

namespace cairn {

inline constexpr SealedFormat kPayloadFormat{"CAIRNPAY", 1, "a payload file"};
inline constexpr std::uint32_t kPayloadChunkBytes = 1_MiB;  ///< of the payload, under one checksum

enum class PayloadKind : std::uint8_t { rows = 1, boundary = 2 };

[[nodiscard]] const char *name_of(PayloadKind kind) noexcept;

/// What a payload is: everything that must agree before its bytes may be used.
struct PayloadHeader {
    PayloadKind kind = PayloadKind::rows;
    std::uint64_t id = 0;  ///< unique in its cache directory; also the file's name
    Fingerprint model;
    Digest128 tenant{};       ///< hash_of_text
    TokenSpan span;           ///< rows: what they cover, not empty. boundary: {position, position}
    Digest128 prefix{};       ///< hash_of_prefix of the tokens [0, span.begin)
    Tokens tokens;            ///< rows: those of the span. boundary: none
    std::uint64_t bytes = 0;  ///< of the payload, maybe 0; write_payload_file sets it

    friend bool operator==(const PayloadHeader &, const PayloadHeader &) = default;
};

/// The header of the rows over `span` of `prefix`, or of a boundary at its end (an empty span there).
[[nodiscard]] PayloadHeader describe_payload(PayloadKind kind, std::uint64_t id, const NamespaceKey &ns,
                                             TokenView prefix, TokenSpan span);

/// Bytes of the file that holds a payload of `bytes` bytes with `tokens` tokens in its header. The largest number where
/// there can be no such file.
[[nodiscard]] std::uint64_t payload_file_bytes(std::uint64_t bytes, std::size_t tokens) noexcept;

/// What is expected of a file: see check_origin.
struct PayloadOrigin {
    PayloadKind kind = PayloadKind::rows;
    std::uint64_t id = 0;
    TokenSpan span;
    const NamespaceKey *ns = nullptr;
};

/// Ok where the payload is the expected one and belongs to `prefix`: its tokens and those before it are the prefix's
/// own up to `use_end` (rows; within (span.begin, span.end]) or up to the position (boundary). corrupt otherwise.
/// Cost: hashes the tokens before the span, compares those in it.
[[nodiscard]] Status check_origin(const PayloadHeader &header, const PayloadOrigin &expected, TokenView prefix,
                                  TokenPos use_end);

/// Chunks that a payload of `bytes` bytes has; all but the last are kPayloadChunkBytes long.
[[nodiscard]] constexpr std::uint64_t payload_chunks(std::uint64_t bytes) noexcept {
    return bytes / kPayloadChunkBytes + (bytes % kPayloadChunkBytes != 0 ? 1 : 0);
}

/// Bytes of the header in a file; none where there can be no such header.
[[nodiscard]] std::optional<std::uint32_t> payload_header_bytes(std::uint64_t bytes, std::size_t tokens) noexcept;

/// Of one chunk. Other bytes, the same bytes as another chunk, and those of another payload have another one.
[[nodiscard]] std::uint64_t payload_chunk_seed(std::uint64_t id, std::uint64_t chunk) noexcept;

struct PayloadHead {
    PayloadHeader header;
    std::vector<std::uint64_t> checksums;  ///< XXH3-64 of each chunk with its payload_chunk_seed

    friend bool operator==(const PayloadHead &, const PayloadHead &) = default;
};

/// `header` must be one that can be (span and tokens agree, payload_header_bytes says how long it is).
[[nodiscard]] std::vector<std::byte> encode_payload_head(const PayloadHead &head);
/// From what read_sealed_header gave. `path`: for messages. corrupt: the fields contradict each other.
[[nodiscard]] Result<PayloadHead> decode_payload_head(Bytes bytes, const std::string &path);

/// Why no payload can have this header; empty where one can.
[[nodiscard]] std::string contradiction_in(const PayloadHeader &header);

}  // namespace cairn
