// SimSampler: the simulated model's sampler. Honours temperature (0: the most likely token, the lowest id among
// equals), logit_bias and seed; a draw depends on the seed and on how many tokens were accepted, so that it can be
// repeated. Penalties, top_k, top_p and min_p are not simulated.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "cairn/request.h"
#include "model/sampler.h"

namespace cairn {

class SimSampler final : public Sampler {
public:
    explicit SimSampler(const SamplingParams &params);

    void accept(Token token) override;
    [[nodiscard]] Token sample(std::span<const float> logits) override;

private:
    float temperature_;
    std::uint64_t seed_;
    std::uint64_t accepted_ = 0;
    std::vector<std::pair<Token, float>> bias_;
};

}  // namespace cairn
