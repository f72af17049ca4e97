#include "app/admin_line.h"

#include <fmt/format.h>

#include <charconv>

namespace cairn {
namespace {

constexpr std::string_view kBegin = "admin http://";
constexpr std::size_t kTokenDigits = 32;

std::string address_for(const std::string &host) {
    if (host == "::") return "127.0.0.1";  // takes IPv4 clients too
    const bool is_v6 = host.find(':') != std::string::npos;
    if (is_v6) return "[" + host + "]";
    const bool is_v4 = host.find_first_not_of("0123456789.") == std::string::npos;
    return is_v4 && host != "0.0.0.0" ? host : "127.0.0.1";
}

}  // namespace

std::string make_admin_token(Env &env) {
    const std::uint64_t high = env.random_u64();
    return fmt::format("{:016x}{:016x}", high, env.random_u64());
}

std::string admin_line(const std::string &host, std::uint16_t port, const std::string &token) {
    return fmt::format("{}{}:{} {}\n", kBegin, address_for(host), port, token);
}

std::optional<HttpTarget> parse_admin_line(std::string_view holder) {
    const auto newline = holder.find('\n');
    if (newline == std::string_view::npos) return std::nullopt;
    std::string_view line = holder.substr(newline + 1);
    line = line.substr(0, line.find('\n'));
    const auto space = line.rfind(' ');
    if (!line.starts_with(kBegin) || space <= kBegin.size() || space == std::string_view::npos) return std::nullopt;
    const std::string_view token = line.substr(space + 1);
    const std::string_view where = line.substr(kBegin.size(), space - kBegin.size());
    const auto colon = where.rfind(':');
    if (token.size() != kTokenDigits || colon == std::string_view::npos) return std::nullopt;
    HttpTarget target{.host = std::string(where.substr(0, colon)), .port = 0, .token = std::string(token)};
    const char *end = where.data() + where.size();
    const auto parsed = std::from_chars(where.data() + colon + 1, end, target.port);
    if (parsed.ec != std::errc{} || parsed.ptr != end || target.port == 0) return std::nullopt;
    if (target.host.starts_with('[') && target.host.ends_with(']')) {
        target.host = target.host.substr(1, target.host.size() - 2);
    }
    return target;
}

}  // namespace cairn
