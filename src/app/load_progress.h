// Shows on stderr that a model is loading: a line that is rewritten on a terminal, a few plain lines elsewhere.
#pragma once

#include <string>

#include "llama/llama_backend.h"

namespace cairn {

/// `path`: what is loaded, for display. Prints nothing where `quiet`.
[[nodiscard]] LoadProgress show_load_progress(const std::string &path, bool quiet);

}  // namespace cairn
