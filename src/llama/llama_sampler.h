// LlamaSampler: model/sampler.h as a chain of libllama's samplers, in llama-server's order:
// logit bias, penalties, top-k, top-p, min-p, temperature, then a draw; temperature 0 is the most likely token.
#pragma once

#include <vector>

#include "cairn/request.h"
#include "llama/llama_handles.h"
#include "model/sampler.h"

namespace cairn {

class LlamaSampler final : public Sampler {
public:
    /// `context`: tokens of a sequence at most, what penalty_last_n = -1 means.
    LlamaSampler(TokenPos vocabulary_size, TokenPos context, const SamplingParams &params);

    void accept(Token token) override;
    Token sample(std::span<const float> logits) override;

private:
    SamplerHandle chain_;
    bool plain_greedy_;  ///< nothing changes the order of the logits: their maximum is the answer
    std::vector<llama_token_data> candidates_;
};

}  // namespace cairn
