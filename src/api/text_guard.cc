#include "api/text_guard.h"

#include <algorithm>
#include <cstdint>

namespace cairn {

namespace {

constexpr std::size_t kMarkDigits = 18;

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

std::uint64_t mix(std::uint64_t x) {  // splitmix64's finalizer
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    return x ^ (x >> 31);
}

/// A digit string whose first digit occurs nowhere else in it, so that no two occurrences can overlap, and digits of a
/// text in front of it cannot shift where it is found.
std::string digits_of(std::uint64_t seed) {
    std::string digits = "1";
    std::uint64_t state = mix(seed);
    while (digits.size() < kMarkDigits) {
        digits += static_cast<char>('2' + state % 8);
        state = mix(state + 0x9e3779b97f4a7c15);
    }
    return digits;
}

}  // namespace

void TextGuard::see(std::string_view text) {
    needed_ = needed_ || matcher_.find(text, 0).has_value();
    seed_ = mix(seed_ ^ std::hash<std::string_view>{}(text));
    for (std::size_t begin = 0; begin < text.size();) {
        if (!is_digit(text[begin])) {
            ++begin;
            continue;
        }
        std::size_t end = begin;
        while (end < text.size() && is_digit(text[end]))
            ++end;
        if (end - begin >= kMarkDigits) long_digit_runs_.emplace_back(text.substr(begin, end - begin));
        begin = end;
    }
}

std::string TextGuard::unseen_digits(std::uint64_t salt) const {
    for (std::uint64_t attempt = salt << 32;; ++attempt) {
        std::string digits = digits_of(seed_ + attempt);
        const bool seen = std::any_of(long_digit_runs_.begin(), long_digit_runs_.end(),
                                      [&](const std::string &run) { return run.find(digits) != std::string::npos; });
        if (!seen) return digits;
    }
}

void TextGuard::choose_marks() {
    open_ = unseen_digits(1);
    std::uint64_t salt = 2;
    do {
        close_ = unseen_digits(salt++);
    } while (close_ == open_);
}

std::string TextGuard::wrap(std::string_view text) const {
    std::string wrapped;
    std::size_t done = 0;
    while (const auto hit = matcher_.find(text, done)) {
        wrapped.append(text, done, hit->begin - done).append(open_);
        wrapped.append(text, hit->begin, hit->end - hit->begin).append(close_);
        done = hit->end;
    }
    return wrapped.append(text, done);
}

GuardedText TextGuard::unwrap(std::string_view rendered) const {
    GuardedText result;
    if (open_.empty()) {
        result.text = rendered;
        return result;
    }
    bool inside = false;
    std::size_t inside_begin = 0;
    std::size_t next_open = 0;
    std::size_t next_close = 0;
    for (std::size_t at = 0; at < rendered.size();) {
        if (next_open != std::string::npos && next_open <= at) next_open = rendered.find(open_, at);
        if (next_close != std::string::npos && next_close <= at) next_close = rendered.find(close_, at);
        const std::size_t next = std::min({next_open, next_close, rendered.size()});
        result.text.append(rendered, at, next - at);
        if (next == rendered.size()) break;
        if (next == next_open) {
            inside_begin = result.text.size();
        } else if (inside && matcher_.is_spelling(std::string_view(result.text).substr(inside_begin))) {
            result.protected_ranges.push_back({inside_begin, result.text.size()});
        }
        inside = next == next_open;
        at = next + kMarkDigits;
    }
    return result;
}

}  // namespace cairn
