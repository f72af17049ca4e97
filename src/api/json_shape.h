// Bounds on JSON text from a client, checked before anything parses it.
//
// Depth: what works on parsed JSON recurses. Fields: objects keep the order of their fields (templates show it to the
// model), so finding a field takes a walk over the object, and an object with n fields costs n * n / 2 steps to build.
//
// Threads: pure. Cost: one pass over the bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace cairn {

inline constexpr std::size_t kMaxJsonDepth = 256;
inline constexpr std::uint64_t kMaxJsonSteps = 100'000'000;

enum class JsonShape : std::uint8_t { fine, too_deep, too_many_fields };

/// Exact for valid JSON; for other text some answer, as the parser refuses it anyway.
[[nodiscard]] JsonShape json_shape(std::string_view text) noexcept;

}  // namespace cairn
