#include "policy/snapshot_policy.h"

#include <gtest/gtest.h>

#include <ostream>
#include <string>
#include <vector>

namespace cairn {
namespace {

constexpr auto kNoCount = SnapshotPolicy::kUnlimited;
constexpr auto kNoBytes = SnapshotPolicy::kUnlimitedBytes;

constexpr const char *kNoSection = "The cache is off: the configuration has no section engine.dynamic_batching.";
constexpr const char *kSwitchedOff = "The cache is off: prefix_caching is false.";
constexpr const char *kWindow =
    "The cache is off: the model has a sliding window, and prefix_caching is unset. Set it to true to cache.";
constexpr const char *kNoSnapshots = "The cache is off: max_snapshots is 0.";
constexpr const char *kZeroBudgets =
    "The cache is off: all budgets (snapshot_device_bytes, snapshot_ram_bytes, snapshot_disk_bytes) are 0.";

struct Expected {
    std::int32_t max_snapshots;
    std::int32_t max_device_snapshots;
    std::size_t device;
    std::size_t ram;
    std::size_t disk;
};

void expect_off(const SnapshotPolicy &policy, const std::string &why) {
    EXPECT_FALSE(policy.enabled);
    EXPECT_EQ(policy.why_off, why);
    EXPECT_EQ(policy.max_snapshots, 0);
    EXPECT_EQ(policy.max_device_snapshots, 0);
    EXPECT_EQ(policy.device_bytes, 0u);
    EXPECT_EQ(policy.ram_bytes, 0u);
    EXPECT_EQ(policy.disk_bytes, 0u);
}

void expect_on(const SnapshotPolicy &policy, const Expected &expected) {
    EXPECT_TRUE(policy.enabled);
    EXPECT_EQ(policy.why_off, "");
    EXPECT_EQ(policy.max_snapshots, expected.max_snapshots);
    EXPECT_EQ(policy.max_device_snapshots, expected.max_device_snapshots);
    EXPECT_EQ(policy.device_bytes, expected.device);
    EXPECT_EQ(policy.ram_bytes, expected.ram);
    EXPECT_EQ(policy.disk_bytes, expected.disk);
}

constexpr Expected kOneOnTheDevice{1, 1, kNoBytes, 0, 0};

TEST(SnapshotPolicy, WithoutASectionIsOffForEveryModel) {
    for (const bool window : {false, true}) {
        for (const bool drafter : {false, true}) {
            expect_off(SnapshotPolicy::resolve(std::nullopt, {window, drafter}), kNoSection);
        }
    }
}

struct SwitchCase {
    std::optional<bool> prefix_caching;
    bool window;
    bool drafter_window;
    const char *why_off;  // empty: on
};

TEST(SnapshotPolicy, SwitchAndSlidingWindowDecideInEveryCombination) {
    const SwitchCase cases[] = {
        {std::nullopt, false, false, ""},
        {std::nullopt, false, true, ""},
        {std::nullopt, true, false, kWindow},
        {std::nullopt, true, true, kWindow},
        {true, false, false, ""},
        {true, false, true, ""},
        {true, true, false, ""},
        {true, true, true, ""},
        {false, false, false, kSwitchedOff},
        {false, false, true, kSwitchedOff},
        {false, true, false, kSwitchedOff},
        {false, true, true, kSwitchedOff},
    };
    for (const auto &c : cases) {
        SCOPED_TRACE(::testing::Message() << "prefix_caching " << (c.prefix_caching ? *c.prefix_caching : -1)
                                          << " window " << c.window << " drafter " << c.drafter_window);
        BatchingConfig batching;
        batching.prefix_caching = c.prefix_caching;
        const auto policy = SnapshotPolicy::resolve(batching, {c.window, c.drafter_window});
        if (*c.why_off != '\0') {
            expect_off(policy, c.why_off);
        } else {
            expect_on(policy, kOneOnTheDevice);
        }
    }
}

struct BudgetCase {
    std::optional<std::int32_t> max_snapshots;
    std::optional<std::size_t> device;
    std::optional<std::size_t> ram;
    std::optional<std::size_t> disk;
    const char *why_off;  // empty: on
    Expected expected;
};

TEST(SnapshotPolicy, BudgetsAndCountDecideWhatIsKept) {
    constexpr auto unset = std::nullopt;
    constexpr std::size_t kStaging = SnapshotPolicy::kDiskStagingBytes;
    const BudgetCase cases[] = {
        // No storage policy: exactly one on the device, whatever the count allows.
        {unset, unset, unset, unset, "", kOneOnTheDevice},
        {1, unset, unset, unset, "", kOneOnTheDevice},
        {50, unset, unset, unset, "", kOneOnTheDevice},
        // No count at all.
        {0, unset, unset, unset, kNoSnapshots, {}},
        {0, 100, 200, 300, kNoSnapshots, {}},
        {0, 0, 0, 0, kNoSnapshots, {}},
        {-1, 100, unset, unset, kNoSnapshots, {}},
        // All budgets zero, given or not.
        {unset, 0, 0, 0, kZeroBudgets, {}},
        {unset, 0, unset, unset, kZeroBudgets, {}},
        {unset, unset, 0, unset, kZeroBudgets, {}},
        {unset, unset, unset, 0, kZeroBudgets, {}},
        {unset, 0, 0, unset, kZeroBudgets, {}},
        {7, 0, 0, 0, kZeroBudgets, {}},
        // One budget: the unset ones beside it are zero.
        {unset, 100, unset, unset, "", {kNoCount, kNoCount, 100, 0, 0}},
        {unset, unset, 200, unset, "", {kNoCount, 0, 0, 200, 0}},
        // States on disk pass through RAM, which they therefore have.
        {unset, unset, unset, 300, "", {kNoCount, 0, 0, kStaging, 300}},
        // Two and three.
        {unset, 100, 200, unset, "", {kNoCount, kNoCount, 100, 200, 0}},
        {unset, 0, 200, unset, "", {kNoCount, 0, 0, 200, 0}},
        {unset, 100, 0, 0, "", {kNoCount, kNoCount, 100, 0, 0}},
        {unset, 100, 200, 300, "", {kNoCount, kNoCount, 100, kStaging, 300}},
        {unset, 100, kStaging * 2, 300, "", {kNoCount, kNoCount, 100, kStaging * 2, 300}},
        // A count beside budgets limits on top, on the device only where it has a budget.
        {7, 100, 200, unset, "", {7, 7, 100, 200, 0}},
        {7, unset, 200, unset, "", {7, 0, 0, 200, 0}},
        {1, 100, unset, unset, "", {1, 1, 100, 0, 0}},
    };
    for (std::size_t i = 0; i < std::size(cases); ++i) {
        SCOPED_TRACE(::testing::Message() << "case " << i);
        const auto &c = cases[i];
        BatchingConfig batching;
        batching.max_snapshots = c.max_snapshots;
        batching.snapshot_device_bytes = c.device;
        batching.snapshot_ram_bytes = c.ram;
        batching.snapshot_disk_bytes = c.disk;
        const auto policy = SnapshotPolicy::resolve(batching, {});
        if (*c.why_off != '\0') {
            expect_off(policy, c.why_off);
        } else {
            expect_on(policy, c.expected);
        }
    }
}

TEST(SnapshotPolicy, SwitchedOffSaysSoBeforeBudgetsDo) {
    BatchingConfig batching;
    batching.prefix_caching = false;
    batching.max_snapshots = 0;
    batching.snapshot_ram_bytes = 0;
    expect_off(SnapshotPolicy::resolve(batching, {.has_sliding_window = true}), kSwitchedOff);
}

TEST(SnapshotPolicy, BudgetsDoNotSwitchASlidingWindowModelOn) {
    BatchingConfig batching;
    batching.snapshot_ram_bytes = 100;
    expect_off(SnapshotPolicy::resolve(batching, {.has_sliding_window = true}), kWindow);
    batching.prefix_caching = true;
    expect_on(SnapshotPolicy::resolve(batching, {.has_sliding_window = true}), {kNoCount, 0, 0, 100, 0});
}

TEST(SnapshotPolicy, DiskPathAloneIsNoStoragePolicy) {
    BatchingConfig batching;
    batching.snapshot_disk_path = "states";
    const auto alone = SnapshotPolicy::resolve(batching, {});
    expect_on(alone, kOneOnTheDevice);
    EXPECT_EQ(alone.disk_path, "");
    batching.snapshot_disk_bytes = 300;
    const auto policy = SnapshotPolicy::resolve(batching, {});
    expect_on(policy, {kNoCount, 0, 0, SnapshotPolicy::kDiskStagingBytes, 300});
    EXPECT_EQ(policy.disk_path, "states");
}

TEST(SnapshotPolicy, NamesTheTiersThatAStateDoesNotFitInto) {
    SnapshotPolicy policy;
    policy.device_bytes = 100;
    policy.ram_bytes = 0;  // off
    policy.disk_bytes = 300;
    EXPECT_EQ(policy.too_small_for(100), "");
    EXPECT_EQ(policy.too_small_for(101), "device (--cache-device)");
    EXPECT_EQ(policy.too_small_for(301), "device (--cache-device), disk (--cache-disk)");
    policy.ram_bytes = 300;
    EXPECT_EQ(policy.too_small_for(301), "device (--cache-device), RAM (--cache-ram), disk (--cache-disk)");
}

TEST(SnapshotPolicy, OtherKeysOfTheSectionChangeNothing) {
    BatchingConfig batching;
    batching.max_batch_size = 1;
    batching.max_scheduled_tokens = 1;
    batching.device_memory_budget_bytes = 0;
    batching.device_memory_headroom_bytes = 0;
    batching.gpu_utilization_factor = 0.1;
    expect_on(SnapshotPolicy::resolve(batching, {}), kOneOnTheDevice);
}

}  // namespace
}  // namespace cairn
