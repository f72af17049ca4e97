#include "metrics/metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <thread>
#include <vector>

#include "metrics/metrics_table.h"
#include "tests/support/docs_file.h"

namespace cairn {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(Metrics, CountersAddUpPerLabel) {
    Metrics metrics;
    metrics.add(Metric::cache_hits_total, 1, "ram");
    metrics.add(Metric::cache_hits_total, 2, "ram");
    metrics.add(Metric::cache_hits_total, 5, "device");
    EXPECT_EQ(metrics.value(Metric::cache_hits_total, "ram"), 3);
    EXPECT_EQ(metrics.value(Metric::cache_hits_total, "device"), 5);
}

TEST(Metrics, GaugesKeepTheLastValue) {
    Metrics metrics;
    metrics.set(Metric::ram_bytes, 4096);
    metrics.set(Metric::ram_bytes, 1024);
    EXPECT_EQ(metrics.value(Metric::ram_bytes), 1024);
}

TEST(Metrics, HistogramsCountObservations) {
    Metrics metrics;
    metrics.observe(Metric::restore_seconds, 0.004, "ram");
    metrics.observe(Metric::restore_seconds, 0.2, "ram");
    EXPECT_EQ(metrics.value(Metric::restore_seconds, "ram"), 2);
    const auto text = metrics.prometheus_text();
    EXPECT_THAT(text, HasSubstr("cairn_restore_seconds_count{tier=\"ram\"} 2\n"));
    EXPECT_THAT(text, HasSubstr("cairn_restore_seconds_bucket{tier=\"ram\",le=\"0.003\"} 0\n"));
    EXPECT_THAT(text, HasSubstr("cairn_restore_seconds_bucket{tier=\"ram\",le=\"0.01\"} 1\n"));
    EXPECT_THAT(text, HasSubstr("cairn_restore_seconds_bucket{tier=\"ram\",le=\"+Inf\"} 2\n"));
}

TEST(Metrics, AskingForAnUnusedLabelMakesNoSeries) {
    Metrics metrics;
    EXPECT_EQ(metrics.value(Metric::cache_hits_total, "tape"), 0);
    EXPECT_EQ(metrics.value(Metric::restore_seconds, "tape"), 0);
    EXPECT_THAT(metrics.prometheus_text(), Not(HasSubstr("tape")));
}

TEST(Metrics, SeriesWithoutALabelAreThereFromTheStart) {
    Metrics metrics;
    const auto text = metrics.prometheus_text();
    EXPECT_THAT(text, HasSubstr("# HELP cairn_prompt_tokens_total Tokens of the prompts of all admitted requests.\n"
                                "# TYPE cairn_prompt_tokens_total counter\n"
                                "cairn_prompt_tokens_total 0\n"));
    EXPECT_THAT(text, HasSubstr("# TYPE cairn_pool_cells gauge\ncairn_pool_cells 0\n"));
    EXPECT_THAT(text, HasSubstr("cairn_step_tokens_bucket{le=\"8192\"} 0\n"));
}

TEST(Metrics, LabelValuesAreEscaped) {
    Metrics metrics;
    metrics.add(Metric::snapshots_refused_total, 1, "a\"b\\c\nd");
    EXPECT_THAT(metrics.prometheus_text(), HasSubstr("cairn_snapshots_refused_total{reason=\"a\\\"b\\\\c\\nd\"} 1\n"));
}

TEST(Metrics, EachObjectCountsForItself) {
    Metrics a;
    Metrics b;
    a.add(Metric::prompt_tokens_total, 7);
    EXPECT_EQ(a.value(Metric::prompt_tokens_total), 7);
    EXPECT_EQ(b.value(Metric::prompt_tokens_total), 0);
}

TEST(Metrics, ThreadsLoseNoCount) {
    Metrics metrics;
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
        threads.emplace_back([&metrics, t] {
            for (int i = 0; i < 1000; ++i) {
                metrics.add(Metric::completion_tokens_total);
                metrics.add(Metric::requests_total, 1, i % 2 == 0 ? "stop" : "length");
                metrics.observe(Metric::step_tokens, t);
            }
        });
    }
    for (auto &thread : threads)
        thread.join();
    EXPECT_EQ(metrics.value(Metric::completion_tokens_total), 4000);
    EXPECT_EQ(metrics.value(Metric::requests_total, "stop"), 2000);
    EXPECT_EQ(metrics.value(Metric::requests_total, "length"), 2000);
    EXPECT_EQ(metrics.value(Metric::step_tokens), 4000);
}

TEST(MetricsDeathTest, WrongKindOrLabelStops) {
    Metrics metrics;
    EXPECT_DEATH(metrics.set(Metric::prompt_tokens_total, 1), "cairn_prompt_tokens_total is a counter");
    EXPECT_DEATH(metrics.add(Metric::ram_bytes, 1), "cairn_ram_bytes is a gauge");
    EXPECT_DEATH(metrics.observe(Metric::ram_bytes, 1), "cairn_ram_bytes is a gauge");
    EXPECT_DEATH(metrics.add(Metric::cache_hits_total, 1), "cairn_cache_hits_total got the label value \"\"");
    EXPECT_DEATH(metrics.add(Metric::prompt_tokens_total, 1, "ram"), "got the label value \"ram\"");
    EXPECT_DEATH(metrics.add(Metric::prompt_tokens_total, -1), "counts up, not by -1");
}

TEST(MetricsTable, NamesFollowPrometheusConventions) {
    std::set<std::string> names;
    for (const auto &row : metric_rows()) {
        const std::string name = row.name;
        SCOPED_TRACE(name);
        EXPECT_TRUE(names.insert(name).second);
        EXPECT_TRUE(name.starts_with("cairn_"));
        EXPECT_EQ(name.find_first_not_of("abcdefghijklmnopqrstuvwxyz_"), std::string::npos);
        EXPECT_EQ(name.ends_with("_total"), row.kind == MetricKind::counter);
        EXPECT_EQ(row.buckets.empty(), row.kind != MetricKind::histogram);
        EXPECT_TRUE(std::is_sorted(row.buckets.begin(), row.buckets.end()));
        EXPECT_TRUE(std::string(row.help).ends_with("."));
        if (name.ends_with("_seconds")) {
            EXPECT_STREQ(row.unit, "seconds");
        }
        if (name.ends_with("_bytes")) {
            EXPECT_STREQ(row.unit, "bytes");
        }
    }
    EXPECT_EQ(names.size(), 47u);
}

TEST(MetricsTable, PageIsUpToDate) {
    EXPECT_EQ(docs_file("metrics.md"), metrics_markdown()) << "Run tools/gen-docs.";
}

}  // namespace
}  // namespace cairn
