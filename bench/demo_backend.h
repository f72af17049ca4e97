// demo_backend: the demo model, opened once, for benches that need a real vocabulary and chat template.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <memory>

#include "llama/llama_backend.h"

namespace cairn {

inline Backend &demo_backend() {
    static const std::unique_ptr<Backend> backend = [] {
        ModelConfig config;
        config.path = CAIRN_MODELS_DIR "/demo.gguf";
        config.context = 32768;
        config.threads = 1;
        auto opened = open_llama_backend(config, {.measure_tax = false});
        if (!opened) {
            std::fprintf(stderr, "%s\n", opened.error().what.c_str());
            std::exit(1);
        }
        return std::move(*opened);
    }();
    return *backend;
}

}  // namespace cairn
