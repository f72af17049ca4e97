#include "cairn/generator.h"

#include <atomic>
#include <future>
#include <utility>

namespace cairn {

namespace {

/// What one turn comes to, gathered on the model's thread.
struct Turn {
    Generation made;
    std::promise<Status> ended;
};

}  // namespace

struct Generator::Impl {
    Impl(std::shared_ptr<Model> model, GeneratorOptions wanted)
        : options(std::move(wanted)), engine(std::move(model), options.engine) {}

    Result<Generation> run(Tokens prompt, const OnText &on_text);

    const GeneratorOptions options;
    Engine engine;
    Tokens tokens;
    std::atomic<bool> stopped{false};
    std::atomic<std::uint64_t> running{0};  // id of the turn's request; 0: none
};

Result<Generation> Generator::Impl::run(Tokens prompt, const OnText &on_text) {
    Request request;
    request.prompt = prompt;
    request.sampling = options.sampling;
    request.max_tokens = options.max_tokens;
    request.stop = options.stop;
    request.tenant = options.tenant;

    const auto turn = std::make_shared<Turn>();
    std::future<Status> ended = turn->ended.get_future();
    stopped = false;
    const auto submitted = engine.submit(
        std::move(request),
        {.started = [turn](const ReuseReport &report) { turn->made.reuse = report; },
         .delta =
             [this, turn, on_text](std::string_view text, const std::vector<TokenLogprobs> &, const Tokens &out) {
                 turn->made.text += text;
                 turn->made.tokens.insert(turn->made.tokens.end(), out.begin(), out.end());
                 if (on_text && !text.empty() && !on_text(text)) stopped = true;
                 if (!stopped) return;
                 if (const std::uint64_t id = running; id != 0) engine.cancel(RequestId(id));
             },
         .finished =
             [turn](FinishReason reason, const Usage &usage, const Timings &timings) {
                 turn->made.reason = reason;
                 turn->made.usage = usage;
                 turn->made.timings = timings;
                 turn->ended.set_value({});
             },
         .failed = [turn](const Error &error) { turn->ended.set_value(fail(error)); }});
    if (!submitted) return fail(submitted.error());
    running = submitted->value();
    if (stopped) engine.cancel(*submitted);
    const Status done = ended.get();
    running = 0;
    if (!done) return fail(done.error());
    tokens = std::move(prompt);
    tokens.insert(tokens.end(), turn->made.tokens.begin(), turn->made.tokens.end());
    return std::move(turn->made);
}

Generator::Generator(std::shared_ptr<Model> model, GeneratorOptions options)
    : impl_(std::make_unique<Impl>(std::move(model), std::move(options))) {}
Generator::~Generator() = default;
Generator::Generator(Generator &&) noexcept = default;
Generator &Generator::operator=(Generator &&) noexcept = default;

Result<Generation> Generator::generate(std::string_view prompt, const OnText &on_text) {
    auto tokens = impl_->engine.model()->tokenize(prompt);
    if (!tokens) return fail(tokens.error());
    return impl_->run(std::move(*tokens), on_text);
}

Result<Generation> Generator::generate(Tokens prompt, const OnText &on_text) {
    return impl_->run(std::move(prompt), on_text);
}

Result<Generation> Generator::continue_with(std::string_view more, const OnText &on_text) {
    auto added = impl_->engine.model()->tokenize(more, impl_->tokens.empty());
    if (!added) return fail(added.error());
    Tokens prompt = impl_->tokens;
    prompt.insert(prompt.end(), added->begin(), added->end());
    return impl_->run(std::move(prompt), on_text);
}

void Generator::stop() {
    impl_->stopped = true;
    if (const std::uint64_t id = impl_->running; id != 0) impl_->engine.cancel(RequestId(id));
}

const Tokens &Generator::tokens() const {
    return impl_->tokens;
}

}  // namespace cairn
