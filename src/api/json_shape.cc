#include "api/json_shape.h"

#include <array>

namespace cairn {

JsonShape json_shape(std::string_view text) noexcept {
    std::array<std::uint64_t, kMaxJsonDepth + 1> fields{};
    std::uint64_t steps = 0;
    std::size_t depth = 0;
    bool in_string = false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (in_string) {
            if (c == '\\') ++i;
            if (c == '"') in_string = false;
        } else if (c == '"') {
            in_string = true;
        } else if (c == '[' || c == '{') {
            if (++depth > kMaxJsonDepth) return JsonShape::too_deep;
            fields[depth] = 0;
        } else if ((c == ']' || c == '}') && depth > 0) {
            --depth;
        } else if (c == ':') {
            steps += ++fields[depth];
            if (steps > kMaxJsonSteps) return JsonShape::too_many_fields;
        }
    }
    return JsonShape::fine;
}

}  // namespace cairn
