// The names of KvType, which are ggml's.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "cairn/config.h"

namespace cairn {

inline constexpr std::array<KvType, 9> kKvTypes{KvType::f32,  KvType::f16,    KvType::bf16, KvType::q8_0, KvType::q4_0,
                                                KvType::q4_1, KvType::iq4_nl, KvType::q5_0, KvType::q5_1};

/// Nothing for a name that is none.
[[nodiscard]] std::optional<KvType> kv_type_of(std::string_view name) noexcept;
/// "f32, f16, ...": for help and errors.
[[nodiscard]] std::string kv_type_names();

}  // namespace cairn
