// LoRA adapters as the flags --lora and --lora-scaled spell them.
//
//     parse_adapters("a.gguf,b.gguf", AdapterText::plain)         ->  {a.gguf, 1} {b.gguf, 1}
//     parse_adapters("a.gguf:0.5,b.gguf:2", AdapterText::scaled)  ->  {a.gguf, 0.5} {b.gguf, 2}
//
// Errors: invalid_argument for an empty list, and for a scale that is missing or no finite number.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "cairn/config.h"
#include "cairn/error.h"

namespace cairn {

enum class AdapterText : std::uint8_t { plain, scaled };

/// The scale stands behind the last colon, so a path may hold others.
[[nodiscard]] Result<std::vector<AdapterConfig>> parse_adapters(std::string_view text, AdapterText form);

}  // namespace cairn
