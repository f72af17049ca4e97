// The scheduler: which tokens the next step computes. Pure: facts in, a plan out, no clock, no backend.
//
// Decode goes first, one token of each running sequence, so that no stream starves behind a long prompt. The rest of
// the step's tokens goes to prefill, in order of arrival. A slice never crosses a planned checkpoint: the state at that
// position has to exist by itself, however wide the step is.
//
//     tokens   |--- computed ---|== slice ==|........| size
//                                           ^ cut: the next planned checkpoint, or the end
//
// The last token of a sequence is the one whose logits are wanted: only a slice that reaches it has an output.
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
};

/// Tokens [span.begin, span.end) of one sequence.
struct Slice {
    std::size_t sequence = 0;  ///< index into the facts
    TokenSpan span;
    bool output = false;

    friend bool operator==(const Slice &, const Slice &) = default;
};

/// At most `most_tokens` tokens in all; empty only when there is no sequence. Each sequence has at most one slice.
[[nodiscard]] std::vector<Slice> plan_step(std::span<const SequenceFacts> sequences, TokenPos most_tokens);

}  // namespace cairn
