// LlamaBackend: model/backend.h over libllama.
//
//     auto backend = open_llama_backend(model_config, {.device_bytes = 256_MiB, .parked_sequences = 8}, progress);
//
// Opening checks the file, loads the weights, probes what the state can do (capability_probe.h), sizes the pool of
// cells from what it measured, and measures the tax of parked cells. Sequence ids of libllama: live ones first, then
// parked ones, last a scratch sequence.
//
// Errors: model_file (missing, foreign, truncated, damaged), model_unsupported (cannot generate text), no_memory (also
// where the memory limits hold no sequence), invalid_argument (settings that contradict each other), device.
#pragma once

#include <functional>
#include <memory>

#include "cairn/config.h"
#include "cairn/error.h"
#include "llama/pool_size.h"
#include "model/backend.h"

namespace cairn {

/// What may be kept on the device besides the live sequences.
struct BackendSizes {
    std::size_t device_bytes = 0;       ///< for parked state: cells and boundaries
    std::int32_t parked_sequences = 0;  ///< at most; fewer where the bytes do not reach
    MemoryLimits memory = {};           ///< of all sequences' states, live and parked
    bool measure_tax = true;            ///< false: parked cells count as free of charge
};

/// Called with 0 .. 1 while the weights load, on another thread; returning false stops it (ErrorCode::cancelled).
using LoadProgress = std::function<bool(float)>;

[[nodiscard]] Result<std::unique_ptr<Backend>> open_llama_backend(const ModelConfig &config, const BackendSizes &sizes,
                                                                  const LoadProgress &progress = {});

}  // namespace cairn
