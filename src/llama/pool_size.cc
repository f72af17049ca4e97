#include "llama/pool_size.h"

#include <ggml-backend.h>

#include <algorithm>

namespace cairn {

namespace {

constexpr TokenPos kLeastContext = 4096;
constexpr TokenPos kCellsPadding = 256;  ///< libllama's, and its least pool

std::int32_t parked_sequences(const PoolFacts &facts) {
    const std::int32_t room = std::max(0, facts.most_sequences - facts.live_sequences - 1);
    const std::int32_t asked = facts.device_bytes == 0 ? 0 : std::min(facts.parked_sequences, room);
    if (facts.boundary_bytes == 0) return asked;
    const std::size_t affordable = facts.device_bytes / 2 / facts.boundary_bytes;
    return static_cast<std::int32_t>(std::min<std::size_t>(static_cast<std::size_t>(asked), affordable));
}

}  // namespace

PoolSize size_pool(const PoolFacts &facts) {
    PoolSize size;
    size.live_sequences = std::min(facts.live_sequences, facts.most_sequences - 1);
    size.parked_sequences = parked_sequences(facts);
    size.context = facts.asked_context > 0 ? facts.asked_context : std::max(facts.trained_context, 512);
    if (facts.asked_context == 0 && facts.free_bytes > 0) {
        while (size.context > kLeastContext &&
               static_cast<std::size_t>(size.context) * facts.row_bytes > facts.free_bytes / 2) {
            size.context /= 2;
        }
    }
    size.cells = (size.context - 1) / kCellsPadding * kCellsPadding + kCellsPadding;
    if (size.parked_sequences > 0 && !facts.keep_context && facts.row_bytes > 0) {
        const std::size_t boundaries = static_cast<std::size_t>(size.parked_sequences) * facts.boundary_bytes;
        const std::size_t cells = (facts.device_bytes - std::min(facts.device_bytes, boundaries)) / facts.row_bytes;
        size.cells += static_cast<TokenPos>(std::min<std::size_t>(cells, static_cast<std::size_t>(size.context)));
    }
    return size;
}

std::size_t free_device_bytes(bool gpu) {
    ggml_backend_dev_t device = gpu ? ggml_backend_dev_by_type(GGML_BACKEND_DEVICE_TYPE_GPU) : nullptr;
    if (device == nullptr) device = ggml_backend_dev_by_type(GGML_BACKEND_DEVICE_TYPE_CPU);
    if (device == nullptr) return 0;
    std::size_t free = 0;
    std::size_t total = 0;
    ggml_backend_dev_memory(device, &free, &total);
    return free;
}

}  // namespace cairn
