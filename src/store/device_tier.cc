#include "store/device_tier.h"

#include <algorithm>

#include "base/check.h"

namespace cairn {
namespace {

std::size_t parkable(const Backend &backend) {
    return backend.layout().can_park ? static_cast<std::size_t>(std::max(0, backend.limits().parked_sequences)) : 0;
}

}  // namespace

DeviceTier::DeviceTier(Backend &backend, DeviceLimits limits)
    : backend_(backend), limits_(limits), places_("parked snapshots", std::min(limits.parked, parkable(backend))) {}

bool DeviceTier::within_limits(std::size_t bytes, std::size_t parked) const {
    if (bytes > limits_.bytes || parked > places_.limit()) return false;
    const StateLayout &layout = backend_.layout();
    if (layout.row_bytes == 0) return true;
    const std::size_t boundaries = layout.boundary_bytes * parked;
    const std::size_t rows = bytes - std::min(bytes, boundaries);
    return rows / layout.row_bytes <= static_cast<std::size_t>(std::max(0, limits_.cells));
}

bool DeviceTier::has_room_for(SeqId seq) const {
    const auto after = checked_add(bytes(), backend_.park_cost(seq));
    return after && within_limits(*after, places_.used() + 1);
}

bool DeviceTier::could_hold(SeqId seq) const {
    return within_limits(backend_.park_cost(seq), 1);
}

Result<ParkedState> DeviceTier::park(SeqId seq) {
    if (!has_room_for(seq)) {
        return fail(ErrorCode::capacity,
                    "No room for a snapshot on the device: {} of {} bytes and {} of {} places are in use.", bytes(),
                    limits_.bytes, places_.used(), places_.limit());
    }
    auto place = places_.reserve(1);
    if (!place) return fail(place.error());
    auto id = backend_.park(seq);
    if (!id) return fail(id.error());
    return ParkedState(backend_, *id, std::move(*place));
}

void DeviceTier::check_invariants() const {
    CAIRN_CHECK(bytes() <= limits_.bytes, "{} of {} bytes are parked", bytes(), limits_.bytes);
    CAIRN_CHECK(parked() != 0 || bytes() == 0, "nothing is parked, and {} bytes are", bytes());
}

}  // namespace cairn
