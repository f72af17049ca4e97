// Waits for SIGINT or SIGTERM without a signal handler.
//
//     StopSignals signals;             // before any other thread starts: they inherit the block
//     signals.wait();                  // returns at the first one; the second ends the program at once
#pragma once

#include <csignal>

namespace cairn {

/// A write that the limit of the size of files forbids (ulimit -f) fails like any other, instead of ending the program.
void ignore_file_size_signal();

class StopSignals {
public:
    StopSignals();
    /// The number of the signal that came.
    int wait();

private:
    sigset_t set_;
};

}  // namespace cairn
