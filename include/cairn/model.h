// Model: a GGUF model ready to run, with the cache that all engines and generators over it share.
//
//     auto model = cairn::Model::open({.model = {.path = "model.gguf"}, .engine = {.dynamic_batching = BatchingConfig{
//                                          .snapshot_ram_bytes = 1 << 30}}});
//     if (!model) return report(model.error());
//     cairn::Generator generator(*model);
//
// One thread computes for all engines of a model: their requests share steps, the pool of cells and, by their scope,
// what has been computed before (docs/library.md).
//
// Ownership: engines and generators hold the model; it goes with the last of them. What is on disk stays, and what is
// worth keeping is written before the model goes. Threads: every call from any thread.
// Errors of open: model_file, model_unsupported, no_memory, invalid_argument, io (the cache directory), cancelled.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "cairn/config.h"
#include "cairn/engine_stats.h"
#include "cairn/error.h"
#include "cairn/types.h"

namespace cairn {

struct ModelOptions {
    ModelConfig model;
    EngineConfig engine;  ///< without dynamic_batching: one request at a time and no cache
};

class Model {
public:
    /// `progress`: called with 0 .. 1 while the weights load; returning false stops it (ErrorCode::cancelled).
    [[nodiscard]] static Result<std::shared_ptr<Model>> open(const ModelOptions &options,
                                                             const std::function<bool(float)> &progress = {});
    ~Model();
    Model(const Model &) = delete;
    Model &operator=(const Model &) = delete;

    [[nodiscard]] const std::string &name() const;
    /// Most tokens of one sequence, prompt and answer together.
    [[nodiscard]] TokenPos context() const;
    /// Tokens of a text in which the spelling of a control token is text. `begins`: with what the model wants before a
    /// prompt's first token, where it wants anything.
    [[nodiscard]] Result<Tokens> tokenize(std::string_view text, bool begins = true) const;
    /// The bytes of tokens, those of control tokens left out; may begin or end inside a UTF-8 character.
    [[nodiscard]] std::string text_of(TokenView tokens) const;
    [[nodiscard]] EngineStats stats() const;
    /// All metrics (docs/metrics.md) in Prometheus' text format.
    [[nodiscard]] std::string metrics_text() const;

private:
    friend class Engine;
    struct Impl;
    explicit Model(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> impl_;
};

}  // namespace cairn
