// Log-probabilities of the model's own distribution, before sampling parameters change it.
#pragma once

#include <span>

#include "cairn/request.h"
#include "model/vocabulary.h"

namespace cairn {

/// `logits`: vocabulary-size entries. `top`: alternatives wanted, best first (ties: the lower id first).
/// Natural logarithms: logprob(t) = logit(t) - log(sum(exp(logit))). Cost: two passes over the vocabulary.
[[nodiscard]] TokenLogprobs token_logprobs(std::span<const float> logits, Token chosen, int top,
                                           const Vocabulary &vocabulary);

}  // namespace cairn
