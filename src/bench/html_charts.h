// The plots of the HTML report as inline SVG. Colours are the page's CSS classes: `ideal`, and `s0`, `s1`, ... for
// runs.
//
// Threads: any.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace cairn {

/// With what HTML reserves escaped.
[[nodiscard]] std::string html_text(std::string_view text);
/// "s0" for the first run; eight, then again from the first.
[[nodiscard]] std::string series_class(std::size_t run);

struct Bar {
    std::string label;
    double value = 0;
    std::string css_class;
};

/// Bars beside each other, one below the other, each with its label and value. `digits`: behind the point.
[[nodiscard]] std::string bar_chart(const std::string &title, std::span<const Bar> bars, int digits);

/// One request: for each run what was measured and what is ideal; a value below 0 is not there.
struct PairGroup {
    std::string label;
    std::vector<double> measured;
    std::vector<double> ideal;
};

/// A group of columns for each request, with an axis in `unit`.
[[nodiscard]] std::string column_chart(const std::string &title, const std::string &unit,
                                       std::span<const PairGroup> groups);

}  // namespace cairn
