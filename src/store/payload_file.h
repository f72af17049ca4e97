// PayloadFile: one piece of state (the rows of a span, or a boundary) as a file that says what it is and proves it.
// Format: docs/formats/payload.md.
//
//     write_payload_file(files, path, {.kind = PayloadKind::rows, .id = 7, ..., .tokens = ...}, bytes);
//
//     auto payload = open_payload_file(files, path);
//     if (auto ours = check_origin(payload->header, expected, prompt, 512); !ours) ...     // corrupt
//     payload->read_chunk(0, bytes);                            // checked; all of them: store/payload_reader.h
//
// A file is written aside (path + ".tmp"), flushed, renamed, and its folder flushed: under its own name it is complete.
// A file that is damaged anywhere, or that is another payload's, is refused with ErrorCode::corrupt: its header carries
// its id, the model's fingerprint, the tenant, the span, the tokens of the span and a hash of those before, all under a
// checksum, and each MiB of the payload has one. The checksums find accidents; who means harm can compute them.
//
// Ownership: an OpenPayload holds its file open. Threads: any, each object one at a time.
// Errors: those of FileSystem; corrupt; unsupported where the file's version is newer than this program's;
// invalid_argument where a payload is too large for any header (8 TiB, or 16 million tokens). After an error of
// writing nothing is left under the name nor beside it, as far as the file system still lets files be removed. Cost:
// writing reads the bytes once for the checksums. Reading hashes each piece while it is in the CPU's cache.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "cairn/error.h"
#include "env/file_system.h"
#include "store/payload_header.h"

namespace cairn {

[[nodiscard]] Status write_payload_file(FileSystem &files, const std::string &path, PayloadHeader header, Bytes bytes);

class OpenPayload {
public:
    PayloadHeader header;

    /// Checks every byte without keeping them. Memory: one chunk.
    [[nodiscard]] Status verify();

    [[nodiscard]] std::size_t chunks() const noexcept { return chunk_checksums_.size(); }
    [[nodiscard]] std::size_t chunk_bytes(std::size_t chunk) const noexcept;
    /// One chunk, checked. `to` is of exactly chunk_bytes(chunk) bytes. From any threads at a time.
    [[nodiscard]] Status read_chunk(std::size_t chunk, MutableBytes to) const;

private:
    friend Result<OpenPayload> open_payload(std::unique_ptr<File> file, const std::string &path);
    std::unique_ptr<File> file_;
    std::string path_;
    std::uint64_t data_offset_ = 0;
    std::vector<std::uint64_t> chunk_checksums_;
};

/// Reads and checks the header, and that the file is exactly as long as it says.
[[nodiscard]] Result<OpenPayload> open_payload_file(FileSystem &files, const std::string &path);
/// The same of a file that is open, or of a part of one that behaves like a file. `path`: for messages.
[[nodiscard]] Result<OpenPayload> open_payload(std::unique_ptr<File> file, const std::string &path);

/// Writes a file like write_payload_file: what `from` holds, under another id. Each chunk is checked on the way.
/// Memory: one chunk.
[[nodiscard]] Status copy_payload_file(FileSystem &files, const std::string &path, const OpenPayload &from,
                                       std::uint64_t id);
/// The same into `to`, which is open, at `offset`: payload_file_bytes() bytes. With the id of `from` these are the very
/// bytes of its file.
[[nodiscard]] Status copy_payload(File &to, std::uint64_t offset, const OpenPayload &from, std::uint64_t id);

}  // namespace cairn
