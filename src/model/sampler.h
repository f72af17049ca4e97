// Sampler: picks the next token of one sequence from its logits.
//
// Made by a backend from SamplingParams, owned by one request, used on the engine's thread. Deterministic for a given
// seed and history. The history for penalties starts with the prompt's tokens, as llama-server does.
#pragma once

#include <span>

#include "cairn/types.h"

namespace cairn {

class Sampler {
public:
    virtual ~Sampler() = default;
    /// Tells the sampler of a token of the history (prompt or generated), for the penalties.
    virtual void accept(Token token) = 0;
    /// The next token. `logits` has vocabulary-size entries and stays untouched. Does not accept it.
    [[nodiscard]] virtual Token sample(std::span<const float> logits) = 0;
};

}  // namespace cairn
