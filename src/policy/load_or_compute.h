// Whether state is read from a slow tier or computed again: facts in, verdict out.
//
//     const LoadVerdict verdict = load_or_compute({.bytes = chain_bytes, .bytes_per_s = disk_read.per_second(now),
//                                                  .fixed_s = 0.002, .tokens_saved = depth - depth_in_ram,
//                                                  .seconds_per_token = prefill.seconds_per_unit(now)});
//     if (verdict == LoadVerdict::compute) count it, and resume at depth_in_ram;
//
//     load_s    = fixed_s + bytes / bytes_per_s        all that has to be read, ancestors' rows included
//     compute_s = tokens_saved * seconds_per_token     beyond what the next faster alternative gives anyway
//
// Loads where load_s * kLoadMargin <= compute_s. The margin is for what the sum leaves out: estimates are off by some
// tens of per cent, and what is read takes room that others have to leave.
// A rate that is not known: load, since that measures it. Nothing to save: compute, known or not.
//
// Thread rule: free functions without state. Facts that make no sense (negative, not a number) count as not known.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "cairn/types.h"

namespace cairn {

inline constexpr double kLoadMargin = 1.25;

enum class LoadVerdict : std::uint8_t { load, compute };

struct LoadFacts {
    std::size_t bytes = 0;                         ///< to read
    std::optional<double> bytes_per_s = {};        ///< of reading, as measured
    double fixed_s = 0;                            ///< per read: opening, seeking, restoring
    TokenPos tokens_saved = 0;                     ///< beyond the next faster alternative
    std::optional<double> seconds_per_token = {};  ///< of prefill, as measured
};

[[nodiscard]] LoadVerdict load_or_compute(const LoadFacts &facts) noexcept;

/// The two sides, for the log; none where the rate is not known.
[[nodiscard]] std::optional<double> load_seconds(const LoadFacts &facts) noexcept;
[[nodiscard]] std::optional<double> compute_seconds(const LoadFacts &facts) noexcept;

}  // namespace cairn
