#include "sim/sim_sampler.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <utility>

namespace cairn {

SimSampler::SimSampler(const SamplingParams &params)
    : temperature_(params.temperature), seed_(params.seed.value_or(0)), bias_(params.logit_bias) {}

void SimSampler::accept(Token) {
    ++accepted_;
}

Token SimSampler::sample(std::span<const float> logits) {
    std::vector<float> scores(logits.begin(), logits.end());
    for (const auto &[token, bias] : bias_) {
        if (token >= 0 && std::cmp_less(token, scores.size())) scores[static_cast<std::size_t>(token)] += bias;
    }
    const auto best = std::max_element(scores.begin(), scores.end());  // the first of equals
    if (temperature_ <= 0.0f) return static_cast<Token>(best - scores.begin());

    const float top = *best;
    std::vector<double> weights;
    weights.reserve(scores.size());
    for (const float score : scores)
        weights.push_back(std::exp(double{score - top} / double{temperature_}));
    std::seed_seq sequence{seed_, accepted_};
    std::mt19937_64 random(sequence);
    return static_cast<Token>(std::discrete_distribution<std::size_t>(weights.begin(), weights.end())(random));
}

}  // namespace cairn
