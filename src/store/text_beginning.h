// The beginning of what tokens say, for people who look at a list of snapshots.
#pragma once

#include <string>

#include "cairn/types.h"
#include "model/vocabulary.h"

namespace cairn {

/// At most 160 bytes, in whole characters.
[[nodiscard]] std::string beginning_of_text(std::string text);
/// The same of what `tokens` say. Cost: the tokens that make it.
[[nodiscard]] std::string beginning_of_text(const Vocabulary &vocabulary, TokenView tokens);

}  // namespace cairn
