#include "policy/device_residency.h"

#include <algorithm>
#include <limits>

namespace cairn {

namespace {

/// Of a decode step, where nothing but the device keeps state.
constexpr double kToleratedWithoutRam = 0.25;

constexpr TokenPos kAllCells = std::numeric_limits<TokenPos>::max();

/// Most cells whose tax is tolerated.
TokenPos cells_by_tax(const DeviceResidencyFacts &facts) {
    if (!(facts.parked_cell_tax > 0)) return kAllCells;
    if (!(facts.tolerated_slowdown > 0)) return 0;
    const double cells = facts.tolerated_slowdown / facts.parked_cell_tax;
    return cells >= static_cast<double>(kAllCells) ? kAllCells : static_cast<TokenPos>(cells);
}

TokenPos cells_by_budget(const DeviceResidencyFacts &facts) {
    if (facts.row_bytes == 0) return facts.device_budget_bytes > 0 ? kAllCells : 0;
    const std::size_t cells = facts.device_budget_bytes / facts.row_bytes;
    return static_cast<TokenPos>(std::min<std::size_t>(cells, static_cast<std::size_t>(kAllCells)));
}

double steps_until_ram_wins(const DeviceResidencyFacts &facts) {
    const double cost_per_step_s = facts.parked_cell_tax * facts.decode_step_s;
    if (!(cost_per_step_s > 0) || !(facts.restore_s_per_byte > 0)) return std::numeric_limits<double>::infinity();
    return static_cast<double>(facts.row_bytes) * facts.restore_s_per_byte / cost_per_step_s;
}

}  // namespace

DeviceResidency device_residency(const DeviceResidencyFacts &facts) noexcept {
    DeviceResidency result;
    result.max_cells = std::min(cells_by_tax(facts), cells_by_budget(facts));
    result.max_bytes = result.max_cells > 0 ? facts.device_budget_bytes : 0;
    result.max_steps = steps_until_ram_wins(facts);
    return result;
}

DeviceResidency device_residency(const SnapshotPolicy &policy, double parked_cell_tax, std::size_t row_bytes) noexcept {
    DeviceResidencyFacts facts{
        .parked_cell_tax = parked_cell_tax, .row_bytes = row_bytes, .device_budget_bytes = policy.device_bytes};
    if (policy.ram_bytes == 0) facts.tolerated_slowdown = kToleratedWithoutRam;
    return device_residency(facts);
}

}  // namespace cairn
