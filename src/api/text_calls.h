// What a text becomes: calls that need the vocabulary and the chat template, and no engine. The fields are
// llama-server's.
//
//     tokenize_call(R"({"content": "Hello", "add_special": true})", context)     {"tokens": [1, 9906]}
//     detokenize_call(R"({"tokens": [9906]})", context)                          {"content": "Hello"}
//     apply_template_call(R"({"messages": [...]})", context)                     {"prompt": "<|im_start|>user\n..."}
//
// Pure; safe from any thread. Errors: invalid_argument with the name of the field and what it should be.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "api/api.h"
#include "cairn/error.h"

namespace cairn {

/// Most tokens of one call: of more, invalid_argument.
inline constexpr std::size_t kMostTextTokens = std::size_t{1} << 20;

/// `content`: text. `add_special` (false): begin as a prompt does. `parse_special` (true): spelled control tokens
/// become tokens. `with_pieces` (false): {"id", "piece"} for each, the piece as an array of bytes where it is no UTF-8.
[[nodiscard]] Result<std::string> tokenize_call(std::string_view body, const ApiContext &context);
/// `tokens`: ids. Control tokens are spelled out; bytes that are no UTF-8 become U+FFFD.
[[nodiscard]] Result<std::string> detokenize_call(std::string_view body, const ApiContext &context);
/// The fields of a chat completion that make its prompt.
[[nodiscard]] Result<std::string> apply_template_call(std::string_view body, const ApiContext &context);

}  // namespace cairn
