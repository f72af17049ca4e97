#include "bench/workload_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <latch>
#include <map>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

#include "bench/chat_client.h"
#include "bench/conversation.h"
#include "bench/shell_command.h"

namespace cairn {
namespace {

/// Where a conversation's requests stop after one that failed.
constexpr const char *kNotAsked = "not asked: an earlier request of the conversation failed";
/// What a server does behind its answers (writing to disk, threads that spin) is not to slow down the other one.
constexpr auto kPauseBetweenServers = std::chrono::milliseconds(300);

std::vector<double> gaps_between(const std::vector<double> &times_s) {
    std::vector<double> gaps;
    for (std::size_t i = 1; i < times_s.size(); ++i)
        gaps.push_back(times_s[i] - times_s[i - 1]);
    return gaps;
}

unsigned most_steps(const Stage &stage) {
    std::size_t most = 0;
    for (const ConversationPlan &conversation : stage.conversations)
        most = std::max(most, conversation.steps.size());
    return static_cast<unsigned>(most);
}

/// How many requests are answered, on all servers.
class AnsweredCount {
public:
    explicit AnsweredCount(const Answered &answered) : answered_(answered) {}
    void add_one() {
        const std::lock_guard lock(mutex_);
        answered_(++count_);
    }

private:
    const Answered &answered_;
    std::mutex mutex_;
    std::size_t count_ = 0;
};

/// The workload on one server: whoever drives it goes through the stages.
class ServerRun {
public:
    ServerRun(const Workload &workload, BenchContext &context, AnsweredCount &count)
        : workload_(workload),
          context_(context),
          count_(count),
          texts_{workload.name, context.options.seed, context.options.scale},
          begun_at_s_(context.env.now_s()) {
        result_.name = workload.name;
    }

    void restart();
    void begin_stage(unsigned index);
    void ask_one(const ConversationPlan &conversation, unsigned wave);
    void ask_together();
    void end_stage();
    [[nodiscard]] WorkloadResult take_result() { return std::move(result_); }

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

    [[nodiscard]] const Stage &stage() const { return workload_.stages[stage_]; }
    [[nodiscard]] Asked ask(const ConversationPlan &conversation, unsigned wave, Talk &talk);
    void take_answer(Asked &asked, const Step &step, Talk &talk, const ChatAnswer &answer, double asked_at_s);
    [[nodiscard]] StageRequest stage_request(const Asked &asked);

