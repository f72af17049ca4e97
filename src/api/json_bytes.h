// Bytes inside JSON that goes to a client; base/json_text.h makes a text of it.
//
// Threads: pure.
#pragma once

#include <string>
#include <string_view>

#include "api/field_reader.h"

namespace cairn {

/// Whether a JSON text can hold it as it is.
[[nodiscard]] bool is_utf8(const std::string &text);
/// The numbers of its bytes, as an array.
[[nodiscard]] Json json_bytes(std::string_view bytes);

}  // namespace cairn
