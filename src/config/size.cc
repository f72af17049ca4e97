#include "config/size.h"

#include <charconv>
#include <optional>

#include "base/bytes.h"

namespace cairn {

namespace {

std::optional<std::size_t> unit_of(std::string_view suffix) {
    if (suffix.empty()) return 1_MiB;
    if (suffix.size() > 1) return std::nullopt;
    switch (suffix.front()) {
        case 'k':
        case 'K': return 1_KiB;
        case 'm':
        case 'M': return 1_MiB;
        case 'g':
        case 'G': return 1_GiB;
        default: return std::nullopt;
    }
}

}  // namespace

Result<std::size_t> parse_size(std::string_view text) {
    constexpr const char *kWanted =
        "Write a whole number with K, M or G behind it, such as 512M or 4G; a plain number is "
        "MiB, and 0 is off.";
    std::size_t number = 0;
    const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error == std::errc::invalid_argument) {
        return fail(ErrorCode::invalid_argument, "\"{}\" is not a size. {}", text, kWanted);
    }
    const auto unit = unit_of(text.substr(static_cast<std::size_t>(rest - text.data())));
    if (!unit) return fail(ErrorCode::invalid_argument, "\"{}\" is not a size. {}", text, kWanted);
    const auto bytes = checked_mul(number, *unit);
    if (error == std::errc::result_out_of_range || !bytes) {
        return fail(ErrorCode::invalid_argument, "The size \"{}\" is larger than any memory. {}", text, kWanted);
    }
    return *bytes;
}

std::string size_text(std::size_t bytes) {
    if (bytes == 0) return "0";
    if (bytes % 1_GiB == 0) return fmt::format("{} GiB", bytes / 1_GiB);
    if (bytes % 1_MiB == 0) return fmt::format("{} MiB", bytes / 1_MiB);
    if (bytes % 1_KiB == 0) return fmt::format("{} KiB", bytes / 1_KiB);
    return fmt::format("{} bytes", bytes);
}

}  // namespace cairn
