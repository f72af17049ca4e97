#include "sim/sim_facts.h"

#include <algorithm>

#include "sim/sim_backend.h"
#include "sim/sim_payload.h"
#include "sim/sim_vocabulary.h"

namespace cairn {
namespace {

constexpr float kForced = 1000.0f;

Fingerprint fingerprint_of(const SimConfig &config) {
    FingerprintBuilder facts;
    facts.add("backend", std::string("sim")).add("layout", kStateLayoutVersion);
    facts.add("family", std::string(name_of(config.family))).add("weights", config.weights);
    facts.add("vocabulary", std::int64_t{config.vocabulary}).add("window", std::int64_t{config.window});
    facts.add("row_bytes", static_cast<std::int64_t>(config.row_bytes));
    facts.add("boundary_bytes", static_cast<std::int64_t>(config.boundary_bytes));
    return facts.finish();
}

}  // namespace

StateLayout sim_layout(const SimConfig &config) {
    StateLayout layout;
    layout.fingerprint = fingerprint_of(config);
    const SimFamily family = config.family;
    layout.mode = CaptureMode::segmented;
    if (family == SimFamily::whole) {
        layout.mode = CaptureMode::whole;
        layout.why = "The simulated family is captured whole only.";
    }
    if (family == SimFamily::none) {
        layout.mode = CaptureMode::none;
        layout.why = "The simulated family's states cannot be carried over.";
        return layout;
    }
    layout.has_rows = family != SimFamily::recurrent && family != SimFamily::whole;
    layout.has_boundary = family != SimFamily::attention;
    layout.can_rewind = family == SimFamily::attention;
    layout.can_park = true;
    layout.has_sliding_window = family == SimFamily::sliding_window;
    layout.row_bytes = family == SimFamily::recurrent ? 0 : config.row_bytes;
    layout.boundary_bytes = layout.has_boundary ? config.boundary_bytes : 0;
    return layout;
}

Status check_sim_config(const SimConfig &config) {
    const auto wrong = [](const char *what) {
        return fail(ErrorCode::invalid_argument, "The simulated backend cannot be made: {} is outside its bounds.",
                    what);
    };
    const bool windowed = config.family == SimFamily::sliding_window;
    if (config.vocabulary < SimVocabulary::kFirstWord) return wrong("vocabulary");
    if (config.context < 1) return wrong("context");
    if (config.pool_cells < 1) return wrong("pool_cells");
    if (config.live_sequences < 1) return wrong("live_sequences");
    if (config.parked_sequences < 0) return wrong("parked_sequences");
    if (config.batch_tokens < 1) return wrong("batch_tokens");
    if (config.row_bytes < 8) return wrong("row_bytes");
    if (config.boundary_bytes < 64) return wrong("boundary_bytes");
    if (config.window < 1 || config.window > 4096) return wrong("window");
    const std::size_t window_bytes = SimPayloads::kHeader + 8 * static_cast<std::size_t>(config.window);
    if (windowed && config.boundary_bytes < window_bytes) return wrong("boundary_bytes");
    return {};
}

ModelInfo sim_info(const SimConfig &config) {
    ModelInfo info;
    info.name = config.weights;
    info.architecture = std::string("sim-") + name_of(config.family);
    info.description = info.architecture;
    info.trained_context = config.context;
    return info;
}

std::vector<float> sim_logits(const SimConfig &config, const SimState &state) {
    std::vector<float> logits = state.logits();
    logits[SimVocabulary::kTurnEnd] += config.end_bias;
    logits[SimVocabulary::kTextEnd] += config.end_bias;
    if (config.forced_token) {
        if (const auto token = config.forced_token(state.length())) logits[static_cast<std::size_t>(*token)] += kForced;
    }
    return logits;
}

std::vector<float> sim_logits(const SimConfig &config, TokenView tokens) {
    SimState state{SimModel(config)};
    for (const Token token : tokens)
        state.advance(token);
    return sim_logits(config, state);
}

Tokens sim_continuation(const SimConfig &config, TokenView prompt, TokenPos count) {
    SimState state{SimModel(config)};
    for (const Token token : prompt)
        state.advance(token);
    Tokens continuation;
    for (TokenPos i = 0; i < count; ++i) {
        const std::vector<float> logits = sim_logits(config, state);
        const auto best = std::max_element(logits.begin(), logits.end());
        continuation.push_back(static_cast<Token>(best - logits.begin()));
        state.advance(continuation.back());
    }
    return continuation;
}

}  // namespace cairn
