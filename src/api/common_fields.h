// The fields that chat completions and completions share: sampling, limits, streaming.
#pragma once

#include <cstddef>

#include "api/api.h"
#include "api/field_reader.h"

namespace cairn {

/// What the choices of one call have in common; `request` lacks its prompt.
struct CommonFields {
    Request request;
    std::size_t n = 1;
    bool stream = false;
    bool include_usage = false;
};

[[nodiscard]] CommonFields read_common(FieldReader &fields, FirstError &error, const ApiContext &context);

/// Appends `common.n` choices with this prompt. context_length where it does not fit; `subject`: what the client calls
/// it.
[[nodiscard]] Status add_choices(ApiCall &call, const CommonFields &common, Tokens prompt,
                                 std::vector<CheckpointHint> checkpoints, const ApiContext &context,
                                 const char *subject);

}  // namespace cairn
