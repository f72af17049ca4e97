// What follows from a SimConfig: the facts a SimBackend gives, and the logits of its states. Pure functions.
#pragma once

#include <vector>

#include "cairn/error.h"
#include "model/backend.h"
#include "sim/sim_config.h"
#include "sim/sim_state.h"
#include "state/layout.h"

namespace cairn {

/// invalid_argument, with the name of the field, for values outside the bounds that sim_config.h gives.
[[nodiscard]] Status check_sim_config(const SimConfig &config);
[[nodiscard]] ModelInfo sim_info(const SimConfig &config);
[[nodiscard]] StateLayout sim_layout(const SimConfig &config);
/// The state's own logits, with the config's end_bias and forced_token.
[[nodiscard]] std::vector<float> sim_logits(const SimConfig &config, const SimState &state);

}  // namespace cairn
