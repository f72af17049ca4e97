#include "bench/ideal.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

namespace cairn {
namespace {

long new_tokens_of(const StageRequest &request, std::size_t shared) {
    const auto units = static_cast<double>(request.prompt.size());
    const double part = (units - static_cast<double>(shared)) / units;
    return std::max(1L, std::lround(part * static_cast<double>(request.prompt_tokens)));
}

/// Serves what starts at once, the fewest new tokens first. `waiting`: indices of `requests`.
void serve_wave(const SeenPrefixes &seen, std::span<const StageRequest> requests, std::vector<std::size_t> waiting,
                std::vector<Ideal> &ideals) {
    std::vector<std::size_t> shared;
    for (const std::size_t i : waiting)
        shared.push_back(seen.longest(requests[i].prompt));
    long served_requests = 0, served_tokens = 0;
    while (!waiting.empty()) {
        std::size_t next = 0;
        for (std::size_t k = 1; k < waiting.size(); ++k) {
            if (new_tokens_of(requests[waiting[k]], shared[k]) < new_tokens_of(requests[waiting[next]], shared[next]))
                next = k;
        }
        const std::size_t served = waiting[next];
        Ideal &ideal = ideals[served];
        ideal.new_tokens = new_tokens_of(requests[served], shared[next]);
        ideal.waited_requests = ++served_requests;
        ideal.waited_tokens = served_tokens += ideal.new_tokens;
        waiting.erase(waiting.begin() + static_cast<std::ptrdiff_t>(next));
        shared.erase(shared.begin() + static_cast<std::ptrdiff_t>(next));
        for (std::size_t k = 0; k < waiting.size(); ++k)
            shared[k] = std::max(shared[k], common_prefix(requests[waiting[k]].prompt, requests[served].prompt));
    }
}

/// Indices of what is served together, group after group.
std::vector<std::vector<std::size_t>> waves_of(std::span<const StageRequest> requests, bool together) {
    std::vector<std::vector<std::size_t>> waves;
    for (std::size_t i = 0; i < requests.size(); ++i) {
        if (requests[i].prompt.empty()) continue;
        const std::size_t wave = together ? requests[i].wave : i;
        if (waves.size() <= wave) waves.resize(wave + 1);
        waves[wave].push_back(i);
    }
    return waves;
}

}  // namespace

std::size_t common_prefix(const Units &a, const Units &b) {
    const auto differ = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
    return static_cast<std::size_t>(differ.first - a.begin());
}

std::size_t SeenPrefixes::longest(const Units &text) const {
    std::size_t longest = 0;
    for (const Units &one : seen_)
        longest = std::max(longest, common_prefix(text, one));
    return longest;
}

std::vector<Ideal> ideal_of_stage(SeenPrefixes &seen, std::span<const StageRequest> requests, bool together) {
    std::vector<Ideal> ideals(requests.size());
    for (const auto &wave : waves_of(requests, together)) {
        serve_wave(seen, requests, wave, ideals);
        for (const std::size_t i : wave)
            seen.add(requests[i].answered);
    }
    return ideals;
}

}  // namespace cairn
