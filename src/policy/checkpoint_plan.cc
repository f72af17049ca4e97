#include "policy/checkpoint_plan.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>

namespace cairn {

namespace {

/// Lower is more important: which kind names a position that several claim.
int rank_of(CheckpointKind kind) {
    switch (kind) {
        case CheckpointKind::system_end: return 0;
        case CheckpointKind::last_user: return 1;
        case CheckpointKind::last_user_end: return 2;
        case CheckpointKind::prompt_end: return 3;
        case CheckpointKind::answer_end: return 4;
        case CheckpointKind::fork: return 5;
        case CheckpointKind::interval: return 6;
    }
    return 7;
}

class Plan {
public:
    Plan(TokenPos begin, TokenPos end) : begin_(begin), end_(end) {}

    void keep(TokenPos pos, CheckpointKind kind) {
        if (!contains(pos)) return;
        const auto [entry, inserted] = kinds_.emplace(pos, kind);
        if (!inserted && rank_of(kind) < rank_of(entry->second)) entry->second = kind;
    }
    [[nodiscard]] bool contains(TokenPos pos) const { return pos > begin_ && pos < end_; }
    /// Tokens from what lies at or before `pos` (a kept checkpoint, the resume point, the start) to it.
    [[nodiscard]] TokenPos gap_before(TokenPos pos) const {
        const auto after = kinds_.upper_bound(pos);
        return pos - (after == kinds_.begin() ? begin_ : std::prev(after)->first);
    }
    /// Tokens from `pos` to the next kept checkpoint, or to the end of the prompt.
    [[nodiscard]] TokenPos gap_after(TokenPos pos) const {
        const auto next = kinds_.lower_bound(pos);
        return (next == kinds_.end() ? end_ : next->first) - pos;
    }
    [[nodiscard]] std::vector<PlannedCheckpoint> checkpoints() const {
        std::vector<PlannedCheckpoint> result;
        for (const auto &[pos, kind] : kinds_)
            result.push_back({pos, kind});
        return result;
    }

private:
    TokenPos begin_;
    TokenPos end_;
    std::map<TokenPos, CheckpointKind> kinds_;
};

void keep_intervals(Plan &plan, TokenPos prompt_size, TokenPos interval, TokenPos resume_pos, TokenPos min_spacing) {
    if (interval <= 0) return;
    const TokenPos spacing = std::min(min_spacing, interval);
    // Judged against what was kept before, not against each other: all of a kind are equals.
    std::vector<TokenPos> kept;
    for (std::int64_t pos = (resume_pos / std::int64_t{interval} + 1) * interval; pos < prompt_size; pos += interval) {
        const auto at = static_cast<TokenPos>(pos);
        if (plan.gap_before(at) >= spacing && plan.gap_after(at) >= spacing) kept.push_back(at);
    }
    for (const TokenPos pos : kept)
        plan.keep(pos, CheckpointKind::interval);
}

}  // namespace

std::vector<PlannedCheckpoint> plan_checkpoints(TokenPos prompt_size, std::span<const CheckpointHint> hints,
                                                TokenPos interval, std::optional<TokenPos> fork_pos,
                                                TokenPos resume_pos, TokenPos min_spacing) {
    const TokenPos begin = std::max<TokenPos>(resume_pos, 0);
    Plan plan(begin, prompt_size);
    for (const auto &hint : hints) {
        const bool near = begin > 0 && hint.pos - begin < kMinHintSpacing;
        if (!near || hint.kind != CheckpointKind::last_user) plan.keep(hint.pos, hint.kind);
    }
    plan.keep(prompt_size - 1, CheckpointKind::prompt_end);
    if (fork_pos && plan.contains(*fork_pos) && plan.gap_before(*fork_pos) >= min_spacing) {
        plan.keep(*fork_pos, CheckpointKind::fork);
    }
    keep_intervals(plan, prompt_size, interval, begin, min_spacing);
    return plan.checkpoints();
}

}  // namespace cairn
