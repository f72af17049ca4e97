// Comparing next-token logits of two runs that should be the same. All entries count: a right answer proves little.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <ostream>
#include <span>
#include <vector>

#include "cairn/types.h"

namespace cairn {

struct LogitsComparison {
    double max_difference = 0;  ///< largest of all entries; infinite where one is not a number
    double scale = 0;           ///< largest absolute value of the reference

    /// What differs by more is another state. Equal states differ by the order in which floats are added.
    static constexpr double kTolerance = 1e-4;
    [[nodiscard]] bool matches() const { return max_difference <= kTolerance * scale; }
    friend std::ostream &operator<<(std::ostream &out, const LogitsComparison &c) {
        return out << "largest difference " << c.max_difference << " at a scale of " << c.scale;
    }
};

[[nodiscard]] inline LogitsComparison compare_logits(std::span<const float> reference, std::span<const float> logits) {
    LogitsComparison result;
    result.max_difference = reference.size() == logits.size() ? 0 : std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < std::min(reference.size(), logits.size()); ++i) {
        const double difference = std::fabs(double{reference[i]} - double{logits[i]});
        // A comparison with NaN is false, so that NaN counts as the largest difference.
        if (!(difference <= result.max_difference)) {
            result.max_difference = std::isnan(difference) ? std::numeric_limits<double>::infinity() : difference;
        }
        result.scale = std::max(result.scale, std::fabs(double{reference[i]}));
    }
    return result;
}

/// The most likely token, the lowest id among equals.
[[nodiscard]] inline Token most_likely(std::span<const float> logits) {
    return static_cast<Token>(std::max_element(logits.begin(), logits.end()) - logits.begin());
}

}  // namespace cairn
