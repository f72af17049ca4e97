// The tiny models that tools/make_fixture.cc writes at build time.
//
//     auto backend = open_llama_backend(fixture_config("qwen35"), fixture_sizes());
//
// Needs the compile definition CAIRN_FIXTURES_DIR and the build target cairn_fixtures.
#pragma once

#include <string>

#include "cairn/config.h"
#include "llama/llama_backend.h"

namespace cairn {

/// One of each family of state.
inline constexpr const char *kFixtures[] = {"qwen35", "nemotron_h", "qwen3", "gemma3", "mamba2"};
inline constexpr const char *kQuantisedFixture = "qwen3_q8_0";
inline constexpr const char *kAdapterFixture = "qwen3_lora";

[[nodiscard]] inline std::string fixture_path(const std::string &name) {
    return std::string(CAIRN_FIXTURES_DIR) + "/" + name + ".gguf";
}

/// One thread: ggml's threads spin, and tests share the machine.
[[nodiscard]] inline ModelConfig fixture_config(const std::string &name) {
    ModelConfig config;
    config.path = fixture_path(name);
    config.context = 1024;
    config.parallel = 4;
    config.threads = 1;
    config.batch = 512;
    config.ubatch = 128;
    config.gpu_layers = 0;
    return config;
}

[[nodiscard]] inline BackendSizes fixture_sizes() {
    BackendSizes sizes;
    sizes.device_bytes = std::size_t{64} << 20;
    sizes.parked_sequences = 4;
    sizes.measure_tax = false;  // a noisy machine must not decide what a test finds on the device
    return sizes;
}

}  // namespace cairn
