// DemoScript: what `cairn demo` asks, in which order, and where the warm questions have to resume.
//
//     DemoScript script{.render = ..., .ask = ...};           // the chat template and the engine, as functions
//     Result<DemoReport> report = script.run(book, book.pick(12));
//
// First every question cold, without the cache. Then the handbook is computed once, and every question is asked again.
// Every second one resumes inside the question: its beginning is computed first, on its own, so that the cache holds
// the state there, in the middle of a sentence. A model whose recurrent state is lost or stale still finds the facts
// when it resumes at the end of the handbook, as attention finds them; inside the question it no longer knows what was
// asked.
//
//     | handbook                 | markup | Who leads the | chess club? | markup | answer
//     0                 handbook end      ^ middle      ^           ^ before the last character
//
// The cuts are found by rendering: the tokens that a question and its own beginning have in common. So nothing is known
// here of templates and tokenizers.
// Threads: one. Errors: those of the two functions; unsupported where the template hides where the question stands.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "api/chat_template.h"
#include "app/demo_book.h"
#include "app/demo_report.h"
#include "cairn/error.h"
#include "cairn/request.h"

namespace cairn {

/// What came back for one request.
struct DemoReply {
    ReuseReport reuse;
    std::string text;
    Tokens tokens;
    double first_token_s = 0;
};

/// The prompt of one question, and what its parts are.
struct DemoPrompt {
    Tokens tokens;
    std::vector<CheckpointHint> checkpoints;
    TokenPos handbook_end = 0;
    TokenSpan question;
    TokenPos cut_middle = 0;  ///< some word in the middle of the question
    TokenPos cut_late = 0;    ///< before the last character of the question
};

struct DemoScript {
    /// The prompt for a system message and a user message.
    std::function<Result<ChatPrompt>(const std::string &system, const std::string &user)> render;
    std::function<Result<DemoReply>(Request)> ask;

    [[nodiscard]] Result<DemoReport> run(const DemoBook &book, const std::vector<DemoQuestion> &questions) const;
    [[nodiscard]] Result<DemoPrompt> prompt_of(const DemoBook &book, const DemoQuestion &question) const;
};

}  // namespace cairn
