// What an option can be given, and how it gets into a Config: the checks that flags and files share.
//
//     Status s = assign(option, config, OptionValue{std::int64_t{8080}});   // from a file
//     Status s = assign_text(option, config, "8080");                       // from a flag
//
// Thread rule: free functions without state.
// Errors: invalid_argument; the text names the option's spellings, the value, and what is wanted instead.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "cairn/error.h"
#include "config/config.h"
#include "config/options.h"

namespace cairn {

/// A value as read, before it is checked. Whole numbers are std::int64_t where they fit.
using OptionValue = std::variant<bool, std::int64_t, std::uint64_t, double, std::string, std::vector<AdapterConfig>>;

[[nodiscard]] Status assign(const Option &option, Config &config, const OptionValue &value);
/// `text` as typed behind a flag: a size has the form of size.h, adapters are added to those there are.
[[nodiscard]] Status assign_text(const Option &option, Config &config, std::string_view text);
/// What an option takes: "a whole number from 0 to 65535, or auto".
[[nodiscard]] std::string wanted_value(const Option &option);
/// The value an option has in `config`, as docs and help show it: "8080", "all", "unset", "64 MiB".
[[nodiscard]] std::string shown_value(const Option &option, Config config);
/// True for options that take a text list of adapters: the only ones that a second flag adds to.
[[nodiscard]] bool is_list(const Option &option) noexcept;

}  // namespace cairn
