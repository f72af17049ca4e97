#include "metrics/metrics_table.h"

#include <fmt/format.h>

#include "base/check.h"

namespace cairn {

namespace {

constexpr auto counter = MetricKind::counter;
constexpr auto gauge = MetricKind::gauge;
constexpr auto histogram = MetricKind::histogram;

// A lookup walks a tree in memory; a restore or capture copies up to hundreds of MiB; a request may wait for minutes.
constexpr double kLookupBuckets[] = {1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1};
constexpr double kCopyBuckets[] = {1e-4, 3e-4, 1e-3, 3e-3, 1e-2, 3e-2, 1e-1, 3e-1, 1, 3, 10};
constexpr double kWaitBuckets[] = {1e-3, 3e-3, 1e-2, 3e-2, 1e-1, 3e-1, 1, 3, 10, 30, 100, 300};
constexpr double kTokenBuckets[] = {1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192};

constexpr MetricRow kRows[] = {
    {Metric::requests_total, "cairn_requests_total", counter, "requests", "outcome",
     "Requests that have ended: stop, length, cancelled, failed or refused."},
    {Metric::prompt_tokens_total, "cairn_prompt_tokens_total", counter, "tokens", "",
     "Tokens of the prompts of all admitted requests."},
    {Metric::cached_tokens_total, "cairn_cached_tokens_total", counter, "tokens", "tier",
     "Prompt tokens that were not computed again, by the tier their state came from."},
    {Metric::shared_tokens_total, "cairn_shared_tokens_total", counter, "tokens", "",
     "Of the cached tokens: had from a request that computed them at that time, for both."},
    {Metric::engine_prompt_tokens_total, "cairn_engine_prompt_tokens_total", counter, "tokens", "engine",
     "Tokens of admitted prompts, by the engine of the library that asked. The server's own have none."},
    {Metric::engine_cached_tokens_total, "cairn_engine_cached_tokens_total", counter, "tokens", "engine",
     "Prompt tokens that were not computed again, by the engine of the library that asked."},
    {Metric::computed_prompt_tokens_total, "cairn_computed_prompt_tokens_total", counter, "tokens", "",
     "Prompt tokens that were computed."},
    {Metric::completion_tokens_total, "cairn_completion_tokens_total", counter, "tokens", "", "Tokens generated."},
    {Metric::cache_hits_total, "cairn_cache_hits_total", counter, "lookups", "tier",
     "Lookups whose state really reached the sequence, by the tier it came from."},
    {Metric::cache_shortfalls_total, "cairn_cache_shortfalls_total", counter, "lookups", "reason",
     "Requests that reused less than their whole prefix, by the reason."},
    {Metric::snapshots_published_total, "cairn_snapshots_published_total", counter, "snapshots", "kind",
     "Snapshots made findable, by the kind of their checkpoint."},
    {Metric::snapshots_refused_total, "cairn_snapshots_refused_total", counter, "snapshots", "reason",
     "Captures and publications that were given up; the request went on."},
    {Metric::snapshots_evicted_total, "cairn_snapshots_evicted_total", counter, "snapshots", "tier",
     "Snapshots dropped to keep a budget, by the tier they lay in."},
    {Metric::snapshots_demoted_total, "cairn_snapshots_demoted_total", counter, "snapshots", "tier",
     "Snapshots moved to a slower tier, by the tier they went to."},
    {Metric::snapshots, "cairn_snapshots", gauge, "snapshots", "", "Snapshots that a lookup may find."},
    {Metric::device_bytes, "cairn_device_bytes", gauge, "bytes", "",
     "State parked on the device beyond what running requests hold."},
    {Metric::ram_bytes, "cairn_ram_bytes", gauge, "bytes", "", "State kept in RAM."},
    {Metric::ram_budget_bytes, "cairn_ram_budget_bytes", gauge, "bytes", "", "Most state that is kept in RAM."},
    {Metric::device_budget_bytes, "cairn_device_budget_bytes", gauge, "bytes", "",
     "Most state that is parked on the device."},
    {Metric::disk_bytes, "cairn_disk_bytes", gauge, "bytes", "",
     "Files of state on disk, those of other models included."},
    {Metric::disk_budget_bytes, "cairn_disk_budget_bytes", gauge, "bytes", "", "Most state that is kept on disk."},
    {Metric::disk_written_bytes_total, "cairn_disk_written_bytes_total", counter, "bytes", "",
     "Files of state written to disk."},
    {Metric::disk_read_bytes_total, "cairn_disk_read_bytes_total", counter, "bytes", "",
     "State read from disk to restore it."},
    {Metric::disk_failures_total, "cairn_disk_failures_total", counter, "failures", "operation",
     "Operations of the disk tier that failed, by operation and kind of error. No request fails by them."},
    {Metric::disk_refused_total, "cairn_disk_refused_total", counter, "snapshots", "reason",
     "Snapshots that were worth writing to disk and for which there was no room."},
    {Metric::snapshots_written_total, "cairn_snapshots_written_total", counter, "snapshots", "kind",
     "Snapshots written to disk, by the kind of their checkpoint."},
    {Metric::snapshots_found_total, "cairn_snapshots_found_total", counter, "snapshots", "",
     "Snapshots that were on disk when the program started."},
    {Metric::requests_waiting, "cairn_requests_waiting", gauge, "requests", "", "Requests not yet admitted."},
    {Metric::requests_running, "cairn_requests_running", gauge, "requests", "", "Requests being computed."},
    {Metric::live_sequences, "cairn_live_sequences", gauge, "sequences", "",
     "Requests that can be computed at the same time, as the backend allows."},
    {Metric::live_sequences_configured, "cairn_live_sequences_configured", gauge, "sequences", "",
     "Requests that were to be computed at the same time, as configured."},
    {Metric::parked_sequences, "cairn_parked_sequences", gauge, "sequences", "",
     "Sequences that may be kept on the device beside the running ones."},
    {Metric::context_tokens, "cairn_context_tokens", gauge, "tokens", "", "Most tokens of one sequence."},
    {Metric::scheduled_tokens, "cairn_scheduled_tokens", gauge, "tokens", "", "Most tokens of one step."},
    {Metric::waiting_limit, "cairn_waiting_limit", gauge, "requests", "", "Most requests that may wait."},
    {Metric::pool_cells, "cairn_pool_cells", gauge, "tokens", "",
     "Tokens whose state the device's pool can hold, those shared by sequences once."},
    {Metric::pool_cells_used, "cairn_pool_cells_used", gauge, "tokens", "", "Tokens whose state the pool holds now."},
    {Metric::preemptions_total, "cairn_preemptions_total", counter, "requests", "",
     "Requests set aside for want of room in the pool, to go on later."},
    {Metric::restore_seconds, "cairn_restore_seconds", histogram, "seconds", "tier",
     "Time to put a snapshot's state into a sequence, by the tier it came from.", kCopyBuckets},
    {Metric::capture_seconds, "cairn_capture_seconds", histogram, "seconds", "tier",
     "Time to take a sequence's state, by the tier it went to.", kCopyBuckets},
    {Metric::disk_write_seconds, "cairn_disk_write_seconds", histogram, "seconds", "",
     "Time to write one snapshot to disk, beside the engine.", kCopyBuckets},
    {Metric::disk_read_seconds, "cairn_disk_read_seconds", histogram, "seconds", "",
     "Time to read and check what one restore needs from disk.", kCopyBuckets},
    {Metric::lookup_seconds, "cairn_lookup_seconds", histogram, "seconds", "", "Time to look a prompt up.",
     kLookupBuckets},
    {Metric::queue_seconds, "cairn_queue_seconds", histogram, "seconds", "", "Time from submission to admission.",
     kWaitBuckets},
    {Metric::first_token_seconds, "cairn_first_token_seconds", histogram, "seconds", "",
     "Time from submission to the first token.", kWaitBuckets},
    {Metric::token_gap_seconds, "cairn_token_gap_seconds", histogram, "seconds", "",
     "Time between two tokens of one answer.", kCopyBuckets},
    {Metric::step_tokens, "cairn_step_tokens", histogram, "tokens", "", "Tokens of one step.", kTokenBuckets},
};

constexpr std::size_t kMetrics = static_cast<std::size_t>(Metric::step_tokens) + 1;

constexpr bool rows_are_in_order() {
    for (std::size_t i = 0; i < std::size(kRows); ++i) {
        if (static_cast<std::size_t>(kRows[i].metric) != i) return false;
    }
    return std::size(kRows) == kMetrics;
}
static_assert(rows_are_in_order(), "one row for each Metric, in the order of the enum");

}  // namespace

std::span<const MetricRow> metric_rows() noexcept {
    return kRows;
}

const MetricRow &row_of(Metric metric) noexcept {
    const auto index = static_cast<std::size_t>(metric);
    CAIRN_CHECK(index < kMetrics, "metric {} is not in the table", index);
    return kRows[index];
}

std::string metrics_markdown() {
    std::string text =
        "# Metrics\n\n"
        "Written by `tools/gen-docs` from the table in `src/metrics/metrics_table.cc`; change it there.\n\n"
        "`GET /metrics` answers with all of them in Prometheus' text format 0.0.4. Counters count since the program\n"
        "started. A series with a label appears with its first value.\n\n"
        "| metric | kind | unit | label | meaning |\n| --- | --- | --- | --- | --- |\n";
    for (const auto &row : kRows) {
        text += fmt::format("| `{}` | {} | {} | {} | {} |\n", row.name, name_of(row.kind), row.unit,
                            *row.label == '\0' ? "" : fmt::format("`{}`", row.label), row.help);
    }
    return text;
}

}  // namespace cairn
