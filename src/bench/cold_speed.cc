#include "bench/cold_speed.h"

#include <fmt/format.h>

#include "base/check.h"

namespace cairn {
namespace {

constexpr unsigned kLongWords = 600;
constexpr unsigned kShortWords = 60;
/// More than the marks of a template have in common.
constexpr long kNoticedTokens = 64;

Step ask_for_a_token(unsigned words, const std::string &seed) {
    Step step{.system = {}, .user = {TextPart{.literal = "", .words = words, .seed = seed}}, .answer = {}};
    step.max_tokens = 1;
    return step;
}

}  // namespace

Workload cold_prompts(unsigned pass) {
    Workload workload{.name = fmt::format("calibration {}", pass), .about = "", .stages = {Stage{}}};
    workload.stages[0].conversations = {{"long", "", {ask_for_a_token(kLongWords, "long")}},
                                        {"short", "", {ask_for_a_token(kShortWords, "short")}}};
    return workload;
}

Status ColdSamples::add(const std::vector<RequestResult> &answers) {
    CAIRN_CHECK(answers.size() == 2, "these are not the answers to cold_prompts()");
    for (const RequestResult &answer : answers) {
        if (!answer.error.empty()) return fail(ErrorCode::io, "the first request was not answered: {}", answer.error);
        const long cached = answer.cached_tokens.value_or(0);
        warm_ = warm_ || cached > kNoticedTokens;
        untold_ = untold_ || !answer.cached_tokens;
        if (answer.prompt_tokens <= cached) {
            return fail(ErrorCode::unsupported,
                        "the server's answers say nothing of tokens (no usage with prompt_tokens in the stream): a "
                        "bench counts them");
        }
    }
    for (const auto &[sum, answer] : {std::pair{&longer_, &answers[0]}, std::pair{&shorter_, &answers[1]}}) {
        sum->tokens += static_cast<double>(answer->prompt_tokens - answer->cached_tokens.value_or(0));
        sum->seconds += answer->first_token_s;
        ++sum->count;
    }
    return {};
}

ColdSpeed ColdSamples::speed() const {
    CAIRN_CHECK(longer_.seconds > 0, "nothing was measured");
    const double slope = (longer_.seconds - shorter_.seconds) / (longer_.tokens - shorter_.tokens);
    const double request_s = (longer_.seconds - slope * longer_.tokens) / longer_.count;
    if (longer_.tokens > 2 * shorter_.tokens && slope > 0 && request_s >= 0) return {request_s, 1 / slope};
    return {0, longer_.tokens / longer_.seconds};
}

std::vector<std::string> ColdSamples::notes() const {
    std::vector<std::string> notes;
    if (warm_) {
        notes.emplace_back(
            "the server has seen these texts before, so that nothing here is cold: empty its cache, or take another "
            "--seed");
    }
    if (untold_) notes.emplace_back("the server does not say how many tokens were cached: what it computed is unknown");
    return notes;
}

}  // namespace cairn
