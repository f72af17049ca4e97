// Rate: how fast something has been lately, in bytes or tokens per second, or nothing where that is not known.
//
//     Rate disk_read(kDiskRead);
//     disk_read.add(payload_bytes, seconds, env.now_s());
//     std::optional<double> bytes_per_s = disk_read.per_second(env.now_s());
//
// What it is: the ratio of two sums, amounts and seconds, in which older samples count less:
//     by amount   `memory` units of new amount halve the weight of what came before. So a large sample counts for what
//                 it is, and a burst of small ones does not push it out. The ratio is what a long transfer would see.
//                 No more than `memory` units are ever remembered.
//     smallest    samples below it are ignored: their time is overhead, not rate.
//     by time     `half_life_s` halves what is remembered. Once less than `smallest` is left the rate is unknown again.
// Why forget: an estimate that says "too slow" stops the very thing that would measure it again. A disk that was busy
// for a minute must get another try: even a full memory is gone after log2(memory / smallest) half-lives.
//
// Ownership: a plain value. Threads: none of its own. Time is the caller's, on any clock that does not go back; where
// it does, no time has passed. Amounts and seconds that are not positive and finite are ignored.
#pragma once

#include <optional>

namespace cairn {

struct RateMemory {
    double smallest = 1;       ///< units: samples below are ignored, and less than this remembered is unknown
    double memory = 1;         ///< units of new amount that halve the weight of the old
    double half_life_s = 600;  ///< greater than 0
};

/// Bytes read from a disk: pieces below 256 KiB are seeks; what was too slow is tried again after 11 minutes.
inline constexpr RateMemory kDiskRead{.smallest = 256.0 * 1024, .memory = 512.0 * 1024 * 1024, .half_life_s = 60};
/// Tokens computed: fewer than 32 at once are decoding rather than prefill.
inline constexpr RateMemory kPrefill{.smallest = 32, .memory = 8192, .half_life_s = 3600};
/// Requests that come to an end: a few dozen, so that a queue of long ones is not judged by the short ones before.
inline constexpr RateMemory kEndings{.smallest = 1, .memory = 32, .half_life_s = 600};

class Rate {
public:
    explicit Rate(RateMemory memory) noexcept;

    void add(double amount, double seconds, double now_s) noexcept;
    /// None until something was measured, and again once it is too old.
    [[nodiscard]] std::optional<double> per_second(double now_s) const noexcept;
    /// Its inverse.
    [[nodiscard]] std::optional<double> seconds_per_unit(double now_s) const noexcept;

private:
    [[nodiscard]] double faded(double now_s) const noexcept;  // weight of the sums at now_s

    RateMemory memory_;
    double amount_ = 0;  // as of at_s_
    double seconds_ = 0;
    double at_s_ = 0;
};

}  // namespace cairn
