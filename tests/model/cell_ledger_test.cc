#include "model/cell_ledger.h"

#include <gtest/gtest.h>

#include <random>
#include <set>
#include <vector>

namespace cairn {
namespace {

TEST(CellLedger, StartsEmpty) {
    const CellLedger ledger(2, 2);
    EXPECT_EQ(ledger.cells_used(), 0);
    EXPECT_EQ(ledger.cells_parked(), 0);
    EXPECT_EQ(ledger.cells_only_parked(), 0);
    EXPECT_EQ(ledger.length(ledger.live(1)), 0);
}

TEST(CellLedger, SharingAddsNoCells) {
    CellLedger ledger(2, 1);
    ledger.append(ledger.live(0), 100);
    ledger.share(ledger.live(0), ledger.parked(0));
    ledger.share(ledger.live(0), ledger.live(1));
    EXPECT_EQ(ledger.cells_used(), 100);
    EXPECT_EQ(ledger.cells_parked(), 100);
    EXPECT_EQ(ledger.cells_only_parked(), 0);
    EXPECT_EQ(ledger.length(ledger.parked(0)), 100);
}

TEST(CellLedger, WhatIsAppendedAfterSharingIsPrivate) {
    CellLedger ledger(1, 1);
    ledger.append(ledger.live(0), 100);
    ledger.share(ledger.live(0), ledger.parked(0));
    ledger.append(ledger.live(0), 20);
    EXPECT_EQ(ledger.cells_used(), 120);
    EXPECT_EQ(ledger.cells_parked(), 100);
    ledger.clear(ledger.live(0));
    EXPECT_EQ(ledger.cells_used(), 100);
    EXPECT_EQ(ledger.cells_only_parked(), 100);
    ledger.clear(ledger.parked(0));
    EXPECT_EQ(ledger.cells_used(), 0);
}

TEST(CellLedger, ParkingTheNextTurnCostsOnlyItsOwnCells) {
    CellLedger ledger(1, 2);
    ledger.append(ledger.live(0), 100);
    EXPECT_EQ(ledger.cells_to_park(ledger.live(0)), 100);
    ledger.share(ledger.live(0), ledger.parked(0));
    EXPECT_EQ(ledger.cells_to_park(ledger.live(0)), 0);
    ledger.append(ledger.live(0), 30);
    EXPECT_EQ(ledger.cells_to_park(ledger.live(0)), 30);
    ledger.share(ledger.live(0), ledger.parked(1));
    EXPECT_EQ(ledger.cells_parked(), 130);
}

TEST(CellLedger, ACutUserLeavesTheSegmentToTheLongerOne) {
    CellLedger ledger(2, 1);
    ledger.append(ledger.live(0), 100);
    ledger.share(ledger.live(0), ledger.live(1));
    ledger.cut(ledger.live(1), 60);
    EXPECT_EQ(ledger.cells_used(), 100);
    ledger.append(ledger.live(1), 70);  // not in place of the 40 cells that live(0) still uses
    EXPECT_EQ(ledger.cells_used(), 170);
    ledger.clear(ledger.live(0));
    EXPECT_EQ(ledger.cells_used(), 130);
    EXPECT_EQ(ledger.length(ledger.live(1)), 130);
}

TEST(CellLedger, AnEmptyHolderSharesNothing) {
    CellLedger ledger(2, 0);
    ledger.share(ledger.live(0), ledger.live(1));
    ledger.append(ledger.live(1), 3);
    EXPECT_EQ(ledger.length(ledger.live(0)), 0);
    EXPECT_EQ(ledger.cells_used(), 3);
}

TEST(CellLedgerDeathTest, SharingIntoAHolderWithCellsIsABrokenInvariant) {
    CellLedger ledger(2, 0);
    ledger.append(ledger.live(0), 1);
    ledger.append(ledger.live(1), 1);
    EXPECT_DEATH(ledger.share(ledger.live(0), ledger.live(1)), "has 1 cells already");
    EXPECT_DEATH((void)ledger.live(2), "live holder 2 of 2");
    EXPECT_DEATH(ledger.cut(ledger.live(0), 2), "has 1 cells, not 2");
}

// The same books kept naively: every holder is the list of its cells' names.
class NaiveLedger {
public:
    NaiveLedger(std::size_t live, std::size_t parked) : live_(live), cells_(live + parked) {}

