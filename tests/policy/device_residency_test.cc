#include "policy/device_residency.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace cairn {
namespace {

constexpr double kForever = std::numeric_limits<double>::infinity();
constexpr TokenPos kAllCells = std::numeric_limits<TokenPos>::max();

TEST(DeviceResidency, UnmeasurableTaxLeavesTheBudgetAlone) {
    const auto limit = device_residency({.row_bytes = 1000, .device_budget_bytes = 5'000'999});
    EXPECT_EQ(limit.max_cells, 5000);
    EXPECT_EQ(limit.max_bytes, 5'000'999u);
    EXPECT_EQ(limit.max_steps, kForever);
}

TEST(DeviceResidency, TaxLimitsCellsBeforeTheBudgetDoes) {
    // A dense model: 16 % for 8192 cells, so 2 % for 1024.
    const DeviceResidencyFacts facts{
        .parked_cell_tax = 0.16 / 8192, .row_bytes = 1000, .device_budget_bytes = 100'000'000};
    const auto limit = device_residency(facts);
    EXPECT_NEAR(limit.max_cells, 1024, 1);
    EXPECT_EQ(limit.max_bytes, 100'000'000u);
}

TEST(DeviceResidency, IsAllowedToCostMoreWhereNoRamCatchesWhatLeaves) {
    SnapshotPolicy policy;
    policy.device_bytes = 100'000'000;
    policy.ram_bytes = 1;
    EXPECT_NEAR(device_residency(policy, 0.16 / 8192, 1000).max_cells, 1024, 1);
    policy.ram_bytes = 0;
    EXPECT_NEAR(device_residency(policy, 0.16 / 8192, 1000).max_cells, 12800, 1);
    policy.device_bytes = 5'000'000;
    EXPECT_EQ(device_residency(policy, 0.16 / 8192, 1000).max_cells, 5000);
}

TEST(DeviceResidency, BudgetLimitsCellsBeforeTheTaxDoes) {
    const DeviceResidencyFacts facts{
        .parked_cell_tax = 0.01 / 8192, .row_bytes = 1000, .device_budget_bytes = 2'000'000};
    EXPECT_EQ(device_residency(facts).max_cells, 2000);
}

TEST(DeviceResidency, ToleranceScalesTheCells) {
    DeviceResidencyFacts facts{
        .parked_cell_tax = 0.25, .tolerated_slowdown = 1, .row_bytes = 1, .device_budget_bytes = 100};
    EXPECT_EQ(device_residency(facts).max_cells, 4);
    facts.tolerated_slowdown = 0.5;
    EXPECT_EQ(device_residency(facts).max_cells, 2);
    facts.tolerated_slowdown = 0;
    EXPECT_EQ(device_residency(facts).max_cells, 0);
    EXPECT_EQ(device_residency(facts).max_bytes, 0u);
}

TEST(DeviceResidency, NoBudgetKeepsNothing) {
    EXPECT_EQ(device_residency({.row_bytes = 1000}).max_cells, 0);
    EXPECT_EQ(device_residency({.row_bytes = 0}).max_cells, 0);
    EXPECT_EQ(device_residency({.row_bytes = 0}).max_bytes, 0u);
    EXPECT_EQ(device_residency({.row_bytes = 1000, .device_budget_bytes = 999}).max_bytes, 0u);
}

TEST(DeviceResidency, ModelWithoutRowsIsLimitedByBytesAndTax) {
    DeviceResidencyFacts facts{.row_bytes = 0, .device_budget_bytes = 1000};
    EXPECT_EQ(device_residency(facts).max_cells, kAllCells);
    EXPECT_EQ(device_residency(facts).max_bytes, 1000u);
    facts.parked_cell_tax = 0.01;
    EXPECT_EQ(device_residency(facts).max_cells, 2);
}

TEST(DeviceResidency, HugeBudgetDoesNotOverflow) {
    const DeviceResidencyFacts facts{
        .parked_cell_tax = 1e-300, .row_bytes = 1, .device_budget_bytes = std::numeric_limits<std::size_t>::max()};
    EXPECT_EQ(device_residency(facts).max_cells, kAllCells);
}

TEST(DeviceResidency, StepsUntilRamIsCheaperAreTheBreakEven) {
    // A row of 1000 bytes at 1 ns each is 1 us to restore; a step of 10 ms at a tax of 1e-6 loses 10 ns per cell.
    DeviceResidencyFacts facts{.parked_cell_tax = 1e-6,
                               .row_bytes = 1000,
                               .device_budget_bytes = 1'000'000,
                               .restore_s_per_byte = 1e-9,
                               .decode_step_s = 0.01};
    EXPECT_DOUBLE_EQ(device_residency(facts).max_steps, 100);
    facts.restore_s_per_byte = 0;  // no RAM tier: nothing is cheaper
    EXPECT_EQ(device_residency(facts).max_steps, kForever);
    facts.restore_s_per_byte = 1e-9;
    facts.decode_step_s = 0;  // not measured
    EXPECT_EQ(device_residency(facts).max_steps, kForever);
}

TEST(DeviceResidency, SenselessTaxCountsAsUnmeasured) {
    for (const double tax : {-1.0, std::nan("")}) {
        const DeviceResidencyFacts facts{.parked_cell_tax = tax, .row_bytes = 10, .device_budget_bytes = 100};
        EXPECT_EQ(device_residency(facts).max_cells, 10);
        EXPECT_EQ(device_residency(facts).max_steps, kForever);
    }
}

}  // namespace
}  // namespace cairn
