// Generator: text in, text out, one call at a time, on an engine of its own.
//
//     cairn::Generator generator(model, {.sampling = {.temperature = 0}, .max_tokens = 64});
//     auto answer = generator.generate("The capital of France is");
//     auto more = generator.continue_with(" What is its river?");      // computes the new tokens alone
//
// A continuation begins with the very tokens of the last turn, prompt and answer, so that its state is found whatever
// a tokenizer would make of their text.
//
// Ownership: shares the model. Threads: one at a time; stop() from any.
// Errors: those of Engine::submit and of the computation; after an error the last turn is as it was.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cairn/engine.h"
#include "cairn/error.h"
#include "cairn/request.h"
#include "cairn/types.h"

namespace cairn {

struct GeneratorOptions {
    EngineOptions engine = {.name = "generator", .scope = CacheScope::model};
    SamplingParams sampling = {};
    std::optional<TokenPos> max_tokens = {};  ///< none: until the model ends or the context is full
    std::vector<std::string> stop = {};
    std::string tenant = {};
};

/// One turn. Counts are of this turn.
struct Generation {
    std::string text;  ///< UTF-8
    Tokens tokens;     ///< those whose text is in `text`
    FinishReason reason = FinishReason::stop;
    Usage usage;
    ReuseReport reuse;
    Timings timings;
};

/// Called with each piece of text; returning false ends the turn as cancelled. On the model's thread: return soon.
using OnText = std::function<bool(std::string_view)>;

class Generator {
public:
    explicit Generator(std::shared_ptr<Model> model, GeneratorOptions options = {});
    ~Generator();
    Generator(Generator &&) noexcept;
    Generator &operator=(Generator &&) noexcept;

    /// A turn that begins anew. Blocks until it has ended.
    [[nodiscard]] Result<Generation> generate(std::string_view prompt, const OnText &on_text = {});
    [[nodiscard]] Result<Generation> generate(Tokens prompt, const OnText &on_text = {});
    /// The last turn's tokens, prompt and answer, then `more`. The first turn where there was none.
    [[nodiscard]] Result<Generation> continue_with(std::string_view more, const OnText &on_text = {});
    /// Ends the turn that runs, if one does, as cancelled. From any thread.
    void stop();
    /// Tokens that a continuation begins with.
    [[nodiscard]] const Tokens &tokens() const;

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace cairn
