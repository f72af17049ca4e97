// ArchiveHeader as bytes, and what must hold in one. Format: docs/formats/archive.md. Files: snapshot_archive.h.
//
// Threads: plain values. Safety: any bytes may be decoded. What is taken from them is bounded by their number.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "cairn/error.h"
#include "store/snapshot_archive.h"

namespace cairn {

/// Bytes of the header in a file; none where there can be no such header.
[[nodiscard]] std::optional<std::uint32_t> archive_header_bytes(const ArchiveHeader &header) noexcept;

/// Why no archive can have this header, as half a sentence; empty where one can.
[[nodiscard]] std::string contradiction_in(const ArchiveHeader &header);

/// `header` must be free of contradictions, and archive_header_bytes says how long it is.
[[nodiscard]] std::vector<std::byte> encode_archive_header(const ArchiveHeader &header);
/// From what read_sealed_header gave. `path`: for messages.
[[nodiscard]] Result<ArchiveHeader> decode_archive_header(Bytes bytes, const std::string &path);

}  // namespace cairn
