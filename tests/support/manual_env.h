// ManualEnv: an Env whose clock only the test turns, whose random numbers are the same in every run, and whose files
// are in memory.
//
//     ManualEnv env;
//     env.advance(1.5);            // now_s() is 1.5 later, unix_time_s() 1 later
//     env.random_u64();            // a fixed sequence, chosen by the seed
//     env.files();                 // an empty SimFileSystem of its own, whose files' times follow the clock
//     ManualEnv again(2, &disk);   // a FileSystem of the test's, which must outlive it
//
// Threads: every call from any thread.
#pragma once

#include <cmath>
#include <cstdint>
#include <mutex>
#include <random>

#include "env/env.h"
#include "tests/support/sim_file_system.h"

namespace cairn {

class ManualEnv final : public Env {
public:
    explicit ManualEnv(std::uint64_t seed = 1, FileSystem *files = nullptr)
        : random_(seed), files_(files != nullptr ? *files : own_files_) {
        own_files_.set_unix_time(kStartUnixTime);
    }

    [[nodiscard]] double now_s() const override {
        const std::lock_guard lock(mutex_);
        now_s_ += tick_s_;
        return now_s_;
    }
    /// From now on each look at the clock turns it on by `seconds`, so that whatever is measured took some time.
    void tick(double seconds) {
        const std::lock_guard lock(mutex_);
        tick_s_ = seconds;
    }
    [[nodiscard]] std::int64_t unix_time_s() const override {
        return kStartUnixTime + static_cast<std::int64_t>(std::floor(now_s()));
    }
    [[nodiscard]] std::uint64_t random_u64() override {
        const std::lock_guard lock(mutex_);
        return random_();
    }
    [[nodiscard]] FileSystem &files() override { return files_; }
    /// Turns the clock on; time is monotonic, so a negative number does nothing.
    void advance(double seconds) {
        {
            const std::lock_guard lock(mutex_);
            now_s_ += seconds < 0 ? 0 : seconds;
        }
        own_files_.set_unix_time(unix_time_s());
    }

    static constexpr std::int64_t kStartUnixTime = 1'700'000'000;

private:
    mutable std::mutex mutex_;
    mutable double now_s_ = 0;
    double tick_s_ = 0;
    std::mt19937_64 random_;
    SimFileSystem own_files_;
    FileSystem &files_;
};

}  // namespace cairn
