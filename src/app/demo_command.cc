#include "app/demo_command.h"

#include <fmt/format.h>

#include <future>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <utility>

#include "app/demo_book.h"
#include "app/demo_report.h"
#include "app/demo_script.h"
#include "base/error_table.h"

namespace cairn {
namespace {

/// What one request gathers on the engine's thread; the promise hands it over.
struct Gathering {
    DemoReply reply;
    std::optional<double> first_token_at_s;
    std::promise<Result<DemoReply>> done;
};

RequestEvents events_of(const std::shared_ptr<Gathering> &gathering, Env &env, double asked_at_s) {
    RequestEvents events;
    events.started = [gathering](const ReuseReport &report) { gathering->reply.reuse = report; };
    events.delta = [gathering, &env](std::string_view text, const auto &, const Tokens &tokens) {
        if (!gathering->first_token_at_s) gathering->first_token_at_s = env.now_s();
        gathering->reply.text.append(text);
        gathering->reply.tokens.insert(gathering->reply.tokens.end(), tokens.begin(), tokens.end());
    };
    events.finished = [gathering, &env, asked_at_s](FinishReason reason, const Usage &, const Timings &) {
        if (reason == FinishReason::cancelled) {
            gathering->done.set_value(
                fail(ErrorCode::cancelled, "The question was cancelled before its answer was whole"));
            return;
        }
        gathering->reply.first_token_s = gathering->first_token_at_s.value_or(env.now_s()) - asked_at_s;
        gathering->done.set_value(std::move(gathering->reply));
    };
    events.failed = [gathering](const Error &error) { gathering->done.set_value(fail(error)); };
    return events;
}

Result<DemoReply> ask(EngineThread &engine, Env &env, Request request) {
    auto gathering = std::make_shared<Gathering>();
    auto answer = gathering->done.get_future();
    auto id = engine.submit(std::move(request), events_of(gathering, env, env.now_s()));
    if (!id) return fail(id.error());
    return answer.get();
}

Result<ChatPrompt> render(const ChatTemplate &chat_template, const std::string &system, const std::string &user) {
    ChatInput input;
    for (auto [role, content] : {std::pair{"system", &system}, std::pair{"user", &user}}) {
        ChatMessage message;
        message.role = role;
        message.content = *content;
        input.messages.push_back(std::move(message));
    }
    input.enable_thinking = false;
    return chat_template.render(input);
}

Result<DemoReport> make_report(const DemoOptions &options, EngineThread &engine, const ChatTemplate &chat_template,
                               Env &env) {
    auto book = DemoBook::load();
    if (!book) return fail(book.error());
    const std::size_t there = book->questions.size();
    if (!options.all && (options.questions < 1 || static_cast<std::size_t>(options.questions) > there)) {
        return fail(ErrorCode::invalid_argument, "--questions takes a number from 1 to {}, not {}", there,
                    options.questions);
    }
    DemoScript script;
    script.render = [&](const std::string &system, const std::string &user) {
        return render(chat_template, system, user);
    };
    script.ask = [&](Request request) { return ask(engine, env, std::move(request)); };
    auto report = script.run(*book, book->pick(options.all ? there : static_cast<std::size_t>(options.questions)));
    if (!report) return fail(report.error());
    report->model = engine.model().name;
    report->demo_model = options.demo_model;
    return report;
}

}  // namespace

int run_demo(const DemoOptions &options, EngineThread &engine, const ChatTemplate &chat_template, Env &env,
             std::ostream &out, std::ostream &err) {
    const auto report = make_report(options, engine, chat_template, env);
    if (!report) {
        err << "cairn demo: " << report.error().what << '\n';
        return row_of(report.error().code).exit_code;
    }
    out << (options.json ? demo_json(*report) : demo_table(*report)) << std::flush;
    const auto problems = demo_problems(*report);
    if (problems.empty()) return 0;
    err << fmt::format("cairn demo: {} of the things that must hold do not. {}\n", problems.size(), problems.front());
    return 1;
}

}  // namespace cairn
