#include "engine/active_request.h"

#include <algorithm>

#include "base/check.h"

namespace cairn {

TokenPos ActiveRequest::next_cut() const {
    for (const PlannedCheckpoint &checkpoint : checkpoints) {
        if (checkpoint.pos > computed) return std::min(checkpoint.pos, size());
    }
    return size();
}

void ActiveRequest::cut_at(TokenPos pos) {
    CAIRN_CHECK(pos > reached() && pos <= size(), "a cut at {} of {} tokens, {} of them reached", pos, size(),
                reached());
    const auto behind = std::find_if(checkpoints.begin(), checkpoints.end(),
                                     [pos](const PlannedCheckpoint &other) { return other.pos >= pos; });
    if (behind != checkpoints.end() && behind->pos == pos) return;
    checkpoints.insert(behind, {pos, CheckpointKind::fork});
}

std::optional<CheckpointKind> ActiveRequest::checkpoint_here() const {
    for (const PlannedCheckpoint &checkpoint : checkpoints) {
        if (checkpoint.pos == computed) return checkpoint.kind;
    }
    return std::nullopt;
}

void ActiveRequest::emit(const TextAssembler::Output &output) {
    if (output.text.empty() && output.tokens == 0) return;
    const auto take = [&](auto &held) {
        const auto end = held.begin() + static_cast<std::ptrdiff_t>(std::min(output.tokens, held.size()));
        std::remove_reference_t<decltype(held)> out(std::make_move_iterator(held.begin()),
                                                    std::make_move_iterator(end));
        held.erase(held.begin(), end);
        return out;
    };
    const auto logprobs = take(held_logprobs);
    const auto out_tokens = take(held_tokens);
    if (events.delta) events.delta(output.text, logprobs, out_tokens);
}

}  // namespace cairn
