// The scheduler: which tokens the next step computes. Pure: facts in, a plan out, no clock, no backend.
//
//     auto plan = plan_step(facts, {.tokens = 512, .prompt_tokens_beside_decode = 64});
//
// Decode goes first, one token of each running sequence, so that no stream starves behind a long prompt. The rest of
// the step's tokens goes to prefill, by `urgency`. A slice never crosses a planned checkpoint: the state at that
// position has to exist by itself, however wide the step is.
//
//     tokens   |--- computed ---|== slice ==|........| size
//                                           ^ cut: the next planned checkpoint, or the end
//
// The last token of a sequence is the one whose logits are wanted: only a slice that reaches it has an output.
//
// Fairness (prefill_urgency): as if each prompt token took the time it takes, a prompt is due when it would be done had
// it been alone since it came. So of prompts that came together the shorter is first, and one that came later passes a
// long one only while that one is more than the newcomer's length from its end: a prompt waits for others at most as
// long as they are shorter than what is left of it, and nobody for ever.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "cairn/types.h"

namespace cairn {

/// One running sequence, in order of arrival.
struct SequenceFacts {
    TokenPos computed = 0;  ///< tokens whose state the backend holds
    TokenPos size = 0;      ///< tokens known: prompt and what was generated; more than `computed`
    TokenPos cut = 0;       ///< next position at which a slice must end; > computed, <= size
    bool waits = false;     ///< another one computes what it needs first: nothing of it is planned
    double urgency = 0;     ///< prefill_urgency(): smaller ones first, equals in order of arrival
};

struct StepLimits {
    TokenPos tokens = 1;                       ///< most of the step; at least 1
    TokenPos prompt_tokens_beside_decode = 1;  ///< most of prompts where any sequence decodes; at least 1
};

/// Tokens [span.begin, span.end) of one sequence.
struct Slice {
    std::size_t sequence = 0;  ///< index into the facts
    TokenSpan span;
    bool output = false;

    friend bool operator==(const Slice &, const Slice &) = default;
};

/// At most `limits.tokens` tokens in all; empty only when no sequence is there that does not wait. Each sequence has at
/// most one slice.
[[nodiscard]] std::vector<Slice> plan_step(std::span<const SequenceFacts> sequences, StepLimits limits);

/// When a prompt is due: `remaining` tokens to compute, submitted at `submitted_s`. Unit: seconds on that clock.
[[nodiscard]] double prefill_urgency(double submitted_s, TokenPos remaining, double seconds_per_token) noexcept;

/// How many prompt tokens fit a step that should take `seconds`, between `least` and `most`. `tokens_per_s`: 0 where it
/// is not known yet, which gives `least`.
[[nodiscard]] TokenPos tokens_within(double seconds, double tokens_per_s, TokenPos least, TokenPos most) noexcept;

}  // namespace cairn
