#include "bench/workload_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <latch>
#include <system_error>
#include <thread>
#include <utility>

#include "bench/chat_client.h"
#include "bench/shell_command.h"

namespace cairn {
namespace {

/// Where a conversation's requests stop after one that failed.
constexpr const char *kNotAsked = "not asked: an earlier request of the conversation failed";

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

}  // namespace

WorkloadRun::WorkloadRun(const Workload &workload, const BenchContext &context, Answered answered)
    : workload_(workload),
      context_(context),
      texts_{workload.name, context.options.seed, context.options.scale},
      answered_(std::move(answered)),
      begun_at_s_(context.env.now_s()) {}

WorkloadResult WorkloadRun::run() {
    result_.name = workload_.name;
    for (unsigned i = 0; i < workload_.stages.size(); ++i) {
        if (workload_.stages[i].restart)
            restart();
        else
            run_stage(i, workload_.stages[i]);
    }
    result_.summary = summarize(result_.requests);
    return std::move(result_);
}

void WorkloadRun::restart() {
    const auto status = run_shell(context_.options.restart_command, context_.options.timeout_s, context_.env);
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

void WorkloadRun::run_stage(unsigned index, const Stage &stage) {
    open_talks(stage);
    std::vector<Asked> asked = stage.together ? ask_together(index, stage) : ask_in_turn(index, stage);
    add_ideals(asked, stage.together);
    for (Asked &one : asked) {
        one.result.warm_up = stage.warm_up;
        result_.requests.push_back(std::move(one.result));
    }
}

/// All at once: a fork is of what was before the stage, and threads find the map as it stays.
void WorkloadRun::open_talks(const Stage &stage) {
    std::map<std::string, Talk> opened;
    for (const ConversationPlan &conversation : stage.conversations) {
        if (!conversation.fork.empty()) opened[conversation.name] = talks_.at(conversation.fork);
    }
    talks_.merge(opened);
    for (const ConversationPlan &conversation : stage.conversations)
        talks_.try_emplace(conversation.name);
}

std::vector<WorkloadRun::Asked> WorkloadRun::ask_in_turn(unsigned index, const Stage &stage) {
    std::vector<Asked> all;
    for (unsigned wave = 0; wave < most_steps(stage); ++wave) {
        for (const ConversationPlan &conversation : stage.conversations) {
            if (wave < conversation.steps.size())
                all.push_back(ask(index, conversation, wave, talks_.at(conversation.name)));
        }
    }
    return all;
}

std::vector<WorkloadRun::Asked> WorkloadRun::ask_together(unsigned index, const Stage &stage) {
    std::vector<std::vector<Asked>> by_stream(stage.conversations.size());
    {
        std::latch all_ready(static_cast<std::ptrdiff_t>(stage.conversations.size()));
        std::vector<std::jthread> streams;
        const auto start = [&](std::size_t i) {
            streams.emplace_back([&, i] {
                const ConversationPlan &conversation = stage.conversations[i];
                Talk &talk = talks_.at(conversation.name);
                all_ready.arrive_and_wait();
                for (unsigned wave = 0; wave < conversation.steps.size(); ++wave)
                    by_stream[i].push_back(ask(index, conversation, wave, talk));
            });
        };
        try {
            for (std::size_t i = 0; i < stage.conversations.size(); ++i)
                start(i);
        } catch (const std::system_error &error) {
            // Those that run wait for all: they would for ever.
            broken_ = fmt::format("not asked: this machine starts no more than {} threads ({})", streams.size(),
                                  error.what());
            all_ready.count_down(static_cast<std::ptrdiff_t>(stage.conversations.size() - streams.size()));
        }
    }
    std::vector<Asked> all;
    for (std::vector<Asked> &stream : by_stream)
        std::move(stream.begin(), stream.end(), std::back_inserter(all));
    return all;
}

WorkloadRun::Asked WorkloadRun::ask(unsigned stage, const ConversationPlan &conversation, unsigned wave, Talk &talk) {
    const Step &step = conversation.steps[wave];
    Asked asked;
    asked.wave = wave;
    asked.result.stage = stage;
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
    const std::lock_guard lock(mutex_);
    answered_(++count_);
    return asked;
}

void WorkloadRun::take_answer(Asked &asked, const Step &step, Talk &talk, const ChatAnswer &answer, double asked_at_s) {
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

StageRequest WorkloadRun::stage_request(const Asked &asked) {
    if (!asked.result.error.empty()) return {};
    auto prompt = context_.server.units_of(asked.prompt, "");
    auto answered = context_.server.units_of(asked.prompt, asked.answer);
    if (prompt && answered) return {std::move(*prompt), std::move(*answered), asked.result.prompt_tokens, asked.wave};
    context_.notes.push_back(fmt::format("{}: a request is left out of the ideal: {}", workload_.name,
                                         prompt ? answered.error().what : prompt.error().what));
    return {};
}

void WorkloadRun::add_ideals(std::vector<Asked> &asked, bool together) {
    std::vector<StageRequest> requests;
    for (const Asked &one : asked)
        requests.push_back(stage_request(one));
    const auto ideals = ideal_of_stage(context_.seen, requests, together, context_.cold);
    for (std::size_t i = 0; i < asked.size(); ++i) {
        asked[i].result.ideal_new_tokens = ideals[i].new_tokens;
        asked[i].result.ideal_first_token_s = ideals[i].first_token_s;
    }
}

}  // namespace cairn
