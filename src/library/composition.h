// The object graph of a program, made once: model -> backend -> cache -> engine thread, and what the wire formats need.
//
//     auto made = compose(config, progress);
//     if (!made) return report(made.error());
//     Composition &graph = **made;
//
// Ownership: the composition owns everything in it and goes down in the right order.
// Threads: the engine's starts here. Errors: those of opening a model, a chat template or a configuration.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "api/api.h"
#include "config/config.h"
#include "engine/engine_thread.h"
#include "env/env.h"
#include "llama/llama_backend.h"
#include "metrics/metrics.h"
#include "policy/snapshot_policy.h"

namespace cairn {

struct Composition {
    explicit Composition(Env &machine) : env(machine) {}

    Env &env;
    Metrics metrics;
    SnapshotPolicy policy;
    double parked_cell_tax = 0;
    std::vector<std::string> notes;  ///< what was found at start and is worth a line in the log
    std::unique_ptr<EngineThread> engine;
    std::unique_ptr<ChatTemplate> chat_template;

    [[nodiscard]] ApiContext api_context() const;
    /// Lines that say what really is in force: model, limits, capture mode, budgets, and what differs from the request.
    [[nodiscard]] std::vector<std::string> summary(const Config &config) const;
};

/// How the cache directory is treated.
struct DiskOpening {
    std::string holder;     ///< who locks it, for others: "pid 71, cairn serve -m model.gguf"
    bool required = false;  ///< the user named it: an error where it cannot be used. false: a note, and no disk tier
};

[[nodiscard]] Result<std::unique_ptr<Composition>> compose(const Config &config, const LoadProgress &progress,
                                                           const DiskOpening &disk = {});

}  // namespace cairn
