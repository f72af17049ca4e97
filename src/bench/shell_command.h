// A command of the user's, run by the shell within a time limit.
//
//     auto status = run_shell("systemctl --user restart cairn", 60, env);
//
// The command and all that it starts are a process group of their own: what it leaves running in the background goes on
// when it returns, and ends with it where it has to be killed.
// Threads: any; blocks. Errors: io, where it cannot be started or takes longer than the limit.
#pragma once

#include <string>

#include "cairn/error.h"
#include "env/env.h"

namespace cairn {

/// Its exit status, as a shell has it: 128 + n where signal n ended it. -1 where the system does not tell (SIGCHLD is
/// ignored).
[[nodiscard]] Result<int> run_shell(const std::string &command, double limit_s, const Env &env);

}  // namespace cairn
