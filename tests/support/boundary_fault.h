// BoundaryFault: what can go wrong with the boundary of a restored state while its rows stay right. Tests inject each
// one to show that they would notice.
//
//     restore(seq, rows, faulty_boundary(BoundaryFault::stale, {.right = ..., .earlier = ..., .other = ...}))
//
// A fault replaces the numbers of a boundary and leaves its frame (sizes, types, positions), so that a backend takes
// it: the frame is what two boundaries of the same length, of sequences with other tokens, have in common.
#pragma once

#include <cstddef>
#include <vector>

#include "base/check.h"

namespace cairn {

enum class BoundaryFault {
    dropped,  ///< none at all
    zeroed,   ///< all numbers zero
    stale,    ///< those of an earlier checkpoint of the same sequence
    swapped,  ///< those of another sequence at the same position
};

inline constexpr BoundaryFault kBoundaryFaults[] = {BoundaryFault::dropped, BoundaryFault::zeroed, BoundaryFault::stale,
                                                    BoundaryFault::swapped};

[[nodiscard]] constexpr const char *name_of(BoundaryFault fault) noexcept {
    switch (fault) {
        case BoundaryFault::dropped: return "dropped";
        case BoundaryFault::zeroed: return "zeroed";
        case BoundaryFault::stale: return "stale";
        case BoundaryFault::swapped: return "swapped";
    }
    return "unknown";
}

/// Boundaries of one size, as captured.
struct BoundarySamples {
    const std::vector<std::byte> &right;    ///< the one that belongs there
    const std::vector<std::byte> &earlier;  ///< of the same sequence, one checkpoint before
    const std::vector<std::byte> &other;    ///< of a sequence with other tokens, at the same position
};

[[nodiscard]] inline std::vector<std::byte> faulty_boundary(BoundaryFault fault, const BoundarySamples &samples) {
    constexpr std::size_t kNumber = 4;  // frames and numbers are both made of units of this size
    if (fault == BoundaryFault::dropped) return {};
    const auto &right = samples.right;
    CAIRN_CHECK(samples.other.size() == right.size() && samples.earlier.size() == right.size(),
                "boundaries of {}, {} and {} bytes", right.size(), samples.other.size(), samples.earlier.size());
    std::vector<std::byte> result = right;
    for (std::size_t at = 0; at < right.size(); ++at) {
        const std::size_t begin = at / kNumber * kNumber;
        bool is_number = false;
        for (std::size_t i = begin; i < begin + kNumber && i < right.size(); ++i) {
            is_number = is_number || right[i] != samples.other[i];
        }
        if (!is_number) continue;
        if (fault == BoundaryFault::zeroed) result[at] = std::byte{0};
        if (fault == BoundaryFault::stale) result[at] = samples.earlier[at];
        if (fault == BoundaryFault::swapped) result[at] = samples.other[at];
    }
    return result;
}

}  // namespace cairn
