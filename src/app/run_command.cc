#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <future>
#include <memory>

#include "app/commands.h"
#include "app/load_progress.h"
#include "config/cli.h"
#include "library/composition.h"

namespace cairn {

namespace {

struct RunOptions {
    Config config;
    std::string prompt;
    std::string system;
    bool raw = false;
    bool quiet = false;
    TokenPos predict = -1;
    SamplingParams sampling;
    std::int64_t seed = -1;
};

Result<Request> make_request(const RunOptions &options, const Composition &graph) {
    Request request;
    request.sampling = options.sampling;
    if (options.seed >= 0) request.sampling.seed = static_cast<std::uint32_t>(options.seed);
    if (options.predict >= 0) request.max_tokens = options.predict;
    if (options.raw) {
        auto tokens = graph.engine->vocabulary().tokenize(options.prompt, true, SpecialTokens::parse);
        if (!tokens) return fail(tokens.error());
        request.prompt = std::move(*tokens);
        return request;
    }
    ChatInput input;
    if (!options.system.empty()) input.messages.push_back({.role = "system", .content = options.system});
    input.messages.push_back({.role = "user", .content = options.prompt});
    auto prompt = graph.chat_template->render(input);
    if (!prompt) return fail(prompt.error());
    request.prompt = std::move(prompt->tokens);
    return request;
}

int run(RunOptions options) {
    if (options.config.model.path.empty()) {
        return report({ErrorCode::invalid_argument, "no model: give the GGUF file with -m FILE"});
    }
    options.config.model.parallel = 1;
    auto graph = compose(options.config, show_load_progress(options.config.model.path, options.quiet));
    if (!graph) return report(graph.error());
    auto request = make_request(options, **graph);
    if (!request) return report(request.error());

    std::promise<Status> done;
    RequestEvents events;
    events.delta = [](std::string_view text, const auto &, const Tokens &) {
        std::fwrite(text.data(), 1, text.size(), stdout);
        std::fflush(stdout);
    };
    events.finished = [&done](FinishReason, const Usage &, const Timings &) { done.set_value({}); };
    events.failed = [&done](const Error &error) { done.set_value(fail(error)); };
    if (auto id = (*graph)->engine->submit(std::move(*request), std::move(events)); !id) return report(id.error());
    if (auto status = done.get_future().get(); !status) return report(status.error());
    std::fputc('\n', stdout);
    return 0;
}

}  // namespace

Command add_run_command(CLI::App &parent) {
    auto options = std::make_shared<RunOptions>();
    CLI::App *app = parent.add_subcommand("run", "Answer one prompt and exit.");
    add_options(*app, options->config, {OptionGroup::model});
    app->add_option("-p,--prompt", options->prompt, "What the user says.")->required();
    app->add_option("--system-prompt", options->system, "What the system says before.");
    app->add_flag("--raw", options->raw, "Take the prompt as it is, without the chat template.");
    app->add_flag("--quiet", options->quiet, "Print the answer only.");
    app->add_option("-n,--predict", options->predict, "Most tokens of the answer; -1: until the model ends.")
        ->check(CLI::Range(-1, 1 << 30));
    app->add_option("--temp", options->sampling.temperature, "Temperature; 0: the most likely token always.")
        ->check(CLI::Range(0.0, 100.0));
    app->add_option("--top-k", options->sampling.top_k, "Sample from the k most likely tokens; 0: off.")
        ->check(CLI::Range(0, 1 << 30));
    app->add_option("--top-p", options->sampling.top_p, "Sample from the smallest set of this probability; 1: off.")
        ->check(CLI::Range(0.0, 1.0));
    app->add_option("--min-p", options->sampling.min_p,
                    "Leave out tokens less likely than this share of the best; 0: off.")
        ->check(CLI::Range(0.0, 1.0));
    app->add_option("-s,--seed", options->seed, "Seed of the sampling; -1: a new one each time.")
        ->check(CLI::Range(std::int64_t{-1}, std::int64_t{0xffffffff}));
    return {app, [options] { return run(*options); }};
}

}  // namespace cairn
