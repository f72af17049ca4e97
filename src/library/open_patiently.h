// open_patiently: opens a cache directory that somebody may hold for a moment.
#pragma once

#include <string>
#include <string_view>

#include "env/env.h"
#include "store/cache_directory.h"

namespace cairn {

/// Long enough for a command that looks and goes; short enough to wait for. Unit: seconds.
inline constexpr double kLockPatienceSeconds = 3;

/// CacheDirectory::open, tried again for a while where somebody holds the lock who is no server that runs.
[[nodiscard]] Result<CacheDirectory> open_patiently(Env &env, const std::string &directory, std::string_view holder,
                                                    double patience_s = kLockPatienceSeconds);

}  // namespace cairn
