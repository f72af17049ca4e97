#include "app/demo_script.h"

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <utility>

namespace cairn {
namespace {

constexpr TokenPos kLongestAnswer = 48;

TokenPos common_prefix(const Tokens &a, const Tokens &b) {
    const auto differ = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
    return static_cast<TokenPos>(differ.first - a.begin());
}

/// The first half of a question, up to a space where there is one.
std::string first_half(const std::string &question) {
    const std::size_t space = question.find(' ', question.size() / 2);
    return question.substr(0, space == std::string::npos ? question.size() / 2 : space);
}

TokenPos handbook_end_of(const ChatPrompt &prompt, TokenPos question_begin) {
    for (const CheckpointHint &hint : prompt.checkpoints) {
        if (hint.kind == CheckpointKind::system_end && hint.pos > 0) return hint.pos;
    }
    return question_begin;  // a template that puts the system prompt into the first user message
}

Request request_for(const DemoPrompt &prompt, TokenPos length, TokenPos max_tokens, bool cache) {
    Request request;
    request.prompt.assign(prompt.tokens.begin(), prompt.tokens.begin() + length);
    request.sampling.temperature = 0;
    request.max_tokens = max_tokens;
    request.cache = cache;
    request.checkpoints = prompt.checkpoints;
    return request;
}

/// Where the n-th question resumes. The first one inside, so that even a single question tests the recurrent state.
struct Resume {
    DemoCut cut = DemoCut::handbook_end;
    TokenPos pos = 0;
    TokenPos end = 0;  ///< the first position that would be too late
};

Resume resume_of(const DemoPrompt &prompt, std::size_t n) {
    const TokenPos cut = n % 4 == 0 ? prompt.cut_middle : prompt.cut_late;
    if (n % 2 == 1 || cut <= prompt.question.begin) {
        return {DemoCut::handbook_end, prompt.handbook_end, static_cast<TokenPos>(prompt.tokens.size())};
    }
    return {DemoCut::inside_question, cut, prompt.question.end + 1};
}

DemoRow row_of(const DemoQuestion &question, DemoMode mode, DemoReply reply) {
    DemoRow row;
    row.id = question.id;
    row.question = question.question;
    row.expected = question.answer;
    row.mode = mode;
    row.reuse = std::move(reply.reuse);
    row.first_token_ms = reply.first_token_s * 1000;
    row.answer = std::move(reply.text);
    row.answer_tokens = std::move(reply.tokens);
    return row;
}

/// Has the first `pos` tokens of a prompt computed and kept. The checkpoint of a prompt lies one token before its end.
Status compute_prefix(const DemoScript &script, const DemoPrompt &prompt, TokenPos pos) {
    auto reply = script.ask(request_for(prompt, pos + 1, 1, true));
    if (!reply) return fail(reply.error());
    return {};
}

Result<DemoRow> ask_warm(const DemoScript &script, const DemoQuestion &question, const DemoPrompt &prompt,
                         const Resume &resume, const Tokens &cold_answer) {
    if (resume.cut == DemoCut::inside_question) {
        if (auto done = compute_prefix(script, prompt, resume.pos); !done) return fail(done.error());
    }
    auto reply = script.ask(request_for(prompt, static_cast<TokenPos>(prompt.tokens.size()), kLongestAnswer, true));
    if (!reply) return fail(reply.error());
    DemoRow row = row_of(question, DemoMode::warm, *std::move(reply));
    row.cut = resume.cut;
    row.resume_at = {resume.pos, resume.end};
    row.equals_cold = row.answer_tokens == cold_answer;
    return row;
}

}  // namespace

Result<DemoPrompt> DemoScript::prompt_of(const DemoBook &book, const DemoQuestion &question) const {
    const std::string &text = question.question;
    // A question that differs in its first character, one that stops halfway, one that lacks its last character, and
    // one that goes on: where each leaves the path of the real one.
    const std::string variants[] = {text[0] == '0' ? "1" : "0", first_half(text), text.substr(0, text.size() - 1),
                                    text + " 0"};
    auto whole = render(book.system_prompt, text);
    if (!whole) return fail(whole.error());
    TokenPos leaves[4] = {};
    for (std::size_t i = 0; i < 4; ++i) {
        auto variant = render(book.system_prompt, variants[i]);
        if (!variant) return fail(variant.error());
        leaves[i] = common_prefix(whole->tokens, variant->tokens);
    }
    const auto size = static_cast<TokenPos>(whole->tokens.size());
    if (leaves[0] == 0 || leaves[3] < leaves[0] || leaves[3] >= size) {
        return fail(
            ErrorCode::unsupported,
            "The chat template of this model does not put the question behind the handbook, so there is no prefix "
            "to reuse: choose another template with --chat-template");
    }
    DemoPrompt prompt;
    prompt.handbook_end = handbook_end_of(*whole, leaves[0]);
    prompt.question = {leaves[0], leaves[3]};
    prompt.cut_middle = leaves[1];
    prompt.cut_late = leaves[2];
    prompt.checkpoints = std::move(whole->checkpoints);
    prompt.tokens = std::move(whole->tokens);
    return prompt;
}

Result<DemoReport> DemoScript::run(const DemoBook &book, const std::vector<DemoQuestion> &questions) const {
    DemoReport report;
    std::vector<DemoPrompt> prompts;
    std::vector<DemoRow> cold;
    for (std::size_t n = 0; n < questions.size(); ++n) {
        auto prompt = prompt_of(book, questions[n]);
        if (!prompt) return fail(prompt.error());
        Request request = request_for(*prompt, static_cast<TokenPos>(prompt->tokens.size()), kLongestAnswer, false);
        // Cold and warm are computed in the same pieces where the engine cuts at hints: equal to the last bit then.
        request.checkpoints.push_back({resume_of(*prompt, n).pos, CheckpointKind::fork});
        auto reply = ask(std::move(request));
        if (!reply) return fail(reply.error());
        cold.push_back(row_of(questions[n], DemoMode::cold, *std::move(reply)));
        prompts.push_back(*std::move(prompt));
    }
    if (prompts.empty()) return report;

    report.handbook_tokens = prompts[0].handbook_end;
    if (auto done = compute_prefix(*this, prompts[0], report.handbook_tokens); !done) return fail(done.error());
    for (std::size_t n = 0; n < questions.size(); ++n) {
        auto warm = ask_warm(*this, questions[n], prompts[n], resume_of(prompts[n], n), cold[n].answer_tokens);
        if (!warm) return fail(warm.error());
        report.rows.push_back(std::move(cold[n]));
        report.rows.push_back(*std::move(warm));
    }
    return report;
}

}  // namespace cairn
