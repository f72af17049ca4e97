#include "llama/pool_size.h"

#include <ggml-backend.h>

#include <algorithm>
#include <limits>

namespace cairn {

namespace {

constexpr TokenPos kLeastContext = 4096;
constexpr TokenPos kCellsPadding = 256;  ///< libllama's, and its least pool

TokenPos padded(TokenPos context) {
    return (context - 1) / kCellsPadding * kCellsPadding + kCellsPadding;
}

TokenPos wanted_context(const PoolFacts &facts) {
    return facts.asked_context > 0 ? facts.asked_context : std::max(facts.trained_context, 512);
}

std::int32_t parked_sequences(const PoolFacts &facts) {
    const std::int32_t room = std::max(0, facts.most_sequences - facts.live_sequences - 1);
    const std::int32_t asked = facts.device_bytes == 0 ? 0 : std::min(facts.parked_sequences, room);
    if (facts.boundary_bytes == 0) return asked;
    const std::size_t affordable = facts.device_bytes / 2 / facts.boundary_bytes;
    return static_cast<std::int32_t>(std::min<std::size_t>(static_cast<std::size_t>(asked), affordable));
}

/// libllama has one sequence more than those that live or are parked, for copying.
PoolSize size_within(PoolFacts facts, std::size_t bytes) {
    PoolSize size;
    if (bytes < least_state_bytes(facts)) return size;
    bytes -= facts.boundary_bytes;
    size.live_sequences = std::min(facts.live_sequences, facts.most_sequences - 1);
    // The smallest pool comes before a second sequence.
    const std::size_t least_cells = static_cast<std::size_t>(kCellsPadding) * facts.row_bytes;
    if (facts.boundary_bytes > 0) {
        const std::size_t share = std::min(bytes / 2, bytes - least_cells);
        const std::size_t affordable = std::max<std::size_t>(1, share / facts.boundary_bytes);
        size.live_sequences =
            static_cast<std::int32_t>(std::min(affordable, static_cast<std::size_t>(size.live_sequences)));
        bytes -= static_cast<std::size_t>(size.live_sequences) * facts.boundary_bytes;
    }
    facts.live_sequences = size.live_sequences;
    facts.device_bytes = std::min(facts.device_bytes, std::min(bytes / 2, bytes - least_cells));
    size.parked_sequences = parked_sequences(facts);
    bytes -= static_cast<std::size_t>(size.parked_sequences) * facts.boundary_bytes;

    const TokenPos asked = wanted_context(facts);
    // No more cells than all sequences together can fill.
    const std::int64_t useful = std::int64_t{asked} * (size.live_sequences + std::min(size.parked_sequences, 1));
    const auto most =
        static_cast<std::size_t>(std::min<std::int64_t>(useful, std::numeric_limits<TokenPos>::max() / 2));
    const std::size_t cells = facts.row_bytes == 0 ? most : std::min(most, bytes / facts.row_bytes);
    size.cells = std::max(kCellsPadding, static_cast<TokenPos>(cells) / kCellsPadding * kCellsPadding);
    size.context = std::min(asked, size.cells);
    if (facts.keep_context) size.cells = padded(size.context);
    return size;
}

}  // namespace

std::optional<std::size_t> state_budget(const MemoryLimits &limits, const DeviceMemory &memory) {
    std::optional<std::size_t> least;
    const auto limit = [&least](std::size_t bytes) { least = std::min(least.value_or(bytes), bytes); };
    if (limits.budget_bytes > 0) limit(limits.budget_bytes);
    if (memory.free == 0) return least;
    if (limits.headroom_bytes > 0) limit(memory.free - std::min(memory.free, limits.headroom_bytes));
    if (limits.utilization > 0) {
        const auto allowed = static_cast<std::size_t>(limits.utilization * static_cast<double>(memory.total));
        const std::size_t used = memory.total - std::min(memory.total, memory.free);
        limit(allowed - std::min(allowed, used));
    }
    return least;
}

std::size_t least_state_bytes(const PoolFacts &facts) {
    return 2 * facts.boundary_bytes + static_cast<std::size_t>(kCellsPadding) * facts.row_bytes;
}

PoolSize size_pool(const PoolFacts &facts) {
    if (facts.state_bytes) return size_within(facts, *facts.state_bytes);
    PoolSize size;
    size.live_sequences = std::min(facts.live_sequences, facts.most_sequences - 1);
    size.parked_sequences = parked_sequences(facts);
    size.context = wanted_context(facts);
    if (facts.asked_context == 0 && facts.free_bytes > 0) {
        while (size.context > kLeastContext &&
               static_cast<std::size_t>(size.context) * facts.row_bytes > facts.free_bytes / 2) {
            size.context /= 2;
        }
    }
    size.cells = padded(size.context);
    if (size.parked_sequences > 0 && !facts.keep_context && facts.row_bytes > 0) {
        const std::size_t boundaries = static_cast<std::size_t>(size.parked_sequences) * facts.boundary_bytes;
        const std::size_t cells = (facts.device_bytes - std::min(facts.device_bytes, boundaries)) / facts.row_bytes;
        size.cells += static_cast<TokenPos>(std::min<std::size_t>(cells, static_cast<std::size_t>(size.context)));
    }
    return size;
}

DeviceMemory device_memory(bool gpu) {
    ggml_backend_dev_t device = gpu ? ggml_backend_dev_by_type(GGML_BACKEND_DEVICE_TYPE_GPU) : nullptr;
    if (device == nullptr) device = ggml_backend_dev_by_type(GGML_BACKEND_DEVICE_TYPE_CPU);
    DeviceMemory memory;
    if (device != nullptr) ggml_backend_dev_memory(device, &memory.free, &memory.total);
    return memory;
}

}  // namespace cairn