    void append(std::size_t holder, int cells) {
        for (int i = 0; i < cells; ++i)
            cells_[holder].push_back(next_++);
    }
    void share(std::size_t from, std::size_t to) { cells_[to] = cells_[from]; }
    void cut(std::size_t holder, std::size_t length) { cells_[holder].resize(length); }
    [[nodiscard]] int length(std::size_t holder) const { return static_cast<int>(cells_[holder].size()); }

    [[nodiscard]] std::set<int> united(std::size_t begin, std::size_t end) const {
        std::set<int> cells;
        for (std::size_t i = begin; i < end; ++i)
            cells.insert(cells_[i].begin(), cells_[i].end());
        return cells;
    }
    [[nodiscard]] int used() const { return static_cast<int>(united(0, cells_.size()).size()); }
    [[nodiscard]] int parked() const { return static_cast<int>(united(live_, cells_.size()).size()); }
    [[nodiscard]] int only_parked() const { return used() - static_cast<int>(united(0, live_).size()); }
    [[nodiscard]] int to_park(std::size_t holder) const {
        std::set<int> cells = united(live_, cells_.size());
        const auto before = cells.size();
        cells.insert(cells_[holder].begin(), cells_[holder].end());
        return static_cast<int>(cells.size() - before);
    }

private:
    std::size_t live_;
    std::vector<std::vector<int>> cells_;
    int next_ = 0;
};

class CellLedgerRandom : public ::testing::TestWithParam<unsigned> {};

TEST_P(CellLedgerRandom, AgreesWithANaiveLedger) {
    constexpr int kLive = 3, kParked = 4, kHolders = kLive + kParked;
    std::mt19937 random(GetParam());
    const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
    CellLedger ledger(kLive, kParked);
    NaiveLedger naive(kLive, kParked);
    for (int step = 0; step < 600; ++step) {
        const int holder = below(kHolders), other = below(kHolders);
        const HolderId id(holder), other_id(other);
        switch (below(5)) {
            case 0:
            case 1: {
                const int cells = below(6);
                ledger.append(id, cells);
                naive.append(static_cast<std::size_t>(holder), cells);
                break;
            }
            case 2:
                if (holder == other) break;
                ledger.clear(other_id);
                naive.cut(static_cast<std::size_t>(other), 0);
                ledger.share(id, other_id);
                naive.share(static_cast<std::size_t>(holder), static_cast<std::size_t>(other));
                break;
            case 3: {
                const int length = below(ledger.length(id) + 1);
                ledger.cut(id, length);
                naive.cut(static_cast<std::size_t>(holder), static_cast<std::size_t>(length));
                break;
            }
            default:
                if (below(3) != 0) break;
                ledger.clear(id);
                naive.cut(static_cast<std::size_t>(holder), 0);
        }
        ASSERT_EQ(ledger.cells_used(), naive.used()) << "step " << step;
        ASSERT_EQ(ledger.cells_parked(), naive.parked()) << "step " << step;
        ASSERT_EQ(ledger.cells_only_parked(), naive.only_parked()) << "step " << step;
        for (int i = 0; i < kHolders; ++i) {
            ASSERT_EQ(ledger.length(HolderId(i)), naive.length(static_cast<std::size_t>(i))) << "step " << step;
            ASSERT_EQ(ledger.cells_to_park(HolderId(i)), naive.to_park(static_cast<std::size_t>(i))) << "step " << step;
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Seeds, CellLedgerRandom, ::testing::Range(1u, 21u));

}  // namespace
}  // namespace cairn
