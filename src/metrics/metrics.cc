#include "metrics/metrics.h"

#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

#include <map>
#include <mutex>
#include <string>
#include <variant>
#include <vector>

#include "base/check.h"
#include "metrics/metrics_table.h"

namespace cairn {

namespace {

using CounterFamily = prometheus::Family<prometheus::Counter>;
using GaugeFamily = prometheus::Family<prometheus::Gauge>;
using HistogramFamily = prometheus::Family<prometheus::Histogram>;
using Family = std::variant<CounterFamily *, GaugeFamily *, HistogramFamily *>;
using Series = std::variant<prometheus::Counter *, prometheus::Gauge *, prometheus::Histogram *>;

Family add_family(prometheus::Registry &registry, const MetricRow &row) {
    switch (row.kind) {
        case MetricKind::counter: return &prometheus::BuildCounter().Name(row.name).Help(row.help).Register(registry);
        case MetricKind::gauge: return &prometheus::BuildGauge().Name(row.name).Help(row.help).Register(registry);
        case MetricKind::histogram: break;
    }
    return &prometheus::BuildHistogram().Name(row.name).Help(row.help).Register(registry);
}

Series add_series(const Family &family, const MetricRow &row, const prometheus::Labels &labels) {
    if (const auto *counters = std::get_if<CounterFamily *>(&family)) return &(*counters)->Add(labels);
    if (const auto *gauges = std::get_if<GaugeFamily *>(&family)) return &(*gauges)->Add(labels);
    const prometheus::Histogram::BucketBoundaries buckets(row.buckets.begin(), row.buckets.end());
    return &std::get<HistogramFamily *>(family)->Add(labels, buckets);
}

double value_of(const Series &series) {
    if (const auto *counter = std::get_if<prometheus::Counter *>(&series)) return (*counter)->Value();
    if (const auto *gauge = std::get_if<prometheus::Gauge *>(&series)) return (*gauge)->Value();
    return static_cast<double>(std::get<prometheus::Histogram *>(series)->Collect().histogram.sample_count);
}

}  // namespace

struct Metrics::Impl {
    using SeriesByLabel = std::map<std::string, Series, std::less<>>;

    prometheus::Registry registry;
    std::vector<Family> families;  ///< by Metric; constant after construction
    std::mutex mutex;
    std::vector<SeriesByLabel> series;  ///< by Metric; guarded by mutex, what the pointers lead to is not

    /// The series of one label value, made on its first use.
    Series get(Metric metric, std::string_view label) {
        const auto &row = row_of(metric);
        CAIRN_CHECK(label.empty() == (*row.label == '\0'), "{} got the label value \"{}\"", row.name, label);
        const std::lock_guard lock(mutex);
        auto &known = series[static_cast<std::size_t>(metric)];
        if (const auto found = known.find(label); found != known.end()) return found->second;
        prometheus::Labels labels;
        if (!label.empty()) labels.emplace(row.label, label);
        const auto made = add_series(families[static_cast<std::size_t>(metric)], row, labels);
        known.emplace(label, made);
        return made;
    }

    template <class T>
    T &get_as(Metric metric, std::string_view label) {
        const auto found = get(metric, label);
        auto *const *typed = std::get_if<T *>(&found);
        CAIRN_CHECK(typed, "{} is a {}", row_of(metric).name, name_of(row_of(metric).kind));
        return **typed;
    }
};

Metrics::Metrics() : impl_(std::make_unique<Impl>()) {
    for (const auto &row : metric_rows()) {
        impl_->families.push_back(add_family(impl_->registry, row));
        impl_->series.emplace_back();
        // Scrapers want to see a series at 0 before it first counts.
        if (*row.label == '\0') impl_->get(row.metric, {});
    }
}

Metrics::~Metrics() = default;

void Metrics::add(Metric metric, double amount, std::string_view label) {
    CAIRN_CHECK(amount >= 0, "{} counts up, not by {}", row_of(metric).name, amount);
    impl_->get_as<prometheus::Counter>(metric, label).Increment(amount);
}

void Metrics::set(Metric metric, double value, std::string_view label) {
    impl_->get_as<prometheus::Gauge>(metric, label).Set(value);
}

void Metrics::observe(Metric metric, double value, std::string_view label) {
    impl_->get_as<prometheus::Histogram>(metric, label).Observe(value);
}

double Metrics::value(Metric metric, std::string_view label) const {
    const std::lock_guard lock(impl_->mutex);
    const auto &known = impl_->series[static_cast<std::size_t>(metric)];
    const auto found = known.find(label);
    return found == known.end() ? 0 : value_of(found->second);
}

std::string Metrics::prometheus_text() const {
    return prometheus::TextSerializer().Serialize(impl_->registry.Collect());
}

}  // namespace cairn