    const Workload &workload_;
    BenchContext &context_;
    AnsweredCount &count_;
    const TextSource texts_;
    const double begun_at_s_;
    unsigned stage_ = 0;
    std::vector<Asked> asked_;  ///< in this stage
    std::map<std::string, Talk> talks_;
    std::string broken_;  ///< why nothing more can be asked at all
    WorkloadResult result_;
};

void ServerRun::restart() {
    const auto status = run_shell(context_.target.restart_command, context_.options.timeout_s, context_.env);
    if (!status) {
        broken_ = "not asked: --restart-with: " + status.error().what;
        return;
    }
    if (*status != 0) {
        broken_ = fmt::format("not asked: the command of --restart-with ended with status {}", *status);
        return;
    }
    const Status back = context_.server.wait_until_healthy(context_.options.timeout_s, context_.env);
    if (!back) broken_ = "not asked: " + back.error().what;
}

/// All forks at once: a fork is of what was before the stage, and threads find the map as it stays.
void ServerRun::begin_stage(unsigned index) {
    stage_ = index;
    std::map<std::string, Talk> opened;
    for (const ConversationPlan &conversation : stage().conversations) {
        if (!conversation.fork.empty()) opened[conversation.name] = talks_.at(conversation.fork);
    }
    talks_.merge(opened);
    for (const ConversationPlan &conversation : stage().conversations)
        talks_.try_emplace(conversation.name);
}

void ServerRun::ask_one(const ConversationPlan &conversation, unsigned wave) {
    asked_.push_back(ask(conversation, wave, talks_.at(conversation.name)));
}

void ServerRun::ask_together() {
    const auto &conversations = stage().conversations;
    std::vector<std::vector<Asked>> by_stream(conversations.size());
    {
        std::latch all_ready(static_cast<std::ptrdiff_t>(conversations.size()));
        std::vector<std::jthread> streams;
        const auto start = [&](std::size_t i) {
            streams.emplace_back([&, i] {
                Talk &talk = talks_.at(conversations[i].name);
                all_ready.arrive_and_wait();
                for (unsigned wave = 0; wave < conversations[i].steps.size(); ++wave)
                    by_stream[i].push_back(ask(conversations[i], wave, talk));
            });
        };
        try {
            for (std::size_t i = 0; i < conversations.size(); ++i)
                start(i);
        } catch (const std::system_error &error) {
            // Those that run wait for all: they would for ever.
            broken_ = fmt::format("not asked: this machine starts no more than {} threads ({})", streams.size(),
                                  error.what());
            all_ready.count_down(static_cast<std::ptrdiff_t>(conversations.size() - streams.size()));
        }
    }
    for (std::vector<Asked> &stream : by_stream)
        std::move(stream.begin(), stream.end(), std::back_inserter(asked_));
}

ServerRun::Asked ServerRun::ask(const ConversationPlan &conversation, unsigned wave, Talk &talk) {
    const Step &step = conversation.steps[wave];
    Asked asked;
    asked.wave = wave;
    asked.result.stage = stage_;
    asked.result.warm_up = stage().warm_up;
    asked.result.conversation = conversation.name;
    const std::string &broken = broken_.empty() ? talk.broken : broken_;
    if (broken.empty()) {
        begin_turn(talk.history, step, texts_);
        asked.prompt = talk.history;
        const std::string body = chat_body(talk.history, step.max_tokens, context_.model, context_.only_token);
        const double asked_at_s = context_.env.now_s();
        const auto answer = ask_chat(context_.server.target(), body, context_.options.timeout_s, context_.env);
        asked.result.started_s = asked_at_s - begun_at_s_;
        asked.result.total_s = context_.env.now_s() - asked_at_s;
        if (answer) {
            take_answer(asked, step, talk, *answer, asked_at_s);
        } else {
            asked.result.error = answer.error().what;
            talk.broken = kNotAsked;
        }
    } else {
        asked.result.error = broken;
    }
    asked.result.turn = turns_of(talk.history);
    count_.add_one();
    return asked;
}

void ServerRun::take_answer(Asked &asked, const Step &step, Talk &talk, const ChatAnswer &answer, double asked_at_s) {
    RequestResult &result = asked.result;
    // An answer without any text: its end is what the client sees first.
    result.first_token_s = answer.piece_times_s.empty() ? result.total_s : answer.piece_times_s.front() - asked_at_s;
    result.gaps_s = gaps_between(answer.piece_times_s);
    result.prompt_tokens = answer.prompt_tokens.value_or(0);
    result.cached_tokens = answer.cached_tokens;
    result.completion_tokens = answer.completion_tokens.value_or(static_cast<long>(answer.piece_times_s.size()));
    asked.answer = answer.reasoning + answer.content;
    if (step.answer)
        talk.history.push_back({"assistant", texts_.text_of(*step.answer), ""});
    else
        talk.history.push_back({"assistant", answer.content, answer.reasoning});
}

StageRequest ServerRun::stage_request(const Asked &asked) {
    if (!asked.result.error.empty()) return {};
    auto prompt = context_.server.units_of(asked.prompt, "");
    auto answered = context_.server.units_of(asked.prompt, asked.answer);
    if (prompt && answered) return {std::move(*prompt), std::move(*answered), asked.result.prompt_tokens, asked.wave};
    context_.notes.push_back(fmt::format("{}: a request is left out of the ideal: {}", workload_.name,
                                         prompt ? answered.error().what : prompt.error().what));
    return {};
}

void ServerRun::end_stage() {
    std::vector<StageRequest> requests;
    for (const Asked &one : asked_)
        requests.push_back(stage_request(one));
    const auto ideals = ideal_of_stage(context_.seen, requests, stage().together);
    for (std::size_t i = 0; i < asked_.size(); ++i) {
        RequestResult &result = asked_[i].result;
        result.ideal_new_tokens = ideals[i].new_tokens;
        result.ideal_waited_requests = ideals[i].waited_requests;
        result.ideal_waited_tokens = ideals[i].waited_tokens;
        result_.requests.push_back(std::move(result));
    }
    asked_.clear();
}

/// The servers of a workload, in the order of their turns.
class Turns {
public:
    explicit Turns(std::vector<ServerRun> &servers) : servers_(servers) {}

    template <class Ask>
    void each(const Ask &ask) {
        for (std::size_t i = 0; i < servers_.size(); ++i) {
            if (servers_.size() > 1) std::this_thread::sleep_for(kPauseBetweenServers);
            ask(servers_[(first_ + i) % servers_.size()]);
        }
        ++first_;
    }

private:
    std::vector<ServerRun> &servers_;
    std::size_t first_ = 0;
};

void run_stage(const Stage &stage, Turns &turns) {
    if (stage.together) {
        turns.each([](ServerRun &server) { server.ask_together(); });
        return;
    }
    for (unsigned wave = 0; wave < most_steps(stage); ++wave) {
        for (const ConversationPlan &conversation : stage.conversations) {
            if (wave >= conversation.steps.size()) continue;
            turns.each([&](ServerRun &server) { server.ask_one(conversation, wave); });
        }
    }
}

}  // namespace

std::vector<WorkloadResult> run_workload(const Workload &workload, const std::vector<BenchContext *> &contexts,
                                         const Answered &answered) {
    AnsweredCount count(answered);
    std::vector<ServerRun> servers;
    for (BenchContext *context : contexts)
        servers.emplace_back(workload, *context, count);
    Turns turns(servers);
    for (unsigned i = 0; i < workload.stages.size(); ++i) {
        const Stage &stage = workload.stages[i];
        if (stage.restart) {
            for (ServerRun &server : servers)
                server.restart();
            continue;
        }
        for (ServerRun &server : servers)
            server.begin_stage(i);
        run_stage(stage, turns);
        for (ServerRun &server : servers)
            server.end_stage();
    }
    std::vector<WorkloadResult> results;
    for (ServerRun &server : servers)
        results.push_back(server.take_result());
    return results;
}

}  // namespace cairn
