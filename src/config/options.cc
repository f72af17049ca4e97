#include "config/options.h"

#include <fmt/format.h>

#include "config/config.h"
#include "config/text_list.h"

namespace cairn {

namespace {

template <auto Member>
auto &in_model(Config &config) {
    return config.model.*Member;
}

template <auto Member>
auto &in_engine(Config &config) {
    return config.engine.*Member;
}

BatchingConfig &batching(Config &config) {
    auto &section = config.engine.dynamic_batching;
    if (!section) section.emplace();
    return *section;
}

template <auto Member>
auto &in_batching(Config &config) {
    return batching(config).*Member;
}

template <auto Member>
auto &in_server(Config &config) {
    return config.server.*Member;
}

using M = ModelConfig;
using E = EngineConfig;
using B = BatchingConfig;
using S = ServerConfig;
constexpr auto model = OptionGroup::model;
constexpr auto engine = OptionGroup::engine;
constexpr auto server = OptionGroup::server;

constexpr OptionWord kThreadWords[] = {{"auto", 0}, {"-1", 0}};
constexpr OptionWord kParallelWords[] = {{"auto", 4}, {"-1", 4}};
constexpr OptionWord kLayerWords[] = {{"all", -1}, {"auto", -1}, {"-2", -1}};

// Formatted by hand: a row stays together.
// clang-format off
constexpr Option kOptions[] = {
    {model, "-m,--model", "model.path", in_model<&M::path>, "FILE",
     "The GGUF file of the model; of a split model its first part."},
    {model, "-a,--alias", "model.alias", in_model<&M::alias>, "NAME",
     "The name clients see and ask for. Default: the model's own name."},
    {model, "-c,--ctx-size", "model.context", in_model<&M::context>, "N",
     "Most tokens of one sequence, prompt and answer together. 0: what the model was trained for."},
    {model, "-np,--parallel", "model.parallel", in_model<&M::parallel>, "N",
     "Sequences that compute at the same time.", {1, 1024}, true, kParallelWords},
    {model, "-t,--threads", "model.threads", in_model<&M::threads>, "N",
     "Threads that compute while tokens are generated. 0: one per physical core.", {0, 512}, true, kThreadWords},
    {model, "-tb,--threads-batch", "model.threads_batch", in_model<&M::threads_batch>, "N",
     "Threads that compute while a prompt is read. 0: as --threads.", {0, 512}, true, kThreadWords},
    {model, "-b,--batch-size", "model.batch", in_model<&M::batch>, "N",
     "Most tokens of one step, all sequences together.", {1}},
    {model, "-ub,--ubatch-size", "model.ubatch", in_model<&M::ubatch>, "N",
     "Most tokens of one forward pass: a step is cut into passes of this size.", {1}},
    {model, "-ngl,--gpu-layers,--n-gpu-layers", "model.gpu_layers", in_model<&M::gpu_layers>, "N",
     "Layers that a GPU computes: a number, \"all\" or \"auto\". Without a GPU it has no effect.",
     {-1}, true, kLayerWords},
    {model, "-ctk,--cache-type-k", "model.type_k", in_model<&M::type_k>, "TYPE",
     "What the context's K is kept as."},
    {model, "-ctv,--cache-type-v", "model.type_v", in_model<&M::type_v>, "TYPE",
     "What the context's V is kept as."},
    {model, "--lora", "model.adapters", in_model<&M::adapters>, "FILE,...",
     "LoRA adapters to apply, separated by commas. In a file: a list of paths or of {\"path\": ..., \"scale\": ...}."},
    {model, "--lora-scaled", "", in_model<&M::adapters>, "FILE:SCALE,...",
     "LoRA adapters to apply with a scale each, separated by commas."},
    {model, "--chat-template", "model.chat_template", in_model<&M::chat_template>, "TEMPLATE",
     "The chat template: Jinja source or the name of a built-in one. Default: the model's own."},
    {model, "--chat-template-file", "model.chat_template_file", in_model<&M::chat_template_file>, "FILE",
     "A file with the chat template; wins over --chat-template."},
    {model, "--no-mmap", "model.use_mmap", in_model<&M::use_mmap>, "",
     "Read the model into memory instead of mapping its file.", {}, false},
    {model, "--mlock", "model.use_mlock", in_model<&M::use_mlock>, "",
     "Keep the model's memory from being swapped out."},
    {model, "--swa-full", "model.swa_full", in_model<&M::swa_full>, "",
     "Keep all cells of sliding-window layers, not only the window's. Takes more memory."},

    {engine, "--no-cache", "engine.dynamic_batching.prefix_caching", in_batching<&B::prefix_caching>, "",
     "Keep no state between requests: each prompt is computed from its first token. In a file: true or false.",
     {}, false},
    {engine, "--cache-device", "engine.dynamic_batching.snapshot_device_bytes",
     in_batching<&B::snapshot_device_bytes>, "SIZE",
     "Most state kept on the device for later requests, beyond what running requests hold."},
    {engine, "--cache-ram", "engine.dynamic_batching.snapshot_ram_bytes", in_batching<&B::snapshot_ram_bytes>, "SIZE",
     "Most state kept in RAM; with a disk tier at least 64 MiB."},
    {engine, "--cache-disk", "engine.dynamic_batching.snapshot_disk_bytes",
     in_batching<&B::snapshot_disk_bytes>, "SIZE",
     "Most state kept on disk, where it outlives a restart. 0: none."},
    {engine, "--cache-dir", "engine.dynamic_batching.snapshot_disk_path", in_batching<&B::snapshot_disk_path>, "DIR",
     "The directory for state on disk. One program at a time uses it, for any number of models. `cairn serve` has a "
     "default: cairn in the user's cache directory."},
    {engine, "--max-snapshots", "engine.dynamic_batching.max_snapshots", in_batching<&B::max_snapshots>, "N",
     "Most snapshots kept, all tiers together. 0: no cache. Unset: the budgets in bytes limit alone."},
    {engine, "--checkpoint-interval", "engine.checkpoint_interval", in_engine<&E::checkpoint_interval>, "N",
     "A long prompt gets a checkpoint every N tokens. 0: only where a message or the prompt ends."},
    {engine, "", "engine.dynamic_batching.max_batch_size", in_batching<&B::max_batch_size>, "N",
     "Most requests that compute at the same time. Unset: as model.parallel, which also limits it.", {1}},
    {engine, "", "engine.dynamic_batching.max_scheduled_tokens", in_batching<&B::max_scheduled_tokens>, "N",
     "Most tokens of one step. Unset: as model.batch, which also limits it.", {1}},
    {engine, "--max-token-gap", "engine.dynamic_batching.max_token_gap_ms", in_batching<&B::max_token_gap_ms>, "MS",
     "While answers are generated, prompts are read in pieces that take about so many milliseconds, so that no answer "
     "stands still for longer; never of fewer than 128 tokens. Above 1000 all steps may take so long: more tokens per "
     "second with several streams. Unset: 250.", {1}},
    {engine, "--max-waiting", "engine.dynamic_batching.max_waiting_requests", in_batching<&B::max_waiting_requests>,
     "N", "Most requests that wait for their turn; further ones are refused (503, Retry-After). Unset: 1024.", {1}},
    {engine, "", "engine.dynamic_batching.device_memory_budget_bytes",
     in_batching<&B::device_memory_budget_bytes>, "BYTES",
     "Most device memory for the states of all sequences, running and kept. It sizes the pool of cells and the number "
     "of sequences; --ctx-size and --parallel are upper limits then. 0: not limited."},
    {engine, "", "engine.dynamic_batching.device_memory_headroom_bytes",
     in_batching<&B::device_memory_headroom_bytes>, "BYTES",
     "Device memory to leave free, of what is free once the model is loaded. 0: not limited."},
    {engine, "", "engine.dynamic_batching.gpu_utilization_factor", in_batching<&B::gpu_utilization_factor>, "X",
     "Share of the device's memory to use, weights and states and other programs together.", {0.01, 1}},

    {server, "--host", "server.host", in_server<&S::host>, "ADDRESS",
     "The address to listen on."},
    {server, "--port", "server.port", in_server<&S::port>, "PORT",
     "The port to listen on. 0: any free one."},
    {server, "--api-key", "server.api_key", in_server<&S::api_key>, "KEY",
     "The key clients must send. Empty: none is asked for."},
    {server, "", "server.max_body_bytes", in_server<&S::max_body_bytes>, "BYTES",
     "Longest body of a request that is read.", {1024}},
    {server, "", "server.max_connections", in_server<&S::max_connections>, "N",
     "Most connections at the same time; further ones are refused.", {1}},
};
// clang-format on

constexpr OptionSection kSections[] = {
    {"model", "The model, and how it is loaded and run.", [](Config &) {}},
    {"engine", "How requests are scheduled.", [](Config &) {}},
    {"engine.dynamic_batching", "Several requests at a time, and what is kept of their states.",
     [](Config &config) { batching(config); }},
    {"server", "The HTTP server.", [](Config &) {}},
};

}  // namespace

std::span<const Option> options() noexcept {
    return kOptions;
}

std::span<const OptionSection> option_sections() noexcept {
    return kSections;
}

std::vector<std::string> flag_spellings(const Option &option) {
    if (*option.flags == '\0') return {};
    return split_list(option.flags);
}

std::string spelling_of(const Option &option) {
    const auto flags = flag_spellings(option);
    if (flags.empty()) return fmt::format("key {}", option.key);
    for (const auto &flag : flags) {
        if (!flag.starts_with("--")) continue;
        return *option.key == '\0' ? flag : fmt::format("{} (key {})", flag, option.key);
    }
    return flags.front();
}

}  // namespace cairn
