// Loading a model: the file's checks, the weights, the adapters, the fingerprint of all of it.
#pragma once

#include <llama.h>

#include <vector>

#include "cairn/config.h"
#include "cairn/error.h"
#include "llama/gguf_file.h"
#include "llama/llama_backend.h"
#include "llama/llama_handles.h"
#include "model/backend.h"

namespace cairn {

struct LoadedModel {
    ModelHandle model;
    std::vector<AdapterHandle> adapters;
    ModelInfo info;
    bool long_rope = false;          ///< picks its rope factors by the size of the context
    FingerprintBuilder fingerprint;  ///< of file and adapters; the context adds its own
};

/// Errors: see llama_backend.h. Cost: reads the file.
[[nodiscard]] Result<std::unique_ptr<LoadedModel>> load_model(const ModelConfig &config, const LoadProgress &progress);

[[nodiscard]] ggml_type ggml_type_of(KvType type) noexcept;

}  // namespace cairn
