// What the command line wants to know of the machine it runs on.
#pragma once

#include "config/serve_defaults.h"

namespace cairn {

[[nodiscard]] MachineFacts machine_facts();

}  // namespace cairn
