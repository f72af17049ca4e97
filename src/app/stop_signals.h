// Waits for SIGINT or SIGTERM without a signal handler.
//
//     StopSignals signals;             // before any other thread starts: they inherit the block
//     signals.wait();                  // returns at the first one; the second ends the program at once
#pragma once

#include <csignal>

namespace cairn {

class StopSignals {
public:
    StopSignals();
    /// The number of the signal that came.
    int wait();

private:
    sigset_t set_;
};

}  // namespace cairn
