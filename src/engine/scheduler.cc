#include "engine/scheduler.h"

#include <algorithm>

#include "base/check.h"

namespace cairn {

namespace {

bool decodes(const SequenceFacts &facts) {
    return !facts.waits && facts.size - facts.computed == 1;
}

std::vector<std::size_t> prefills_by_urgency(std::span<const SequenceFacts> sequences) {
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < sequences.size(); ++i) {
        if (!sequences[i].waits && !decodes(sequences[i])) order.push_back(i);
    }
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return sequences[a].urgency < sequences[b].urgency; });
    return order;
}

}  // namespace

std::vector<Slice> plan_step(std::span<const SequenceFacts> sequences, StepLimits limits) {
    CAIRN_CHECK(limits.tokens > 0 && limits.prompt_tokens_beside_decode > 0);
    std::vector<Slice> plan;
    TokenPos left = limits.tokens;
    const auto take = [&](std::size_t index, TokenPos end) {
        const SequenceFacts &facts = sequences[index];
        plan.push_back({index, {facts.computed, end}, end == facts.size});
        left -= end - facts.computed;
    };
    for (std::size_t i = 0; i < sequences.size() && left > 0; ++i) {
        CAIRN_CHECK(sequences[i].cut > sequences[i].computed && sequences[i].cut <= sequences[i].size,
                    "computed {} cut {} size {}", sequences[i].computed, sequences[i].cut, sequences[i].size);
        if (decodes(sequences[i])) take(i, sequences[i].size);
    }
    if (!plan.empty()) left = std::min(left, limits.prompt_tokens_beside_decode);
    for (const std::size_t i : prefills_by_urgency(sequences)) {
        if (left <= 0) break;
        take(i, std::min(sequences[i].cut, sequences[i].computed + left));
    }
    return plan;
}

double prefill_urgency(double submitted_s, TokenPos remaining, double seconds_per_token) noexcept {
    return submitted_s + static_cast<double>(remaining) * seconds_per_token;
}

TokenPos tokens_within(double seconds, double tokens_per_s, TokenPos least, TokenPos most) noexcept {
    const double tokens = std::min(seconds * tokens_per_s, static_cast<double>(most));
    return std::max(std::min(least, most), static_cast<TokenPos>(tokens));
}

}  // namespace cairn
