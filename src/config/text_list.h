// Lists in one text, as flags carry them: a,b or "a,b",c where a part holds a comma. llama-server's rule.
//
//     split_list("one,\"two,three\"")   ->  {one} {two,three}
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace cairn {

/// The parts of `text`; empty ones are left out. A doubled quote inside quotes is a quote.
[[nodiscard]] std::vector<std::string> split_list(std::string_view text);

}  // namespace cairn
