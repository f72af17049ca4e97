#include "engine/token_logprobs.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

namespace cairn {

TokenLogprobs token_logprobs(std::span<const float> logits, Token chosen, int top, const Vocabulary &vocabulary) {
    const float largest = *std::max_element(logits.begin(), logits.end());
    double sum = 0;
    for (const float logit : logits)
        sum += std::exp(static_cast<double>(logit) - largest);
    const double normalizer = largest + std::log(sum);
    const auto entry = [&](Token token) {
        return TokenLogprob{token, vocabulary.piece(token, true),
                            static_cast<float>(logits[static_cast<std::size_t>(token)] - normalizer)};
    };
    TokenLogprobs result{entry(chosen), {}};
    if (top <= 0) return result;
    std::vector<Token> order(logits.size());
    std::iota(order.begin(), order.end(), 0);
    const auto count = std::min<std::ptrdiff_t>(top, std::ssize(order));
    std::partial_sort(order.begin(), order.begin() + count, order.end(), [&](Token a, Token b) {
        const float la = logits[static_cast<std::size_t>(a)];
        const float lb = logits[static_cast<std::size_t>(b)];
        return la != lb ? la > lb : a < b;
    });
    for (std::ptrdiff_t i = 0; i < count; ++i)
        result.top.push_back(entry(order[static_cast<std::size_t>(i)]));
    return result;
}

}  // namespace cairn
