#include "policy/disk_admission.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

namespace cairn {

namespace {

constexpr std::string_view kTextVersion = "reuse1";

bool is_shared(CheckpointKind kind) noexcept {
    return kind == CheckpointKind::system_end || kind == CheckpointKind::fork;
}

/// The next number of `text`, which starts with a space. Takes it off.
std::optional<double> take_number(std::string_view &text) noexcept {
    if (text.empty() || text.front() != ' ') return std::nullopt;
    double number = 0;
    const auto [rest, error] = std::from_chars(text.data() + 1, text.data() + text.size(), number);
    if (error != std::errc{} || !std::isfinite(number) || number < 0) return std::nullopt;
    text.remove_prefix(static_cast<std::size_t>(rest - text.data()));
    return number;
}

}  // namespace

const char *name_of(DiskVerdict verdict) noexcept {
    switch (verdict) {
        case DiskVerdict::write: return "write";
        case DiskVerdict::wait: return "wait";
        case DiskVerdict::superseded: return "superseded";
        case DiskVerdict::seldom_reused: return "seldom_reused";
        case DiskVerdict::slower_than_computing: return "slower_than_computing";
    }
    return "unknown";
}

std::size_t ReuseRecord::slot(ReuseClass who) noexcept {
    const auto kind = std::min(static_cast<std::size_t>(who.kind), kKinds - 1);
    return kind * 2 + (who.continued ? 1 : 0);
}

void ReuseRecord::fade(Tally &tally, double now_s) noexcept {
    const double kept = std::exp2(-std::max(0.0, now_s - tally.at_s) / kReuseHalfLifeSeconds);
    tally.snapshots *= kept;
    tally.bytes *= kept;
    tally.used *= kept;
    tally.at_s = std::max(tally.at_s, now_s);
}

void ReuseRecord::offered(ReuseClass who, std::size_t bytes, double now_s) noexcept {
    Tally &tally = tallies_[slot(who)];
    fade(tally, now_s);
    constexpr double kept = 1 - 1 / kMemorySnapshots;
    tally.snapshots = tally.snapshots * kept + 1;
    tally.bytes = tally.bytes * kept + static_cast<double>(bytes);
    tally.used *= kept;
}

void ReuseRecord::used(ReuseClass who, std::size_t bytes, double now_s) noexcept {
    Tally &tally = tallies_[slot(who)];
    fade(tally, now_s);
    // What was offered has faded since, so the sum could grow beyond it.
    tally.used = std::min(tally.used + static_cast<double>(bytes), tally.bytes);
}

double ReuseRecord::useful_share(ReuseClass who, double now_s) const noexcept {
    Tally tally = tallies_[slot(who)];
    fade(tally, now_s);
    // Also where so little is left that their ratio would mean nothing.
    if (!(tally.snapshots > 1e-6) || !(tally.bytes > 0)) return 1;
    const double prior = kPriorSnapshots * tally.bytes / tally.snapshots;
    return std::min(1.0, (prior + tally.used) / (prior + tally.bytes));
}

std::string ReuseRecord::to_text(double now_s) const {
    std::string text(kTextVersion);
    for (Tally tally : tallies_) {
        fade(tally, now_s);
        text += fmt::format(" {:.9g} {:.9g} {:.9g}", tally.snapshots, tally.bytes, tally.used);
    }
    return text;
}

ReuseRecord ReuseRecord::parse(std::string_view text, double now_s) noexcept {
    if (text.substr(0, kTextVersion.size()) != kTextVersion) return {};
    text.remove_prefix(kTextVersion.size());
    ReuseRecord record;
    for (Tally &tally : record.tallies_) {
        const auto snapshots = take_number(text);
        const auto bytes = take_number(text);
        const auto used = take_number(text);
        if (!snapshots || !bytes || !used || *used > *bytes || *snapshots > kMemorySnapshots) return {};
        tally = {*snapshots, *bytes, *used, now_s};
    }
    return text.empty() ? record : ReuseRecord{};
}

DiskVerdict admit_to_disk(const DiskFacts &facts, const ReuseRecord &record, double now_s) noexcept {
    const bool shared = is_shared(facts.who.kind);
    if (facts.wanted) return DiskVerdict::write;
    if (load_or_compute(facts.read_back) == LoadVerdict::compute) return DiskVerdict::slower_than_computing;
    if (facts.hits >= (shared ? 1u : 2u)) return DiskVerdict::write;
    if (facts.superseded && !shared) return DiskVerdict::superseded;
    if (!(facts.idle_s >= kSettleSeconds)) return DiskVerdict::wait;
    if (facts.hits > 0) return DiskVerdict::write;
    return record.useful_share(facts.who, now_s) >= 1 / kMaxWriteRatio ? DiskVerdict::write
                                                                       : DiskVerdict::seldom_reused;
}

}  // namespace cairn
