#include "bench/html_charts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

namespace cairn {
namespace {

constexpr std::size_t kSeries = 8;

constexpr double kBarsWidth = 460;
constexpr double kBarsLeft = 150;
constexpr double kBarsRight = 80;
constexpr double kBarHeight = 15;
constexpr double kBarStep = 21;

constexpr double kColumnsWidth = 940;
constexpr double kColumnsLeft = 48;
constexpr double kColumnsHeight = 170;
constexpr double kColumnsBottom = 22;
constexpr double kColumnsTop = 8;

/// The least of 1, 2, 5 times a power of ten that is not below `value`.
double round_step(double value) {
    const double power = std::pow(10, std::floor(std::log10(value)));
    for (const double factor : {1.0, 2.0, 5.0}) {
        if (factor * power >= value) return factor * power;
    }
    return 10 * power;
}

std::string figure(const std::string &title, const std::string &svg) {
    return fmt::format("<figure><figcaption>{}</figcaption>{}</figure>\n", html_text(title), svg);
}

std::string column(double x, double width, double value, double per_unit, const std::string &css_class,
                   const std::string &tip) {
    if (value < 0) return "";
    const double height = std::max(value * per_unit, 0.5);
    return fmt::format(
        "<rect class=\"{}\" x=\"{:.2f}\" y=\"{:.2f}\" width=\"{:.2f}\" height=\"{:.2f}\"><title>{}</title></rect>",
        css_class, x, kColumnsTop + kColumnsHeight - height, width, height, html_text(tip));
}

double most_of(std::span<const PairGroup> groups) {
    double most = 0;
    for (const PairGroup &group : groups) {
        for (const auto *values : {&group.measured, &group.ideal}) {
            for (const double value : *values)
                most = std::max(most, value);
        }
    }
    return most > 0 ? most : 1;
}

std::string axis(double step, double top, double per_unit, const std::string &unit) {
    std::string svg;
    for (double at = 0; at <= top + step / 2; at += step) {
        const double y = kColumnsTop + kColumnsHeight - at * per_unit;
        fmt::format_to(std::back_inserter(svg),
                       "<line class=\"grid\" x1=\"{0}\" x2=\"{1}\" y1=\"{2:.1f}\" y2=\"{2:.1f}\"/>"
                       "<text x=\"{3}\" y=\"{4:.1f}\" text-anchor=\"end\">{5:g} {6}</text>",
                       kColumnsLeft, kColumnsWidth, y, kColumnsLeft - 6, y + 4, at, unit);
    }
    return svg;
}

}  // namespace

std::string html_text(std::string_view text) {
    std::string out;
    for (const char c : text) {
        switch (c) {
            case '&': out += "&amp;"; break;
            case '<': out += "&lt;"; break;
            case '>': out += "&gt;"; break;
            case '"': out += "&quot;"; break;
            default: out += c;
        }
    }
    return out;
}

std::string series_class(std::size_t run) {
    return fmt::format("s{}", run % kSeries);
}

std::string bar_chart(const std::string &title, std::span<const Bar> bars, int digits) {
    double most = 0;
    for (const Bar &bar : bars)
        most = std::max(most, bar.value);
    const double per_unit = most > 0 ? (kBarsWidth - kBarsLeft - kBarsRight) / most : 0;
    std::string svg = fmt::format("<svg viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"{}\">", kBarsWidth,
                                  kBarStep * static_cast<double>(bars.size()), html_text(title));
    for (std::size_t i = 0; i < bars.size(); ++i) {
        const double y = kBarStep * static_cast<double>(i) + (kBarStep - kBarHeight) / 2;
        const double width = std::max(bars[i].value * per_unit, 1.0);
        fmt::format_to(std::back_inserter(svg),
                       "<text x=\"{}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>"
                       "<rect class=\"{}\" x=\"{}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{}\" rx=\"2\"/>"
                       "<text x=\"{:.1f}\" y=\"{:.1f}\">{:.{}f}</text>",
                       kBarsLeft - 8, y + kBarHeight - 3, html_text(bars[i].label), bars[i].css_class, kBarsLeft, y,
                       width, kBarHeight, kBarsLeft + width + 6, y + kBarHeight - 3, bars[i].value, digits);
    }
    return figure(title, svg + "</svg>");
}

std::string column_chart(const std::string &title, const std::string &unit, std::span<const PairGroup> groups) {
    const double step = round_step(most_of(groups) / 4);
    const double top = step * std::ceil(most_of(groups) / step);
    const double per_unit = kColumnsHeight / top;
    std::string svg = fmt::format("<svg viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"{}\">", kColumnsWidth,
                                  kColumnsTop + kColumnsHeight + kColumnsBottom, html_text(title)) +
                      axis(step, top, per_unit, unit);
    const double group_width =
        (kColumnsWidth - kColumnsLeft) / static_cast<double>(std::max<std::size_t>(1, groups.size()));
    for (std::size_t i = 0; i < groups.size(); ++i) {
        const PairGroup &group = groups[i];
        const double left = kColumnsLeft + group_width * (static_cast<double>(i) + 0.1);
        const double slot = std::min(group_width * 0.8 / static_cast<double>(group.measured.size()), 40.0);
        for (std::size_t run = 0; run < group.measured.size(); ++run) {
            const double x = left + slot * static_cast<double>(run);
            svg += column(x, slot * 0.32, group.ideal[run], per_unit, "ideal",
                          fmt::format("{}: ideal {:.3f} {}", group.label, group.ideal[run], unit));
            svg += column(x + slot * 0.34, slot * 0.6, group.measured[run], per_unit, series_class(run),
                          fmt::format("{}: {:.3f} {}", group.label, group.measured[run], unit));
        }
        if (groups.size() <= 30) {
            fmt::format_to(std::back_inserter(svg), "<text x=\"{:.1f}\" y=\"{}\">{}</text>", left,
                           kColumnsTop + kColumnsHeight + 15, html_text(group.label));
        }
    }
    return figure(title, svg + "</svg>");
}

}  // namespace cairn
