// SIZE: amounts of memory as people type them.
//
//     parse_size("512")  = 512 MiB      parse_size("4G") = 4 GiB
//     parse_size("64k")  = 64 KiB       parse_size("0")  = 0, which turns the thing off
//
// K, M and G are powers of 1024, in either case. Whole numbers only: 1.5G is written 1536M.
// Errors: invalid_argument for anything else, and for what does not fit std::size_t.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "cairn/error.h"

namespace cairn {

[[nodiscard]] Result<std::size_t> parse_size(std::string_view text);
/// The shortest text of exactly `bytes`, with the unit: "4 GiB", "1536 MiB", "1025 bytes", "0".
[[nodiscard]] std::string size_text(std::size_t bytes);

}  // namespace cairn
