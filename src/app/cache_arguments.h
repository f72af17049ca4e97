// What people type behind `cairn cache`, as values.
//
//     auto ids = parse_ids({"12", "13", "12"});         // 12, 13
//     auto none = parse_id("-1");                       // invalid_argument: "-1" is not a snapshot id ...
//
// Pure. Threads: any. Errors: invalid_argument, with what to write instead.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cairn/error.h"

namespace cairn {

[[nodiscard]] Result<std::uint64_t> parse_id(const std::string &text);
/// Each once, in the order they were given.
[[nodiscard]] Result<std::vector<std::uint64_t>> parse_ids(const std::vector<std::string> &texts);
/// --max-bytes. Unlike a budget's, a size of 0 is no switch here.
[[nodiscard]] Result<std::optional<std::uint64_t>> parse_max_bytes(const std::optional<std::string> &text);
/// --older-than, in days. The result's unit: seconds.
[[nodiscard]] Result<std::optional<std::int64_t>> parse_older_than(const std::optional<std::string> &text);
/// --model: that it is not empty.
[[nodiscard]] Status check_model_name(const std::optional<std::string> &model);

}  // namespace cairn
