#include "cairn/model.h"

#include <utility>

#include "library/model_impl.h"

namespace cairn {

namespace {

/// What a program may take to go: longer than a state takes to write, shorter than anybody waits.
constexpr double kSaveSeconds = 10;

}  // namespace

Model::Model(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

Model::~Model() {
    EngineThread &thread = *impl_->graph->engine;
    thread.drain(0);
    thread.save(kSaveSeconds);
}

Result<std::shared_ptr<Model>> Model::open(const ModelOptions &options, const std::function<bool(float)> &progress) {
    Config config;
    config.model = options.model;
    config.engine = options.engine;
    auto graph = compose(config, progress, {.holder = "a program that uses libcairn", .required = true});
    if (!graph) return fail(graph.error());
    return std::shared_ptr<Model>(new Model(std::make_unique<Impl>(Impl{std::move(*graph)})));
}

const std::string &Model::name() const {
    return impl_->graph->engine->model().name;
}

TokenPos Model::context() const {
    return impl_->graph->engine->limits().context;
}

Result<Tokens> Model::tokenize(std::string_view text, bool begins) const {
    return impl_->graph->engine->vocabulary().tokenize(text, begins, SpecialTokens::as_text);
}

std::string Model::text_of(TokenView tokens) const {
    std::string text;
    for (const Token token : tokens)
        text += impl_->graph->engine->vocabulary().piece(token, false);
    return text;
}

EngineStats Model::stats() const {
    return impl_->graph->engine->stats();
}

std::string Model::metrics_text() const {
    return impl_->graph->metrics.prometheus_text();
}

}  // namespace cairn
