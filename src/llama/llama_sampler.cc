#include "llama/llama_sampler.h"

#include <algorithm>

#include "base/check.h"

namespace cairn {

namespace {

bool has_penalties(const SamplingParams &params) {
    return params.penalty_last_n != 0 &&
           (params.repetition_penalty != 1.0f || params.frequency_penalty != 0.0f || params.presence_penalty != 0.0f);
}

SamplerHandle make_chain(TokenPos vocabulary_size, TokenPos context, const SamplingParams &params) {
    auto chain_params = llama_sampler_chain_default_params();
    chain_params.no_perf = true;
    SamplerHandle chain(llama_sampler_chain_init(chain_params));
    const auto add = [&](llama_sampler *sampler) { llama_sampler_chain_add(chain.get(), sampler); };
    if (!params.logit_bias.empty()) {
        std::vector<llama_logit_bias> biases;
        for (const auto &[token, bias] : params.logit_bias)
            biases.push_back({token, bias});
        add(llama_sampler_init_logit_bias(vocabulary_size, static_cast<std::int32_t>(biases.size()), biases.data()));
    }
    if (has_penalties(params)) {
        // The sampler allocates all it is asked to look back on; there is never more than the context.
        const int last_n = params.penalty_last_n < 0 ? context : std::min<int>(params.penalty_last_n, context);
        add(llama_sampler_init_penalties(vocabulary_size, last_n, params.repetition_penalty, params.frequency_penalty,
                                         params.presence_penalty));
    }
    if (params.temperature <= 0.0f) {
        add(llama_sampler_init_greedy());
        return chain;
    }
    if (params.top_k > 0) add(llama_sampler_init_top_k(params.top_k));
    if (params.top_p < 1.0f) add(llama_sampler_init_top_p(params.top_p, 1));
    if (params.min_p > 0.0f) add(llama_sampler_init_min_p(params.min_p, 1));
    add(llama_sampler_init_temp(params.temperature));
    // libllama takes its default seed for "any": a user who gave this very number wants the same answer each time.
    const std::uint32_t seed = params.seed.value_or(0);
    add(llama_sampler_init_dist(seed == LLAMA_DEFAULT_SEED ? LLAMA_DEFAULT_SEED - 1 : seed));
    return chain;
}

}  // namespace

LlamaSampler::LlamaSampler(TokenPos vocabulary_size, TokenPos context, const SamplingParams &params)
    : chain_(make_chain(vocabulary_size, context, params)),
      plain_greedy_(params.temperature <= 0.0f && params.logit_bias.empty() && !has_penalties(params)) {}

void LlamaSampler::accept(Token token) {
    if (!plain_greedy_) llama_sampler_accept(chain_.get(), token);
}

Token LlamaSampler::sample(std::span<const float> logits) {
    if (plain_greedy_) return static_cast<Token>(std::max_element(logits.begin(), logits.end()) - logits.begin());
    candidates_.resize(logits.size());
    for (std::size_t i = 0; i < logits.size(); ++i)
        candidates_[i] = {static_cast<llama_token>(i), logits[i], 0.0f};
    llama_token_data_array array{candidates_.data(), candidates_.size(), -1, false};
    llama_sampler_apply(chain_.get(), &array);
    CAIRN_CHECK(array.selected >= 0 && static_cast<std::size_t>(array.selected) < array.size);
    return array.data[array.selected].id;
}

}  // namespace cairn
