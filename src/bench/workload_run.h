// WorkloadRun: one workload against a server.
//
//     WorkloadRun run(workload, {server, texts, env, ...});
//     WorkloadResult result = run.run();
//
// Ownership: refers to all it is given. Threads: one; it makes and joins those of stages that run together, and calls
// `answered` from them, one at a time.
#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "bench/answer_stream.h"
#include "bench/bench_run.h"
#include "bench/bench_server.h"
#include "bench/conversation.h"
#include "bench/ideal.h"

namespace cairn {

/// What all workloads of a run have in common.
struct BenchContext {
    const BenchOptions &options;
    const BenchServer &server;
    Env &env;
    std::string model;
    SeenPrefixes &seen;
    ColdSpeed cold;
    std::optional<std::uint32_t> only_token;  ///< that answers are made of; none: as the model likes
    std::vector<std::string> &notes;          ///< of the run
};

class WorkloadRun {
public:
    using Answered = std::function<void(std::size_t requests)>;  ///< so many are answered, or have failed

    WorkloadRun(const Workload &workload, const BenchContext &context, Answered answered);
    [[nodiscard]] WorkloadResult run();

private:
    struct Talk {
        Messages history;
        std::string broken;  ///< why nothing more can be asked
    };
    /// A request that was made.
    struct Asked {
        RequestResult result;
        Messages prompt;
        std::string answer;
        unsigned wave = 0;
    };

    void restart();
    void run_stage(unsigned index, const Stage &stage);
    void open_talks(const Stage &stage);
    [[nodiscard]] std::vector<Asked> ask_in_turn(unsigned index, const Stage &stage);
    [[nodiscard]] std::vector<Asked> ask_together(unsigned index, const Stage &stage);
    [[nodiscard]] Asked ask(unsigned stage, const ConversationPlan &conversation, unsigned wave, Talk &talk);
    void take_answer(Asked &asked, const Step &step, Talk &talk, const ChatAnswer &answer, double asked_at_s);
    void add_ideals(std::vector<Asked> &asked, bool together);
    [[nodiscard]] StageRequest stage_request(const Asked &asked);

    const Workload &workload_;
    const BenchContext &context_;
    const TextSource texts_;
    const Answered answered_;
    const double begun_at_s_;
    std::map<std::string, Talk> talks_;
    std::string broken_;  ///< why nothing more can be asked at all
    WorkloadResult result_;
    std::mutex mutex_;  ///< of count_ alone
    std::size_t count_ = 0;
};

}  // namespace cairn
