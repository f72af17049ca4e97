#include "env/thread_priority.h"

#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace cairn {

void yield_to_others() noexcept {
    // On Linux a nice value belongs to a thread, by its id.
    constexpr int kNicest = 19;
    (void)::setpriority(PRIO_PROCESS, static_cast<id_t>(::syscall(SYS_gettid)), kNicest);
}

}  // namespace cairn
