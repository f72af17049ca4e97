#include "bench/shell_command.h"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <cstring>
#include <optional>
#include <thread>

namespace cairn {
namespace {

constexpr std::chrono::milliseconds kLookEvery{20};
/// Of a command that somebody else has waited for. No shell says that.
constexpr int kUnknownStatus = -1;

/// Nothing while it runs.
std::optional<int> status_of(pid_t process) {
    int status = 0;
    const pid_t ended = ::waitpid(process, &status, WNOHANG);
    if (ended == 0) return std::nullopt;
    if (ended < 0) return kUnknownStatus;
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace

Result<int> run_shell(const std::string &command, double limit_s, const Env &env) {
    std::string shell = "/bin/sh";
    std::string flag = "-c";
    std::string text = command;
    const std::array<char *, 4> arguments{shell.data(), flag.data(), text.data(), nullptr};
    posix_spawnattr_t attributes;
    ::posix_spawnattr_init(&attributes);
    ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
    pid_t process = 0;
    const int failed = ::posix_spawn(&process, shell.c_str(), nullptr, &attributes, arguments.data(), environ);
    ::posix_spawnattr_destroy(&attributes);
    if (failed != 0) return fail(ErrorCode::io, "{} cannot be run: {}", shell, std::strerror(failed));

    const double until = env.now_s() + limit_s;
    while (env.now_s() < until) {
        if (const auto status = status_of(process)) return *status;
        std::this_thread::sleep_for(kLookEvery);
    }
    ::kill(-process, SIGKILL);
    ::waitpid(process, nullptr, 0);
    return fail(ErrorCode::io, "the command ran for more than {} s and was killed: {}", limit_s, command);
}

}  // namespace cairn
