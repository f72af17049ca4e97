#include "policy/rate.h"

#include <algorithm>
#include <cmath>

namespace cairn {

namespace {

bool is_amount(double x) noexcept {
    return std::isfinite(x) && x > 0;
}

}  // namespace

Rate::Rate(RateMemory memory) noexcept : memory_(memory) {}

double Rate::faded(double now_s) const noexcept {
    return std::exp2(-std::max(0.0, now_s - at_s_) / memory_.half_life_s);
}

void Rate::add(double amount, double seconds, double now_s) noexcept {
    if (!is_amount(amount) || !is_amount(seconds) || amount < memory_.smallest) return;
    const double old = amount_ > 0 ? faded(now_s) * std::exp2(-amount / memory_.memory) : 0;
    amount_ = amount_ * old + amount;
    seconds_ = seconds_ * old + seconds;
    const double most = std::min(1.0, std::max(memory_.memory, memory_.smallest) / amount_);
    amount_ *= most;
    seconds_ *= most;
    at_s_ = std::max(at_s_, now_s);
}

std::optional<double> Rate::per_second(double now_s) const noexcept {
    if (amount_ <= 0 || amount_ * faded(now_s) < memory_.smallest) return std::nullopt;
    return amount_ / seconds_;
}

std::optional<double> Rate::seconds_per_unit(double now_s) const noexcept {
    const auto rate = per_second(now_s);
    if (!rate) return std::nullopt;
    return 1 / *rate;
}

}  // namespace cairn
