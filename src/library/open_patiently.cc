#include "library/open_patiently.h"

#include <chrono>
#include <thread>

namespace cairn {

namespace {

/// Servers say behind their first line where they take orders; they hold the lock for as long as they run.
bool stays(std::string_view holder) {
    const auto first_end = holder.find('\n');
    return first_end != std::string_view::npos && first_end + 1 < holder.size();
}

}  // namespace

Result<CacheDirectory> open_patiently(Env &env, const std::string &directory, std::string_view holder,
                                      double patience_s) {
    constexpr double kLookAgainAfter = 0.05;
    for (double waited = 0;; waited += kLookAgainAfter) {
        auto opened = CacheDirectory::open(env.files(), directory, holder);
        if (opened || opened.error().code != ErrorCode::capacity || waited >= patience_s) return opened;
        if (stays(holder_of(env.files(), directory))) return opened;
        std::this_thread::sleep_for(std::chrono::duration<double>(kLookAgainAfter));
    }
}

}  // namespace cairn
