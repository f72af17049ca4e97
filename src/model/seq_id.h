// SeqId names a live sequence of a backend: 0 .. limits().live_sequences - 1. ParkId names a parked one.
#pragma once

#include "cairn/strong_id.h"

namespace cairn {

using SeqId = StrongId<struct SeqTag, std::int32_t>;
using ParkId = StrongId<struct ParkTag, std::int32_t>;

}  // namespace cairn
