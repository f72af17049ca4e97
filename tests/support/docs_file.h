// docs_file: a page of docs/, for tests that compare it with what the tables generate.
#pragma once

#include <fstream>
#include <iterator>
#include <string>

namespace cairn {

/// The text of docs/`name`; empty where there is no such file.
[[nodiscard]] inline std::string docs_file(const std::string &name) {
    std::ifstream file(std::string(CAIRN_MODELS_DIR) + "/../docs/" + name, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

}  // namespace cairn
