// SimBackend: a backend without a model. A sequence's state is a rolling hash (sim_state.h), so that a restore that is
// wrong in any way gives wrong logits, at the speed of arithmetic. For tests of everything above the backend, fault
// tests, and replaying traces.
//
//     auto backend = open_sim_backend({.family = SimFamily::sliding_window});
//     Tokens expected = sim_continuation(config, prompt, 20);   // what a correct engine answers at temperature 0
//
// It keeps the contract of model/backend.h and more: unknown park ids and sequences outside the limits stop the
// program; the pool's limits are exact; payloads are checked to the last byte.
// Ownership, threads: as model/backend.h says. The SimControl of its config may be used from any thread.
// Cost: run O(1) per token and O(vocabulary) per output; fork, park and adopt O(length / 256).
#pragma once

#include <memory>

#include "cairn/error.h"
#include "cairn/types.h"
#include "model/backend.h"
#include "sim/sim_config.h"

namespace cairn {

/// Opens one. invalid_argument for a config with values outside the bounds that sim_config.h gives.
[[nodiscard]] Result<std::unique_ptr<Backend>> open_sim_backend(SimConfig config);

/// The logits after `tokens`, computed from the start: what any backend of this config must give.
[[nodiscard]] std::vector<float> sim_logits(const SimConfig &config, TokenView tokens);
/// The `count` tokens that greedy decoding gives after `prompt`, ends of generation included as ordinary tokens.
[[nodiscard]] Tokens sim_continuation(const SimConfig &config, TokenView prompt, TokenPos count);

}  // namespace cairn
