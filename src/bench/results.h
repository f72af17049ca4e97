// What a run of `cairn bench` has found: the values that the reports are made of.
//
// Times are seconds. Threads: plain values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bench/ideal.h"

namespace cairn {

struct RequestResult {
    unsigned stage = 0;
    std::string conversation;
    unsigned turn = 0;               ///< of the conversation, from 1
    double started_s = 0;            ///< since the workload began
    double first_token_s = 0;        ///< since the request was sent
    double total_s = 0;              ///< since the request was sent
    double ideal_first_token_s = 0;  ///< bench/ideal.h
    long prompt_tokens = 0;
    std::optional<long> cached_tokens;  ///< nothing: the server does not say
    long completion_tokens = 0;
    long ideal_new_tokens = 0;       ///< bench/ideal.h
    long ideal_waited_requests = 0;  ///< these two: what ideal_first_token_s is made of; not in the JSON
    long ideal_waited_tokens = 0;
    std::vector<double> gaps_s;  ///< between pieces of the answer; not in the JSON
    std::string error;           ///< empty: it was answered
    bool warm_up = false;        ///< of a stage that only prepares: counts in no sum
};

/// Requests of a warm-up count in nothing but `failed`; failed ones are counted, and count in nothing else. Percentiles
/// are by nearest rank.
struct Summary {
    std::size_t requests = 0;
    std::size_t failed = 0;
    double first_token_sum_s = 0;
    double first_token_p50_s = 0;
    double first_token_max_s = 0;
    double ideal_first_token_sum_s = 0;
    std::optional<long> computed_tokens;  ///< prompt tokens that were not cached; nothing: a server that does not say
    long ideal_tokens = 0;
    double gap_p50_s = 0;
    double gap_p99_s = 0;
    double gap_max_s = 0;
    double completion_tokens_per_s = 0;  ///< these three: over wall_s
    double prompt_tokens_per_s = 0;
    double tokens_per_s = 0;
    double wall_s = 0;  ///< in which at least one request was unanswered
};

struct WorkloadResult {
    std::string name;
    std::string skipped;                  ///< why nothing was asked; empty: it was run
    std::vector<RequestResult> requests;  ///< in the order of the workload
    Summary summary;
};

/// Of one server.
struct RunResult {
    std::string url;
    std::string server;  ///< what it calls itself; empty: it does not
    std::string model;
    std::uint64_t seed = 1;
    double scale = 1;
    ColdSpeed cold;
    std::string ideal_counted_in;  ///< "tokens", or "characters" where the server does not tokenize for clients
    std::vector<std::string> notes;
    std::vector<WorkloadResult> workloads;
};

struct NamedRun {
    std::string name;
    RunResult run;
};

/// The q-th part of the values lies at or below it, 0 < q <= 1; 0 of none.
[[nodiscard]] double percentile(std::vector<double> values, double q);
[[nodiscard]] Summary summarize(const std::vector<RequestResult> &requests);
/// What is ideal is told in tokens first: here come its times, and the summaries anew.
void set_cold_speed(RunResult &run, const ColdSpeed &cold);
/// The workload of this name that was run; null where there is none.
[[nodiscard]] const WorkloadResult *find_workload(const RunResult &run, const std::string &name);
/// Of all runs, in the order in which they first come up.
[[nodiscard]] std::vector<std::string> workload_names(const std::vector<NamedRun> &runs);
/// Whether every request of every workload was answered.
[[nodiscard]] bool all_answered(const RunResult &run);

}  // namespace cairn
