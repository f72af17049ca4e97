#include "config/adapters.h"

#include <charconv>
#include <cmath>
#include <string>

#include "config/text_list.h"

namespace cairn {

namespace {

Result<AdapterConfig> parse_scaled(const std::string &item) {
    const auto colon = item.rfind(':');
    const std::string number = colon == std::string::npos ? "" : item.substr(colon + 1);
    float scale = 0;
    const auto [rest, error] = std::from_chars(number.data(), number.data() + number.size(), scale);
    if (number.empty() || colon == 0 || error != std::errc{} || rest != number.data() + number.size() ||
        !std::isfinite(scale)) {
        return fail(ErrorCode::invalid_argument,
                    "\"{}\" is not an adapter with a scale. Write FILE:SCALE, such as "
                    "style.gguf:0.5.",
                    item);
    }
    return AdapterConfig{item.substr(0, colon), scale};
}

}  // namespace

Result<std::vector<AdapterConfig>> parse_adapters(std::string_view text, AdapterText form) {
    std::vector<AdapterConfig> adapters;
    for (const auto &item : split_list(text)) {
        if (form == AdapterText::plain) {
            adapters.push_back({item, 1.0f});
            continue;
        }
        auto adapter = parse_scaled(item);
        if (!adapter) return fail(adapter.error());
        adapters.push_back(std::move(*adapter));
    }
    if (adapters.empty()) return fail(ErrorCode::invalid_argument, "The list of adapters is empty. Name a file.");
    return adapters;
}

}  // namespace cairn
