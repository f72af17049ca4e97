#include "base/check.h"

#include <cstdio>
#include <cstdlib>

namespace cairn {

void check_failed(const char *condition, const char *file, int line, const std::string &message) noexcept {
    std::fprintf(stderr, "%s:%d: invariant broken: %s%s%s\n", file, line, condition, message.empty() ? "" : ": ",
                 message.c_str());
    std::fflush(stderr);
    std::abort();
}

}  // namespace cairn
