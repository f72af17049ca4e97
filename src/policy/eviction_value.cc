#include "policy/eviction_value.h"

#include <algorithm>
#include <cmath>

namespace cairn {

namespace {

struct Habit {
    double odds;   // that a fresh one is used again
    double tau_s;  // median delay of those that are
};

// Measured on public traces with room for everything (bench/disk_replay), used at all and median delay: ends of agents'
// answers 0.87 and 9 s, nine in ten within 116 s; of chats' 0.41 and 123 s; of chats' prompts 0.26; ends that were
// passed 0.004 to 0.05; intervals 0.01 to 0.07; forks 0.18 to 0.74 with a long tail; ends of system prompts 0.19, where
// each was one user's, with half of the delays above 119 s and a tenth above 4,000 s.
constexpr Habit kTip{1, 60};
constexpr Habit kPassed{0.03, 200};
constexpr Habit kInterval{0.03, 300};
constexpr Habit kFork{0.5, 1200};
constexpr Habit kSystemEnd{1, 3600};
constexpr Habit kPassedUser{0.25, 600};  // a template that drops reasoning comes back to it; the traces do not tell

Habit habit_of(const SnapshotFacts &facts) noexcept {
    switch (facts.kind) {
        case CheckpointKind::system_end: return kSystemEnd;
        case CheckpointKind::fork: return kFork;
        case CheckpointKind::last_user:
        case CheckpointKind::last_user_end: return facts.has_descendants ? kPassedUser : kTip;
        case CheckpointKind::prompt_end:
        case CheckpointKind::answer_end: return facts.has_descendants ? kPassed : kTip;
        case CheckpointKind::interval: return kInterval;
    }
    return kInterval;
}

// Where nothing has been measured: what a mid-sized model takes on a mid-sized machine. All compare by the same one.
constexpr double kUnmeasuredSecondsPerToken = 1e-3;
// Keeps the value finite where leaving frees nothing.
constexpr double kOverheadBytes = 4096;

// Times beyond it are mistakes, and would make products vanish.
constexpr double kMostSeconds = 1e12;

double positive_or_zero(double seconds) noexcept {
    return seconds > 0 ? std::min(seconds, kMostSeconds) : 0;  // not a number compares false
}

double mean_interval_s(const SnapshotFacts &facts) noexcept {
    if (!facts.published_s || facts.hits == 0) return 0;
    return positive_or_zero(facts.last_use_s - *facts.published_s) / static_cast<double>(facts.hits);
}

double usual_wait_s(const SnapshotFacts &facts) noexcept {
    return habit_of(facts).tau_s + mean_interval_s(facts);
}

double age_s(const SnapshotFacts &facts) noexcept {
    return positive_or_zero(facts.now_s - facts.last_use_s);
}

double seconds_saved(const SnapshotFacts &facts) noexcept {
    const double per_token = facts.seconds_per_token > 0 ? facts.seconds_per_token : kUnmeasuredSecondsPerToken;
    // Never zero, or recency would not order those that save nothing.
    const double computed = per_token * static_cast<double>(std::max<TokenPos>(facts.tokens_saved, 1));
    if (!facts.slower_copy_seconds) return computed;
    const double copied = std::max(positive_or_zero(*facts.slower_copy_seconds), 1e-6);
    return std::min(computed, copied);
}

/// Of the path up to here, what lies between this snapshot and the next shallower one: the chance that prompts part
/// between two positions goes by the logarithm of their ratio, which is about this.
double depth_share(const SnapshotFacts &facts) noexcept {
    if (facts.kind != CheckpointKind::interval || facts.position <= 0) return 1;
    const double share = static_cast<double>(std::max<TokenPos>(facts.tokens_saved, 1)) / facts.position;
    return std::min(share, 1.0);
}

}  // namespace

double chance_of_reuse(const SnapshotFacts &facts) noexcept {
    const Habit habit = habit_of(facts);
    const double fading = 1 + age_s(facts) / usual_wait_s(facts);
    const double odds = habit.odds * depth_share(facts) * std::sqrt(1 + static_cast<double>(facts.hits)) / fading;
    return odds / (1 + odds);
}

double eviction_value(const SnapshotFacts &facts) noexcept {
    const double bytes = static_cast<double>(facts.bytes) + kOverheadBytes;
    const double wait_s = usual_wait_s(facts) + age_s(facts);
    return seconds_saved(facts) * chance_of_reuse(facts) / (bytes * std::sqrt(wait_s));
}

}  // namespace cairn
