#include "app/composition.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>

#include "cache/prefix_cache.h"

namespace cairn {

namespace {

/// Each parked sequence takes a state slot of the device for good, so there are never more than this.
constexpr std::int32_t kMostParked = 32;

Result<std::string> chat_template_source(const ModelConfig &config, const ModelInfo &model) {
    if (config.chat_template_file.empty()) {
        return config.chat_template.empty() ? model.chat_template : config.chat_template;
    }
    std::ifstream file(config.chat_template_file);
    if (!file) {
        return fail(ErrorCode::io, "cannot read the chat template {}: {}", config.chat_template_file,
                    std::strerror(errno));
    }
    return std::string(std::istreambuf_iterator<char>(file), {});
}

std::string mebibytes(std::size_t bytes) {
    return fmt::format("{:.1f} MiB", static_cast<double>(bytes) / (1 << 20));
}

}  // namespace

ApiContext Composition::api_context() const {
    return {engine->vocabulary(), *chat_template, engine->model(), engine->limits(), engine->model().name};
}

std::vector<std::string> Composition::summary(const Config &config) const {
    const ModelInfo &model = engine->model();
    const BackendLimits &limits = engine->limits();
    const StateLayout &layout = engine->layout();
    const std::int32_t at_once = engine->stats().live_sequences;
    std::vector<std::string> lines;
    lines.push_back(fmt::format("model    {} ({}, {})", model.name, model.description, mebibytes(model.file_bytes)));
    lines.push_back(fmt::format("context  {} tokens a sequence, {} sequences at once, pool of {} cells", limits.context,
                                at_once, limits.pool_cells));
    if (at_once < config.model.parallel) {
        lines.push_back(
            fmt::format("         {} sequences were asked for: the backend has {}, and max_batch_size allows {}",
                        config.model.parallel, limits.live_sequences, at_once));
    }
    if (config.model.context == 0 && limits.context < model.trained_context) {
        lines.push_back(fmt::format("         the model was trained for {} tokens: -c sets more, if memory allows",
                                    model.trained_context));
    }
    lines.push_back(fmt::format("state    {}{}{}, {} B a token, {} a boundary", name_of(layout.mode),
                                layout.has_boundary ? "" : ", rows alone", layout.can_rewind ? ", rewinds" : "",
                                layout.row_bytes, mebibytes(layout.boundary_bytes)));
    if (!layout.why.empty()) lines.push_back("         " + layout.why);
    if (!policy.enabled) {
        lines.push_back("cache    off: " + policy.why_off);
    } else {
        lines.push_back(
            fmt::format("cache    device {} in at most {} snapshots (tax of 1,000 parked cells: {:.1f} %), RAM {}",
                        mebibytes(policy.device_bytes), std::min(policy.max_device_snapshots, limits.parked_sequences),
                        parked_cell_tax * 1e5, mebibytes(policy.ram_bytes)));
    }
    return lines;
}

Result<std::unique_ptr<Composition>> compose(const Config &config, const LoadProgress &progress) {
    // What the model is like is known only after it is open, and that decides but whether the cache is on.
    const SnapshotPolicy wanted = SnapshotPolicy::resolve(config.engine.dynamic_batching, {});
    auto backend = open_llama_backend(
        config.model,
        {.device_bytes = wanted.device_bytes, .parked_sequences = std::min(wanted.max_device_snapshots, kMostParked)},
        progress);
    if (!backend) return fail(backend.error());
    const StateLayout &layout = (*backend)->layout();

    auto graph = std::make_unique<Composition>(system_env());
    graph->policy =
        SnapshotPolicy::resolve(config.engine.dynamic_batching, {.has_sliding_window = layout.has_sliding_window});
    if (layout.mode == CaptureMode::none) {
        graph->policy = SnapshotPolicy{};
        graph->policy.why_off = layout.why;
    }
    graph->parked_cell_tax = (*backend)->parked_cell_tax();
    graph->metrics.set(Metric::live_sequences_configured, config.model.parallel);

    auto source = chat_template_source(config.model, (*backend)->info());
    if (!source) return fail(source.error());
    auto chat_template = ChatTemplate::create(*source, (*backend)->vocabulary());
    if (!chat_template) return fail(chat_template.error());
    graph->chat_template = std::move(*chat_template);

    std::unique_ptr<PrefixCache> cache;
    if (graph->policy.enabled) {
        cache = std::make_unique<PrefixCache>(**backend, graph->policy, graph->env, graph->metrics);
    }
    graph->engine = std::make_unique<Engine>(EngineDependencies{.backend = std::move(*backend),
                                                                .cache = std::move(cache),
                                                                .config = config.engine,
                                                                .env = graph->env,
                                                                .metrics = graph->metrics});
    return graph;
}

}  // namespace cairn
