#include "library/composition.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <optional>
#include <utility>

#include "cache/prefix_cache.h"
#include "library/machine.h"
#include "library/open_patiently.h"
#include "policy/device_residency.h"

namespace cairn {

namespace {

/// Each parked sequence takes a state slot of the device for good, so there are never more than this.
constexpr std::int32_t kMostParked = 32;
/// A tier that does not even hold its state keeps next to nothing, which looks like a fault.
constexpr TokenPos kShortConversation = 1024;

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

/// Left free on the file system of the cache directory: others need it more than state that can be made again.
std::uint64_t free_space_to_leave(const SpaceInfo &space) {
    return std::clamp<std::uint64_t>(space.total / 20, 1_GiB, 16_GiB);
}

/// The cache directory with the limits of the tier that is to use it.
struct OpenDisk {
    CacheDirectory directory;
    DiskLimits limits;
};

Result<OpenDisk> open_required(Env &env, const SnapshotPolicy &policy, const DiskOpening &opening) {
    auto directory = open_patiently(env, policy.disk_path, opening.holder);
    if (!directory) return fail(directory.error());
    const auto space = env.files().space(policy.disk_path);
    if (!space) return fail(space.error());
    return OpenDisk{std::move(*directory), {policy.disk_bytes, free_space_to_leave(*space)}};
}

/// Nothing where `policy` wants no disk tier, or where it is not required and cannot be had.
Result<std::optional<OpenDisk>> open_disk(Composition &graph, const SnapshotPolicy &policy,
                                          const DiskOpening &opening) {
    if (!policy.enabled || policy.disk_bytes == 0) return std::nullopt;
    if (policy.disk_path.empty()) {
        return fail(ErrorCode::invalid_argument,
                    "state is to be kept on disk (--cache-disk), and nothing says where: "
                    "name a directory with --cache-dir");
    }
    auto disk = open_required(graph.env, policy, opening);
    if (!disk && opening.required) return fail(disk.error());
    if (!disk) {
        graph.notes.push_back("no state is kept on disk: " + disk.error().what);
        return std::nullopt;
    }
    const auto &notes = disk->directory.notes;
    graph.notes.insert(graph.notes.end(), notes.begin(), notes.end());
    return std::optional(std::move(*disk));
}

MemoryLimits memory_limits(const std::optional<BatchingConfig> &batching) {
    if (!batching) return {};
    return {.budget_bytes = batching->device_memory_budget_bytes.value_or(0),
            .headroom_bytes = batching->device_memory_headroom_bytes.value_or(0),
            .utilization = batching->gpu_utilization_factor.value_or(0)};
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
    lines.push_back(fmt::format("context  {} tokens a sequence, {} sequence{} at once, pool of {} cells",
                                limits.context, at_once, at_once == 1 ? "" : "s", limits.pool_cells));
    if (at_once < config.model.parallel) {
        lines.push_back(fmt::format("         {} sequences at once were asked for: {}", config.model.parallel,
                                    at_once < limits.live_sequences ? "max_batch_size allows no more"
                                                                    : "the memory that is allowed holds no more"));
    }
    lines.push_back(fmt::format("         steps of at most {} tokens, {} requests may wait",
                                engine->stats().scheduled_tokens, engine->stats().waiting_limit));
    if (limits.context < config.model.context) {
        lines.push_back(fmt::format("         {} tokens of context were asked for: the memory that is allowed holds {}",
                                    config.model.context, limits.context));
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
        const DeviceResidency parked = device_residency(policy, parked_cell_tax, layout.row_bytes);
        lines.push_back(fmt::format(
            "cache    device {}, at most {} cells in {} snapshots (tax of 1,000 parked cells: {:.1f} %), RAM {}",
            mebibytes(policy.device_bytes), std::min(parked.max_cells, limits.pool_cells),
            std::min(policy.max_device_snapshots, limits.parked_sequences), parked_cell_tax * 1e5,
            mebibytes(policy.ram_bytes)));
        if (policy.disk_bytes > 0) {
            const EngineStats stats = engine->stats();
            lines.push_back(fmt::format("         disk {} in {}, {} there already ({} snapshots of this model)",
                                        mebibytes(policy.disk_bytes), policy.disk_path, mebibytes(stats.disk_bytes),
                                        stats.snapshots));
        }
    }
    const TokenPos tokens = std::min(limits.context, kShortConversation);
    const std::size_t state = layout.boundary_bytes + static_cast<std::size_t>(tokens) * layout.row_bytes;
    if (const std::string tiers = policy.too_small_for(state); !tiers.empty()) {
        lines.push_back(fmt::format("note     the state of {} tokens takes {}, and nothing so large is kept in: {}",
                                    tokens, mebibytes(state), tiers));
    }
    const auto &batching = config.engine.dynamic_batching;
    if (policy.disk_bytes > 0 && batching && batching->snapshot_ram_bytes.value_or(0) < policy.ram_bytes) {
        lines.push_back(fmt::format("note     state goes to disk through RAM, which therefore has {} (--cache-ram)",
                                    mebibytes(policy.ram_bytes)));
    }
    for (const std::string &note : notes)
        lines.push_back("note     " + note);
    return lines;
}

Result<std::unique_ptr<Composition>> compose(const Config &config, const LoadProgress &progress,
                                             const DiskOpening &disk) {
    // What the model is like is known only after it is open, and that decides but whether the cache is on.
    const SnapshotPolicy wanted = SnapshotPolicy::resolve(config.engine.dynamic_batching, {});
    auto graph = std::make_unique<Composition>(system_env());
    // Before the model, which takes long to load: that another server has the directory is said at once.
    auto opened = open_disk(*graph, wanted, disk);
    if (!opened) return fail(opened.error());
    auto backend = open_llama_backend(config.model,
                                      {.device_bytes = wanted.device_bytes,
                                       .parked_sequences = std::min(wanted.max_device_snapshots, kMostParked),
                                       .memory = memory_limits(config.engine.dynamic_batching)},
                                      progress);
    if (!backend) return fail(backend.error());
    const StateLayout &layout = (*backend)->layout();

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
        std::unique_ptr<DiskTier> tier;
        if (*opened) {
            tier = std::make_unique<DiskTier>(std::move((*opened)->directory), (*opened)->limits, graph->env,
                                              graph->metrics);
        }
        if (tier == nullptr) graph->policy.disk_bytes = 0;
        cache = std::make_unique<PrefixCache>(**backend, graph->policy, graph->env, graph->metrics, std::move(tier));
    }
    graph->engine = std::make_unique<EngineThread>(EngineDependencies{.backend = std::move(*backend),
                                                                      .cache = std::move(cache),
                                                                      .config = config.engine,
                                                                      .env = graph->env,
                                                                      .metrics = graph->metrics});
    return graph;
}

}  // namespace cairn
