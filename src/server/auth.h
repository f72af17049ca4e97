// Who may ask: one API key for the whole server, or none.
//
// Thread rule: free functions without state.
#pragma once

#include <string_view>

#include "server/request_head.h"

namespace cairn {

/// Equality in a time that depends on the length of `given` only.
[[nodiscard]] bool equal_in_constant_time(std::string_view given, std::string_view secret) noexcept;
/// True where `key` is empty, or the head carries it: "Authorization: Bearer KEY" or "X-Api-Key: KEY".
[[nodiscard]] bool is_authorized(const RequestHead &head, std::string_view key) noexcept;

}  // namespace cairn
