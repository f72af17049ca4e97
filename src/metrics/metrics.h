// Metrics: THE table of everything cairn counts (metrics.cc), and the numbers behind it.
//
//     metrics.add(Metric::cache_hits_total, 1, "ram");
//     metrics.set(Metric::ram_bytes, 4096);
//     metrics.observe(Metric::restore_seconds, 0.004, "ram");
//     std::string text = metrics.prometheus_text();
//
// Threads: every call from any thread.
#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace cairn {

/// One row of the table each; kind, unit, label name and help stand in metrics.cc and docs/metrics.md.
enum class Metric {
    requests_total,  // label outcome: stop, length, cancelled, failed, refused
    prompt_tokens_total,
    cached_tokens_total,         // label tier
    shared_tokens_total,         // of those: had from a request that computed them at that time
    engine_prompt_tokens_total,  // label engine: of requests that name theirs
    engine_cached_tokens_total,  // label engine
    computed_prompt_tokens_total,
    completion_tokens_total,
    cache_hits_total,           // label tier: counted when the state is really in the sequence
    cache_shortfalls_total,     // label reason: lookups that reused less than the whole prefix
    snapshots_published_total,  // label kind: the checkpoint's kind
    snapshots_refused_total,    // label reason: captures or publications that were given up
    snapshots_evicted_total,    // label tier
    snapshots_demoted_total,    // label tier: to where
    snapshots,                  // gauge: that a lookup may find
    device_bytes,               // gauge
    ram_bytes,                  // gauge
    ram_budget_bytes,           // gauge
    device_budget_bytes,        // gauge
    disk_bytes,                 // gauge
    disk_budget_bytes,          // gauge
    disk_written_bytes_total,
    disk_read_bytes_total,
    disk_failures_total,        // label operation: operation and error code, write_capacity, read_corrupt, ...
    disk_refused_total,         // label reason: snapshots that were not given to the writer
    snapshots_written_total,    // label kind: the checkpoint's kind
    snapshots_found_total,      // on disk, when the program started
    requests_waiting,           // gauge
    requests_running,           // gauge
    live_sequences,             // gauge: effective slots
    live_sequences_configured,  // gauge
    parked_sequences,           // gauge: most at a time
    context_tokens,             // gauge: most of one sequence
    scheduled_tokens,           // gauge: most of one step
    waiting_limit,              // gauge: requests
    pool_cells,                 // gauge
    pool_cells_used,            // gauge
    preemptions_total,
    restore_seconds,      // histogram, label tier
    capture_seconds,      // histogram, label tier: to where
    disk_write_seconds,   // histogram: of one snapshot, on the writer's thread
    disk_read_seconds,    // histogram: of one restore, on the engine's thread
    lookup_seconds,       // histogram
    queue_seconds,        // histogram
    first_token_seconds,  // histogram
    token_gap_seconds,    // histogram: between two tokens of a stream
    step_tokens,          // histogram: tokens of one step
};

class Metrics {
public:
    Metrics();
    ~Metrics();
    Metrics(const Metrics &) = delete;
    Metrics &operator=(const Metrics &) = delete;

    /// Adds to a counter. `label`: a value of the row's label; empty for rows without one.
    void add(Metric metric, double amount = 1, std::string_view label = {});
    /// Sets a gauge.
    void set(Metric metric, double value, std::string_view label = {});
    /// Adds one observation to a histogram. Unit: the row's.
    void observe(Metric metric, double value, std::string_view label = {});
    /// The present value of a counter or gauge, or a histogram's count; 0 for a label never used.
    [[nodiscard]] double value(Metric metric, std::string_view label = {}) const;
    /// All of it in Prometheus' text format 0.0.4.
    [[nodiscard]] std::string prometheus_text() const;

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace cairn
