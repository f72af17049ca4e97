// The capability probe: finds out, on a few tokens at load, how the state of a model can be captured.
//
// It runs an uninterrupted continuation and then the same after parking, after rows + boundary were captured and put
// into another sequence, after the whole blob was, and after a rewind; what gives the same logits is a capability.
// Nothing is assumed from a model's name. Sizes per token come from payloads of two lengths.
//
// Cost: some 40 tokens and one small context. Errors: device, where the model cannot compute at all.
#pragma once

#include <llama.h>

#include "cairn/error.h"
#include "state/layout.h"

namespace cairn {

/// `params`: those of the context that will serve; the probe makes a small one of the same types.
/// The layout's fingerprint is left empty. mode none, with the reason, is a success.
[[nodiscard]] Result<StateLayout> probe_capabilities(llama_model *model, const llama_context_params &params,
                                                     const std::string &architecture);

}  // namespace cairn
