// What `cairn cache ls` and `stat` say of a listing. Pure: the text as a value.
//
//     std::string text = snapshot_table(listing, 100);
//
//     qwen35  9f04c1...  tenant "acme": 3 snapshots
//     ID        TOKENS      STATE  TIERS     KIND        USED  HITS  TEXT
//     12          1505    8.1 MiB  ram disk  system_end   3 h     2  You answer questions about the handbook.\n\n...
//       15        1611    8.5 MiB  disk      prompt_end   2 h     0  ...
//
// Texts and names are shown with their control characters and broken UTF-8 escaped: they may be a stranger's.
// Threads: any.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "store/snapshot_listing.h"

namespace cairn {

/// A tree by prefix for each model and tenant: what builds on a snapshot stands below it, indented. Parents before
/// children, those of one parent by position, then id. `width`: most columns of a line; 0: no limit.
[[nodiscard]] std::string snapshot_table(const SnapshotListing &listing, std::size_t width);
/// Totals by model, tenant and tier.
[[nodiscard]] std::string statistics_text(const SnapshotListing &listing);
[[nodiscard]] std::string statistics_json(const SnapshotListing &listing);

/// One line of printable characters. `columns`: most of them, the last ones "..." where something was cut; 0: no limit.
[[nodiscard]] std::string escaped(std::string_view text, std::size_t columns = 0);
/// "812 B", "4.2 KiB", "12.0 MiB".
[[nodiscard]] std::string human_bytes(std::uint64_t bytes);
/// "5 s", "12 m", "3 h", "40 d".
[[nodiscard]] std::string human_age(std::int64_t seconds);

}  // namespace cairn
