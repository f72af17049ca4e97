// THE metrics table: name, kind, unit, label, help and buckets of everything cairn counts. metrics.h has the ids.
//
// The rows stand in the order of enum Metric. docs/metrics.md is made from them (tools/gen-docs), a test compares it.
// Thread rule: constants.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "metrics/metrics.h"

namespace cairn {

enum class MetricKind : std::uint8_t { counter, gauge, histogram };

[[nodiscard]] constexpr const char *name_of(MetricKind kind) noexcept {
    switch (kind) {
        case MetricKind::counter: return "counter";
        case MetricKind::gauge: return "gauge";
        case MetricKind::histogram: return "histogram";
    }
    return "unknown";
}

struct MetricRow {
    Metric metric;
    const char *name;  ///< as scraped
    MetricKind kind;
    const char *unit;   ///< of a value or observation
    const char *label;  ///< name of the only label; empty: none
    const char *help;
    std::span<const double> buckets{};  ///< upper bounds, ascending; histograms only
};

[[nodiscard]] std::span<const MetricRow> metric_rows() noexcept;
[[nodiscard]] const MetricRow &row_of(Metric metric) noexcept;

/// docs/metrics.md.
[[nodiscard]] std::string metrics_markdown();

}  // namespace cairn
