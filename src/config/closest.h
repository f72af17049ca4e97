// The known name that an unknown one was probably meant to be.
//
//     closest_key("server.prot", keys)             ->  server.port
//     closest_key("engine.snapshot_ram_bytes", k)  ->  engine.dynamic_batching.snapshot_ram_bytes
//
// Cost: one edit distance per key; for error texts.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace cairn {

/// Insertions, deletions and replacements of one character that turn `a` into `b`.
[[nodiscard]] std::size_t edit_distance(std::string_view a, std::string_view b);

/// The entry of `keys` closest to `key`, by the whole path or by its last part at another place; the first of equals.
/// Empty only where `keys` is.
[[nodiscard]] std::string closest_key(std::string_view key, std::span<const std::string> keys);

}  // namespace cairn
