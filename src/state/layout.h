// StateLayout: the shape of one sequence's resumable state, as the probe found it.
//
//     rows       per token, cuttable by span: attention K/V            (many spans make a prefix)
//     boundary   exists at one position only: recurrent and convolution state, sliding-window cells
//
//     position   0          begin                end
//     rows       |----------|--------------------|        a span [begin, end) is one payload
//     boundary                                   ^        the state after `end` tokens is one payload
//
// A prefix of n tokens is resumable when rows cover [0, n) without a gap and the boundary of exactly n is there.
// Modes:
//     segmented  rows by span, and a boundary where the model has one
//     whole      everything is boundary: one payload per checkpoint, nothing shared
//     none       states cannot be carried over: no caching, said at load
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "cairn/types.h"
#include "state/fingerprint.h"

namespace cairn {

/// Raise when the meaning of captured bytes changes: older payloads then belong to another fingerprint.
inline constexpr std::int64_t kStateLayoutVersion = 1;

enum class CaptureMode : std::uint8_t { segmented, whole, none };

[[nodiscard]] constexpr const char *name_of(CaptureMode mode) noexcept {
    switch (mode) {
        case CaptureMode::segmented: return "segmented";
        case CaptureMode::whole: return "whole";
        case CaptureMode::none: return "none";
    }
    return "unknown";
}

struct StateLayout {
    Fingerprint fingerprint;
    CaptureMode mode = CaptureMode::none;
    bool has_rows = false;      ///< a resumable prefix needs rows over [0, n)
    bool has_boundary = false;  ///< a resumable prefix needs a boundary of exactly n
    bool can_rewind = false;    ///< a state can be cut back to any earlier position
    bool can_park = false;      ///< sequences may share cells, so that parking copies nothing
    bool has_sliding_window = false;
    std::size_t row_bytes = 0;       ///< bytes of rows per token on the device, for planning
    std::size_t boundary_bytes = 0;  ///< bytes of one boundary, largest seen by the probe, for planning
    std::string why;                 ///< for mode none or whole: what the probe found wanting
};

}  // namespace cairn
