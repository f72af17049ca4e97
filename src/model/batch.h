// Batch: the tokens of one step as a value. The scheduler makes it, the backend runs it.
//
// Tokens of one sequence stand in ascending positions without gaps and continue the sequence's state; sequences may
// be mixed. `output` marks the tokens whose next-token logits are wanted, `logits(i)` then counts outputs in order.
#pragma once

#include <vector>

#include "cairn/types.h"
#include "model/seq_id.h"

namespace cairn {

struct BatchToken {
    Token token = 0;
    TokenPos pos = 0;  ///< position of this token: the state holds `pos` tokens before it
    SeqId seq;
    bool output = false;
};

using Batch = std::vector<BatchToken>;

}  // namespace cairn
