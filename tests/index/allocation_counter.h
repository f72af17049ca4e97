// Counts every call of the global operator new in this test executable.
#pragma once

#include <cstdint>

namespace cairn::index_test {

[[nodiscard]] std::uint64_t allocations_so_far() noexcept;

}  // namespace cairn::index_test
