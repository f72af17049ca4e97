#include "app/cache_arguments.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "app/cache_printer.h"
#include "config/size.h"

namespace cairn {

Result<std::uint64_t> parse_id(const std::string &text) {
    std::uint64_t id = 0;
    const char *const end = text.data() + text.size();
    const auto [parsed_to, error] = std::from_chars(text.data(), end, id);
    if (error == std::errc{} && parsed_to == end) return id;
    return fail(ErrorCode::invalid_argument,
                "\"{}\" is not a snapshot id: those are numbers, `cairn cache ls` lists them", escaped(text));
}

Result<std::vector<std::uint64_t>> parse_ids(const std::vector<std::string> &texts) {
    std::vector<std::uint64_t> ids;
    for (const std::string &text : texts) {
        const auto id = parse_id(text);
        if (!id) return fail(id.error());
        if (std::find(ids.begin(), ids.end(), *id) == ids.end()) ids.push_back(*id);
    }
    return ids;
}

Result<std::optional<std::uint64_t>> parse_max_bytes(const std::optional<std::string> &text) {
    if (!text) return std::nullopt;
    const auto size = parse_size(*text);
    if (size) return std::optional<std::uint64_t>(*size);
    return fail(
        ErrorCode::invalid_argument,
        "--max-bytes: \"{}\" is not a size. Write a whole number with K, M or G behind it, such as 512M or 4G; a "
        "plain number is MiB",
        escaped(*text));
}

Result<std::optional<std::int64_t>> parse_older_than(const std::optional<std::string> &text) {
    if (!text) return std::nullopt;
    constexpr double kMostDays = 1e6;
    constexpr double kDaySeconds = 86400;
    double days = 0;
    const char *const end = text->data() + text->size();
    const auto [parsed_to, error] = std::from_chars(text->data(), end, days);
    if (error == std::errc{} && parsed_to == end && days >= 0 && days <= kMostDays) {  // not a number is neither
        return std::optional(static_cast<std::int64_t>(days * kDaySeconds));
    }
    return fail(ErrorCode::invalid_argument, "--older-than: \"{}\" is not a number of days: write one from 0 to {}",
                escaped(*text), kMostDays);
}

Status check_model_name(const std::optional<std::string> &model) {
    if (!model || !model->empty()) return {};
    return fail(ErrorCode::invalid_argument,
                "--model: the name is empty: `cairn cache stat` lists the models that are there");
}

}  // namespace cairn
