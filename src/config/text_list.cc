#include "config/text_list.h"

#include <utility>

namespace cairn {

std::vector<std::string> split_list(std::string_view text) {
    std::vector<std::string> parts;
    std::string part;
    bool quoted = false;
    const auto end_part = [&] {
        if (!part.empty()) parts.push_back(std::exchange(part, {}));
    };
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (c == '"' && quoted && i + 1 < text.size() && text[i + 1] == '"') {
            part += text[++i];
        } else if (c == '"' && (quoted || part.empty())) {
            quoted = !quoted;
        } else if (c == ',' && !quoted) {
            end_part();
        } else {
            part += c;
        }
    }
    end_part();
    return parts;
}

}  // namespace cairn
