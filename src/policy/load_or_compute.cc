#include "policy/load_or_compute.h"

#include <cmath>

namespace cairn {

namespace {

bool is_known(const std::optional<double> &rate) noexcept {
    return rate && std::isfinite(*rate) && *rate > 0;
}

}  // namespace

std::optional<double> load_seconds(const LoadFacts &facts) noexcept {
    if (!is_known(facts.bytes_per_s)) return std::nullopt;
    const double fixed_s = facts.fixed_s > 0 ? facts.fixed_s : 0;
    return fixed_s + static_cast<double>(facts.bytes) / *facts.bytes_per_s;
}

std::optional<double> compute_seconds(const LoadFacts &facts) noexcept {
    if (facts.tokens_saved <= 0) return 0;
    if (!is_known(facts.seconds_per_token)) return std::nullopt;
    return facts.tokens_saved * *facts.seconds_per_token;
}

LoadVerdict load_or_compute(const LoadFacts &facts) noexcept {
    if (facts.tokens_saved <= 0) return LoadVerdict::compute;
    const auto load_s = load_seconds(facts);
    const auto compute_s = compute_seconds(facts);
    if (!load_s || !compute_s) return LoadVerdict::load;
    return *load_s * kLoadMargin <= *compute_s ? LoadVerdict::load : LoadVerdict::compute;
}

}  // namespace cairn
