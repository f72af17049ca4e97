#include "engine/scheduler.h"

#include <algorithm>

#include "base/check.h"

namespace cairn {

namespace {

bool decodes(const SequenceFacts &facts) {
    return facts.size - facts.computed == 1;
}

}  // namespace

std::vector<Slice> plan_step(std::span<const SequenceFacts> sequences, TokenPos most_tokens) {
    CAIRN_CHECK(most_tokens > 0);
    std::vector<Slice> plan;
    TokenPos left = most_tokens;
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
    for (std::size_t i = 0; i < sequences.size() && left > 0; ++i) {
        if (!decodes(sequences[i])) take(i, std::min(sequences[i].cut, sequences[i].computed + left));
    }
    return plan;
}

}  // namespace cairn
