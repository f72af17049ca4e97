// docs/configuration.md, made from the options table. tools/gen-docs writes it; a test compares it.
#pragma once

#include <string>

namespace cairn {

[[nodiscard]] std::string options_markdown();

}  // namespace cairn
