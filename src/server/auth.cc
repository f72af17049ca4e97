#include "server/auth.h"

#include <cstddef>

namespace cairn {
namespace {

constexpr std::string_view kScheme = "Bearer ";

/// The token of a Bearer header; the scheme's letters may have either case.
std::string_view bearer_token(std::string_view header) noexcept {
    if (header.size() < kScheme.size()) return {};
    for (std::size_t i = 0; i < kScheme.size(); ++i) {
        const bool is_letter = kScheme[i] != ' ';
        const char mask = is_letter ? char{0x20} : char{0};
        if ((header[i] | mask) != (kScheme[i] | mask)) return {};
    }
    header.remove_prefix(kScheme.size());
    const auto begin = header.find_first_not_of(' ');
    return begin == std::string_view::npos ? std::string_view{} : header.substr(begin);
}

}  // namespace

bool equal_in_constant_time(std::string_view given, std::string_view secret) noexcept {
    // Secrets of another length are compared too, against themselves wrapped around: the loop is the same.
    unsigned difference = given.size() == secret.size() ? 0U : 1U;
    for (std::size_t i = 0; i < given.size() && !secret.empty(); ++i) {
        const auto a = static_cast<unsigned char>(given[i]);
        const auto b = static_cast<unsigned char>(secret[i % secret.size()]);
        difference |= static_cast<unsigned>(a ^ b);
    }
    return difference == 0;
}

bool is_authorized(const RequestHead &head, std::string_view key) noexcept {
    if (key.empty()) return true;
    const bool by_bearer = equal_in_constant_time(bearer_token(head.authorization), key);
    const bool by_header = equal_in_constant_time(head.api_key, key);
    return by_bearer || by_header;
}

}  // namespace cairn
