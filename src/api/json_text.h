// JSON as the text that goes to a client, and bytes inside it.
//
// Threads: pure.
#pragma once

#include <string>
#include <string_view>

#include "api/field_reader.h"

namespace cairn {

/// One line. Bytes that are no UTF-8, as in texts of tokens, which may be parts of characters, become U+FFFD.
[[nodiscard]] std::string json_text(const Json &json);
/// Whether a JSON text can hold it as it is.
[[nodiscard]] bool is_utf8(const std::string &text);
/// The numbers of its bytes, as an array.
[[nodiscard]] Json json_bytes(std::string_view bytes);

}  // namespace cairn
