// JSON as text for others to read.
//
//     std::string line = json_text(nlohmann::json{{"text", "\xff"}});       // {"text":"U+FFFD"}
//     std::string pretty = json_text(json, 1);
//
// Threads: pure.
#pragma once

#include <string>

namespace cairn {

/// One line; with an `indent` of 0 or more, many. Bytes that are no UTF-8, as in file names or in texts of tokens,
/// which may be parts of characters, become U+FFFD. `Json`: a nlohmann::basic_json.
template <class Json>
[[nodiscard]] std::string json_text(const Json &json, int indent = -1) {
    return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

}  // namespace cairn
