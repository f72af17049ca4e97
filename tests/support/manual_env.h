// ManualEnv: an Env whose clock only the test turns, and whose random numbers are the same in every run.
//
//     ManualEnv env;
//     env.advance(1.5);            // now_s() is 1.5 later, unix_time_s() 1 later
//     env.random_u64();            // a fixed sequence, chosen by the seed
//
// Threads: every call from any thread.
#pragma once

#include <cmath>
#include <cstdint>
#include <mutex>
#include <random>

#include "env/env.h"

namespace cairn {

class ManualEnv final : public Env {
public:
    explicit ManualEnv(std::uint64_t seed = 1) : random_(seed) {}

    [[nodiscard]] double now_s() const override {
        const std::lock_guard lock(mutex_);
        return now_s_;
    }
    [[nodiscard]] std::int64_t unix_time_s() const override {
        return kStartUnixTime + static_cast<std::int64_t>(std::floor(now_s()));
    }
    [[nodiscard]] std::uint64_t random_u64() override {
        const std::lock_guard lock(mutex_);
        return random_();
    }
    /// Turns the clock on; time is monotonic, so a negative number does nothing.
    void advance(double seconds) {
        const std::lock_guard lock(mutex_);
        now_s_ += seconds < 0 ? 0 : seconds;
    }

    static constexpr std::int64_t kStartUnixTime = 1'700'000'000;

private:
    mutable std::mutex mutex_;
    double now_s_ = 0;
    std::mt19937_64 random_;
};

}  // namespace cairn
