#include "config/option_value.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <type_traits>

#include "config/adapters.h"
#include "config/kv_type.h"
#include "config/size.h"

namespace cairn {

namespace {

template <class T>
struct Plain {
    using type = T;
};
template <class T>
struct Plain<std::optional<T>> {
    using type = T;
};
/// T for T and for std::optional<T>.
template <class T>
using plain_t = typename Plain<T>::type;

/// Calls `f` with a null pointer to the plain type of the option's member: for what depends on the type alone.
template <class F>
auto visit_type(const Option &option, F &&f) {
    return std::visit([&]<class T>(MemberOf<T>) { return f(static_cast<plain_t<T> *>(nullptr)); }, option.member);
}

template <class T>
constexpr bool kIsWhole = std::is_integral_v<T> && !std::is_same_v<T, bool>;

std::string text_of(const OptionValue &value) {
    return std::visit(
        []<class T>(const T &v) -> std::string {
            if constexpr (std::is_same_v<T, std::string>) {
                return fmt::format("\"{}\"", v);
            } else if constexpr (std::is_same_v<T, std::vector<AdapterConfig>>) {
                return "a list";
            } else {
                return fmt::format("{}", v);
            }
        },
        value);
}

auto bad_type(const Option &option, const OptionValue &value) {
    return fail(ErrorCode::invalid_argument, "{}: {} is not a value it takes. Give it {}.", spelling_of(option),
                text_of(value), wanted_value(option));
}

auto out_of_bounds(const Option &option, const OptionValue &value) {
    return fail(ErrorCode::invalid_argument, "{}: {} is out of bounds. Give it {}.", spelling_of(option),
                text_of(value), wanted_value(option));
}

/// The number a word of the option stands for, if `value` is one; "-1" may be a word too.
std::optional<std::int32_t> word_value(const Option &option, const OptionValue &value) {
    std::string text;
    if (const auto *s = std::get_if<std::string>(&value)) text = *s;
    if (const auto *n = std::get_if<std::int64_t>(&value)) text = fmt::format("{}", *n);
    for (const auto &word : option.words) {
        if (text == word.text) return word.value;
    }
    return std::nullopt;
}

template <class T>
Status assign_whole(const Option &option, T &target, const OptionValue &value) {
    if (const auto word = word_value(option, value)) {
        target = static_cast<T>(*word);
        return {};
    }
    const auto set = [&](auto n) -> Status {
        if (!std::in_range<T>(n) || static_cast<double>(n) < option.bounds.min ||
            static_cast<double>(n) > option.bounds.max) {
            return out_of_bounds(option, value);
        }
        target = static_cast<T>(n);
        return {};
    };
    if (const auto *n = std::get_if<std::int64_t>(&value)) return set(*n);
    if (const auto *n = std::get_if<std::uint64_t>(&value)) return set(*n);
    return bad_type(option, value);
}

Status assign_real(const Option &option, double &target, const OptionValue &value) {
    double number = 0;
    if (const auto *d = std::get_if<double>(&value)) {
        number = *d;
    } else if (const auto *n = std::get_if<std::int64_t>(&value)) {
        number = static_cast<double>(*n);
    } else {
        return bad_type(option, value);
    }
    // Written so that a NaN fails too.
    if (!(number >= option.bounds.min && number <= option.bounds.max)) return out_of_bounds(option, value);
    target = number;
    return {};
}

Status assign_kv_type(const Option &option, KvType &target, const OptionValue &value) {
    const auto *name = std::get_if<std::string>(&value);
    const auto type = name ? kv_type_of(*name) : std::nullopt;
    if (!type) return bad_type(option, value);
    target = *type;
    return {};
}

template <class T>
Status assign_plain(const Option &option, T &target, const OptionValue &value) {
    if constexpr (std::is_same_v<T, KvType>) {
        return assign_kv_type(option, target, value);
    } else if constexpr (std::is_same_v<T, double>) {
        return assign_real(option, target, value);
    } else if constexpr (kIsWhole<T>) {
        return assign_whole(option, target, value);
    } else {
        const auto *same = std::get_if<T>(&value);
        if (!same) return bad_type(option, value);
        target = *same;
        return {};
    }
}

/// The number that the whole of `text` spells, else the text itself: assign() then says what is wrong with it.
template <class Number>
OptionValue number_or_text(std::string_view text) {
    const char *end = text.data() + text.size();
    Number number{};
    const auto [rest, error] = std::from_chars(text.data(), end, number);
    if (error == std::errc{} && rest == end) return number;
    return std::string(text);
}

Status assign_size_text(const Option &option, Config &config, std::string_view text) {
    const auto bytes = parse_size(text);
    if (!bytes) return fail(bytes.error().code, "{}: {}", spelling_of(option), bytes.error().what);
    return assign(option, config, OptionValue{std::uint64_t{*bytes}});
}

Status add_adapters(const Option &option, Config &config, std::string_view text) {
    const bool scaled = std::string_view(option.value_name).find("SCALE") != std::string_view::npos;
    auto added = parse_adapters(text, scaled ? AdapterText::scaled : AdapterText::plain);
    if (!added) return fail(added.error().code, "{}: {}", spelling_of(option), added.error().what);
    auto &adapters = std::get<MemberOf<std::vector<AdapterConfig>>>(option.member)(config);
    adapters.insert(adapters.end(), added->begin(), added->end());
    return {};
}

/// "a whole number from 1 to 1024" by bounds and type; the upper end of a wide type says nothing to a user.
template <class T>
std::string wanted_whole(const Option &option) {
    const auto min = static_cast<std::int64_t>(option.bounds.min);
    const double type_max = static_cast<double>(std::numeric_limits<T>::max());
    const double max = std::min(option.bounds.max, type_max);
    std::string text = sizeof(T) == sizeof(std::size_t) ? "a whole number of bytes" : "a whole number";
    text += max < std::numeric_limits<std::int32_t>::max()
                ? fmt::format(" from {} to {}", min, static_cast<std::int64_t>(max))
                : fmt::format(" of at least {}", min);
    for (const auto &word : option.words) {
        if (word.text[0] != '-') text += fmt::format(", or {}", word.text);
    }
    return text;
}

template <class T>
std::string wanted_plain(const Option &option) {
    if constexpr (std::is_same_v<T, bool>) return "true or false";
    if constexpr (std::is_same_v<T, std::string>) return "a text";
    if constexpr (std::is_same_v<T, KvType>) return "one of " + kv_type_names();
    if constexpr (std::is_same_v<T, double>) {
        return fmt::format("a number from {} to {}", option.bounds.min, option.bounds.max);
    }
    if constexpr (std::is_same_v<T, std::vector<AdapterConfig>>) {
        return "a list of paths or of {\"path\": ..., \"scale\": ...}";
    }
    if constexpr (kIsWhole<T>) return wanted_whole<T>(option);
}

template <class T>
std::string shown_plain(const Option &option, const T &value) {
    if constexpr (std::is_same_v<T, std::vector<AdapterConfig>>) {
        return value.empty() ? "none" : fmt::format("{} adapters", value.size());
    } else if constexpr (std::is_same_v<T, KvType>) {
        return name_of(value);
    } else if constexpr (std::is_same_v<T, std::size_t>) {
        return size_text(value);
    } else if constexpr (std::is_same_v<T, std::string>) {
        return value.empty() ? "empty" : value;
    } else if constexpr (std::is_same_v<T, std::int32_t>) {
        // A value out of bounds is there only as what a word stands for.
        for (const auto &word : option.words) {
            if (word.value == value && value < 0) return word.text;
        }
        return fmt::format("{}", value);
    } else {
        return fmt::format("{}", value);
    }
}

}  // namespace

bool is_list(const Option &option) noexcept {
    return std::holds_alternative<MemberOf<std::vector<AdapterConfig>>>(option.member);
}

Status assign(const Option &option, Config &config, const OptionValue &value) {
    return std::visit(
        [&]<class T>(MemberOf<T> member) -> Status {
            plain_t<T> plain{};
            const Status status = assign_plain(option, plain, value);
            if (status) member(config) = std::move(plain);
            return status;
        },
        option.member);
}

Status assign_text(const Option &option, Config &config, std::string_view text) {
    if (is_list(option)) return add_adapters(option, config, text);
    return visit_type(option, [&]<class T>(T *) -> Status {
        if constexpr (std::is_same_v<T, std::size_t>) return assign_size_text(option, config, text);
        if constexpr (std::is_same_v<T, double>) return assign(option, config, number_or_text<double>(text));
        if constexpr (kIsWhole<T>) return assign(option, config, number_or_text<std::int64_t>(text));
        return assign(option, config, OptionValue{std::string(text)});
    });
}

std::string wanted_value(const Option &option) {
    return visit_type(option, [&]<class T>(T *) { return wanted_plain<T>(option); });
}

std::string shown_value(const Option &option, Config config) {
    return std::visit(
        [&]<class T>(MemberOf<T> member) -> std::string {
            const T &value = member(config);
            if constexpr (std::is_same_v<T, plain_t<T>>) {
                return shown_plain(option, value);
            } else {
                return value ? shown_plain(option, *value) : "unset";
            }
        },
        option.member);
}

}  // namespace cairn
