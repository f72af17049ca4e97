#include "app/bench_progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <string>

namespace cairn {
namespace {

/// Ends what stands on a terminal's line.
constexpr const char *kClearLine = "\r\x1b[K";

std::string finished_text(const WorkloadResult &result) {
    const Summary &s = result.summary;
    if (!result.skipped.empty()) return fmt::format("{}: skipped: {}", result.name, result.skipped);
    std::string text = fmt::format("{}: {} requests in {:.1f} s, {:.2f} s to the first token (median)", result.name,
                                   s.requests, s.wall_s, s.first_token_p50_s);
    return s.failed == 0 ? text : text + fmt::format("; {} failed", s.failed);
}

}  // namespace

BenchPrinter::BenchPrinter(Env &env) : env_(env), terminal_(isatty(STDERR_FILENO) == 1) {}

void BenchPrinter::operator()(const BenchProgress &at) {
    if (at.answered == 0 && at.finished.empty()) begun_at_s_ = env_.now_s();
    const std::string place = at.workload == 0 ? "" : fmt::format("[{}/{}] ", at.workload, at.workloads);
    for (const WorkloadResult *finished : at.finished) {
        std::fprintf(stderr, "%s%s%s\n", terminal_ ? kClearLine : "", place.c_str(), finished_text(*finished).c_str());
    }
    if (!at.finished.empty() || !terminal_) return;
    std::fprintf(stderr, "%s%s%s: %zu of %zu requests, %.0f s", kClearLine, place.c_str(), at.name.c_str(), at.answered,
                 at.requests, env_.now_s() - begun_at_s_);
    // No line of its own follows the measuring of the speed.
    if (at.workload == 0 && at.answered == at.requests) std::fputs(kClearLine, stderr);
    std::fflush(stderr);
}

}  // namespace cairn
