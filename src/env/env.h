// Env: the seam between cairn and the machine. Everything that is not a pure function of its inputs comes through here.
//
// Tests pass an Env of their own: a clock they turn by hand, and a disk that lies.
// Ownership: the FileSystem belongs to its Env and lives as long.
// Thread rule: safe from any thread.
#pragma once

#include <cstdint>

namespace cairn {

class FileSystem;

class Env {
public:
    virtual ~Env() = default;
    /// Monotonic time. Unit: seconds since some fixed moment.
    [[nodiscard]] virtual double now_s() const = 0;
    /// Wall-clock time. Unit: whole seconds since 1970-01-01 UTC.
    [[nodiscard]] virtual std::int64_t unix_time_s() const = 0;
    /// A number nobody can predict well: seeds, ids.
    [[nodiscard]] virtual std::uint64_t random_u64() = 0;
    /// The files: env/file_system.h.
    [[nodiscard]] virtual FileSystem &files() = 0;
};

/// The real machine. Lives as long as the program.
[[nodiscard]] Env &system_env();

}  // namespace cairn
