#include "app/stop_signals.h"

#include <pthread.h>

namespace cairn {

void ignore_file_size_signal() {
    std::signal(SIGXFSZ, SIG_IGN);
}

StopSignals::StopSignals() {
    sigemptyset(&set_);
    sigaddset(&set_, SIGINT);
    sigaddset(&set_, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &set_, nullptr);
    std::signal(SIGPIPE, SIG_IGN);  // a client that has gone shows as an error of the write
    ignore_file_size_signal();
}

int StopSignals::wait() {
    int number = 0;
    sigwait(&set_, &number);
    pthread_sigmask(SIG_UNBLOCK, &set_, nullptr);  // from now on the default: it ends the program
    return number;
}

}  // namespace cairn
