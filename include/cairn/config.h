// Configuration as plain owned values. Resolved once, before anything is built from it; nobody reads it later.
//
// The table of every option (flag, JSON key, default, bounds, help) is src/config/options.cc; the loader fills these.
// Thread rule: plain values. Sizes are bytes, counts are tokens unless a name says otherwise.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cairn/types.h"

namespace cairn {

/// What the context's K or V is kept as. Names are llama-server's.
enum class KvType : std::uint8_t { f32, f16, bf16, q8_0, q4_0, q4_1, iq4_nl, q5_0, q5_1 };

[[nodiscard]] const char *name_of(KvType type) noexcept;

struct AdapterConfig {
    std::string path;
    float scale = 1.0f;
};

/// How a model is loaded and run. Flags in brackets.
struct ModelConfig {
    std::string path;                ///< [-m] GGUF file; the first part of a split one
    std::string alias;               ///< [--alias] name shown to clients; empty: the file's own
    std::string chat_template;       ///< [--chat-template] Jinja source or a built-in's name; empty: the file's own
    std::string chat_template_file;  ///< [--chat-template-file] wins over chat_template
    std::vector<AdapterConfig> adapters;  ///< [--lora, --lora-scaled]
    TokenPos context = 0;                 ///< [-c] most tokens of one sequence; 0: what the model was trained for
    std::int32_t parallel = 4;            ///< [-np] sequences that compute at the same time
    std::int32_t threads = 0;             ///< [-t] 0: one per physical core
    std::int32_t threads_batch = 0;       ///< [-tb] 0: as threads
    std::int32_t batch = 2048;            ///< [-b] most tokens of one step
    std::int32_t ubatch = 512;            ///< [-ub] most tokens of one forward pass
    std::int32_t gpu_layers = -1;         ///< [-ngl] layers on the GPU; -1: all
    KvType type_k = KvType::f16;          ///< [-ctk]
    KvType type_v = KvType::f16;          ///< [-ctv]
    bool use_mmap = true;                 ///< [--no-mmap]
    bool use_mlock = false;               ///< [--mlock]
    bool swa_full = false;                ///< [--swa-full] keep all cells of sliding-window layers
};

/// engine.dynamic_batching.*: an absent key is an empty optional; SnapshotPolicy gives the meaning of that.
struct BatchingConfig {
    std::optional<std::int32_t> max_batch_size = {};
    std::optional<std::int32_t> max_scheduled_tokens = {};
    std::optional<std::int32_t> max_token_gap_ms = {};
    std::optional<std::int32_t> max_waiting_requests = {};
    std::optional<bool> prefix_caching = {};
    std::optional<std::int32_t> max_snapshots = {};
    std::optional<std::size_t> device_memory_budget_bytes = {};
    std::optional<std::size_t> device_memory_headroom_bytes = {};
    std::optional<double> gpu_utilization_factor = {};
    std::optional<std::size_t> snapshot_device_bytes = {};
    std::optional<std::size_t> snapshot_ram_bytes = {};
    std::optional<std::size_t> snapshot_disk_bytes = {};
    std::optional<std::string> snapshot_disk_path = {};
};

struct EngineConfig {
    std::optional<BatchingConfig> dynamic_batching = {};  ///< none: one request at a time, no cache
    TokenPos checkpoint_interval = 8192;                  ///< a checkpoint at least this often in a long prompt
};

struct ServerConfig {
    std::string host = "127.0.0.1";  ///< [--host]
    std::uint16_t port = 8080;       ///< [--port] 0: any free one
    std::string api_key;             ///< [--api-key] empty: none asked for
    std::size_t max_body_bytes = std::size_t{64} << 20;
    std::int32_t max_connections = 2048;
};

}  // namespace cairn
