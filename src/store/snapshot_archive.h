// SnapshotArchive: one snapshot with all that it needs, as one file for another machine (export, import).
// Format: docs/formats/archive.md.
//
//     write_archive(files, "handbook.cairn", {.ns = ..., .tokens = ..., .payloads = ..., .rows = 4, .boundary = 5},
//     paths);
//
//     auto archive = read_archive_header(files, "handbook.cairn");             // facts; payloads are not read yet
//     for (std::size_t i = 0; i < archive->payloads.size(); ++i)
//         extract_payload(files, "handbook.cairn", *archive, i, new_id, target);   // checked, under an id of this
//         cache
//
// The payloads are the snapshot's chain of rows from the root on, then its boundary:
//
//     position   0         500  600      800
//     payload 3  |==============|                 rows [0, 600): may reach further than the next one needs
//     payload 4            |-----------|          rows [500, 800), parent 3
//     payload 5                        ^          boundary of 800
//
// So an archive may hold rows, and their tokens, that lie beside the snapshot's prefix: another continuation that the
// same tenant computed (here [500, 600) of payload 3), and those behind its end.
//
// Trust: an archive may come from anywhere, and damage of any kind is found before anything is used. Checksums do not
// find a forgery: whoever can write an archive decides what its states are, as with a model file. Names and texts are a
// stranger's, bytes as they stand; tokens are not negative, and may lie outside the model's vocabulary.
//
// Threads: any, no two on one target. Errors: those of FileSystem; corrupt; unsupported: of a newer cairn;
// invalid_argument: what should be written contradicts itself.
// Cost: memory for the header and one chunk of a payload (1 MiB). Writing and extracting read each payload once.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "cairn/error.h"
#include "cairn/request.h"
#include "cairn/types.h"
#include "env/file_system.h"
#include "state/namespace_key.h"
#include "store/catalogue.h"
#include "store/sealed_header.h"
#include "store/write_aside.h"

namespace cairn {

inline constexpr SealedFormat kArchiveFormat{"CAIRNARC", 1, "a snapshot archive"};

struct ArchiveHeader {
    NamespaceKey ns;
    std::string model;  ///< its name, for people
    Tokens tokens;      ///< the snapshot's prefix; its position is their number, at least 1
    CheckpointKind kind = CheckpointKind::prompt_end;
    std::string text;                     ///< the beginning of what the tokens say, for people
    std::vector<StoredPayload> payloads;  ///< rows from the root on, each the next one's parent; then the boundary
    std::uint64_t rows = 0;               ///< id of the last rows; 0: there are none
    std::uint64_t boundary = 0;           ///< id of the boundary; 0: there is none

    [[nodiscard]] TokenPos position() const noexcept { return static_cast<TokenPos>(tokens.size()); }
    friend bool operator==(const ArchiveHeader &, const ArchiveHeader &) = default;
};

/// Bytes of the whole archive. The largest number where there can be no such archive.
[[nodiscard]] std::uint64_t archive_bytes(const ArchiveHeader &header) noexcept;

/// Checks each payload on the way: a damaged one, or one that is not what the header says, ends it with corrupt.
/// `payload_paths`: one for each of header.payloads. As write_for_user (store/write_aside.h): complete or not there,
/// and nothing but a file is replaced.
[[nodiscard]] Status write_archive(FileSystem &files, const std::string &path, const ArchiveHeader &header,
                                   std::span<const std::string> payload_paths, Existing existing = Existing::refuse);

/// invalid_argument where the file does not begin as an archive does: it was never one, or is damaged at its first
/// bytes.
[[nodiscard]] Status check_is_archive(FileSystem &files, const std::string &path);

/// Everything but the payloads, checked, and that the file is exactly as long as it must be.
[[nodiscard]] Result<ArchiveHeader> read_archive_header(FileSystem &files, const std::string &path);

/// Writes payload `i` of `header.payloads` as a payload file of its own with the id `new_id`. `header` is what
/// read_archive_header gave for `path`.
[[nodiscard]] Status extract_payload(FileSystem &files, const std::string &path, const ArchiveHeader &header,
                                     std::size_t i, std::uint64_t new_id, const std::string &target);

/// Checks every byte of the payloads, without keeping any.
[[nodiscard]] Status verify_archive(FileSystem &files, const std::string &path, const ArchiveHeader &header);

}  // namespace cairn
