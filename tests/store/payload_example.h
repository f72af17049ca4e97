// The example of docs/formats: one snapshot of six tokens, whose files and archive are in tests/golden.
//
//     position    0    2    4    6
//     payload 3   |=========|            rows [0, 4)
//     payload 7        |---------|       rows [2, 6), parent 3
//     payload 8                  ^       boundary of 6
#pragma once

#include <array>
#include <cstddef>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "store/payload_file.h"
#include "store/snapshot_archive.h"

namespace cairn::test {

struct ExamplePayload {
    PayloadKind kind;
    std::uint64_t id;
    std::uint64_t parent;
    TokenSpan span;
    std::string_view text;  ///< the payload
    const char *file;       ///< in tests/golden
};

inline constexpr std::array<ExamplePayload, 3> kExamplePayloads{{
    {PayloadKind::rows, 3, 0, {0, 4}, "These are the rows before.", "payload_root_v1.state"},
    {PayloadKind::rows, 7, 3, {2, 6}, "The rows of four tokens, ten bytes each.", "payload_rows_v1.state"},
    {PayloadKind::boundary, 8, 0, {6, 6}, "The state behind six tokens.", "payload_boundary_v1.state"},
}};
inline constexpr const char *kExampleArchive = "snapshot_v1.cairn";

[[nodiscard]] inline NamespaceKey example_namespace() {
    NamespaceKey ns{.model = {}, .tenant = "tenant-a"};
    for (std::size_t i = 0; i < ns.model.bytes.size(); ++i)
        ns.model.bytes[i] = static_cast<std::uint8_t>(0xa0 + i);
    return ns;
}

[[nodiscard]] inline Tokens example_tokens() {
    return {1001, 1002, 1003, 1004, 1005, 1006};
}

[[nodiscard]] inline PayloadHeader example_header(const ExamplePayload &payload) {
    PayloadHeader header =
        describe_payload(payload.kind, payload.id, example_namespace(), example_tokens(), payload.span);
    header.bytes = payload.text.size();
    return header;
}

[[nodiscard]] inline Bytes bytes_of(std::string_view text) {
    return std::as_bytes(std::span<const char>(text.data(), text.size()));
}

[[nodiscard]] inline ArchiveHeader example_archive() {
    ArchiveHeader archive{.ns = example_namespace(),
                          .model = "example-1b",
                          .tokens = example_tokens(),
                          .kind = CheckpointKind::last_user_end,
                          .text = "Once upon a",
                          .payloads = {},
                          .rows = 7,
                          .boundary = 8};
    for (const ExamplePayload &payload : kExamplePayloads) {
        const std::size_t tokens = example_header(payload).tokens.size();
        archive.payloads.push_back({.id = payload.id,
                                    .kind = payload.kind,
                                    .parent = payload.parent,
                                    .span = payload.span,
                                    .bytes = payload.text.size(),
                                    .file_bytes = payload_file_bytes(payload.text.size(), tokens)});
    }
    return archive;
}

/// The bytes of tests/golden/`name`; empty where there is no such file.
[[nodiscard]] inline std::string golden_file(const std::string &name) {
    std::ifstream file(std::string(CAIRN_MODELS_DIR) + "/../tests/golden/" + name, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

}  // namespace cairn::test
