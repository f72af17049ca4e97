#include "tests/contract/backend_case.h"

#include "llama/llama_backend.h"
#include "sim/sim_backend.h"
#include "tests/support/fixtures.h"

namespace cairn {
namespace {

BackendCase sim_case(SimFamily family, bool checks_payloads) {
    SimConfig config;
    config.family = family;
    config.context = 4096;
    config.pool_cells = 4096;
    config.parked_sequences = 4;
    config.checks_payloads = checks_payloads;
    return {std::string("sim_") + name_of(family), [config] { return open_sim_backend(config); }};
}

BackendCase llama_case(const std::string &fixture) {
    return {"llama_" + fixture, [fixture] {
                ModelConfig config = fixture_config(fixture);
                // Where K and V have one type, f16 or f32, ggml's flash attention on the CPU works in tiles of 64 cells
                // for batches of 64 tokens and more. Then where in the pool a state lies, modulo 64, shows in the
                // logits (1.5e-3 of their scale was seen in these fixtures). With two types it goes cell by cell, the
                // place does not show, and tests can be strict. same_place_test.cc is for the types by default.
                config.type_v = KvType::bf16;
                return open_llama_backend(config, fixture_sizes());
            }};
}

std::vector<BackendCase> all_cases() {
    std::vector<BackendCase> cases;
    for (const SimFamily family :
         {SimFamily::attention, SimFamily::hybrid, SimFamily::recurrent, SimFamily::sliding_window, SimFamily::whole}) {
        cases.push_back(sim_case(family, true));
    }
    for (const char *fixture : kFixtures)
        cases.push_back(llama_case(fixture));
    return cases;
}

std::vector<BackendCase> boundary_cases() {
    std::vector<BackendCase> cases;
    for (const SimFamily family : {SimFamily::hybrid, SimFamily::recurrent, SimFamily::sliding_window}) {
        cases.push_back(sim_case(family, false));
    }
    for (const char *fixture : {"qwen35", "nemotron_h", "gemma3", "mamba2"})
        cases.push_back(llama_case(fixture));
    return cases;
}

}  // namespace

const std::vector<BackendCase> &backend_cases() {
    static const std::vector<BackendCase> cases = all_cases();
    return cases;
}

const std::vector<BackendCase> &trusting_boundary_cases() {
    static const std::vector<BackendCase> cases = boundary_cases();
    return cases;
}

}  // namespace cairn
