#include "env/env.h"

#include <chrono>
#include <mutex>
#include <random>

#include "env/file_system.h"

namespace cairn {

namespace {

class SystemEnv final : public Env {
public:
    double now_s() const override {
        return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
    }
    std::int64_t unix_time_s() const override {
        return std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch())
            .count();
    }
    std::uint64_t random_u64() override {
        const std::lock_guard lock(mutex_);
        return (static_cast<std::uint64_t>(device_()) << 32) | device_();
    }
    FileSystem &files() override { return posix_file_system(); }

private:
    std::mutex mutex_;
    std::random_device device_;
};

}  // namespace

Env &system_env() {
    static SystemEnv env;
    return env;
}

}  // namespace cairn
