#include "api/api.h"

namespace cairn {

namespace {

/// True where the report knows how far the prompt agreed with what was cached.
bool has_difference(MissReason reason) {
    return reason == MissReason::diverged || reason == MissReason::no_checkpoint || reason == MissReason::evicted ||
           reason == MissReason::restore_failed;
}

std::string header_of(const ReuseReport &report) {
    std::string text = fmt::format("{}; cached={}; prompt={}", report.cached_tokens > 0 ? "hit" : "miss",
                                   report.cached_tokens, report.prompt_tokens);
    if (report.tier) text += fmt::format("; tier={}", name_of(*report.tier));
    if (report.reason != MissReason::none) text += fmt::format("; reason={}", name_of(report.reason));
    if (has_difference(report.reason)) text += fmt::format("; difference={}", report.first_difference);
    return text;
}

}  // namespace

std::string cache_header(const std::vector<ReuseReport> &reports) {
    std::string header;
    for (const ReuseReport &report : reports) {
        if (!header.empty()) header += ", ";
        header += header_of(report);
    }
    return header;
}

}  // namespace cairn
