// State out and in again: warm equals cold, compared by all logits and by the greedy tokens, for cuts anywhere.

#include <fmt/format.h>

#include <algorithm>

#include "tests/contract/backend_case.h"

namespace cairn {
namespace {

class BackendSnapshots : public BackendContract {
protected:
    static constexpr TokenPos kPrefix = 150;
    static constexpr TokenPos kLongestTail = 130;

    /// What a family without rows promises instead: no span of it takes a byte.
    void expect_no_rows() {
        prefill(kA, tokens_);
        EXPECT_EQ(backend_->rows_size(kA, {0, kPrefix}).value_or(1), 0u);
        EXPECT_EQ(backend_->rows_size(kA, {64, 101}).value_or(1), 0u);
    }

    /// Computes [0, kPrefix) cut at the checkpoints, as every run here does.
    void prefill(SeqId seq, const Tokens &tokens) {
        TokenPos begin = 0;
        for (const TokenPos end : kCuts) {
            driver_->feed(seq, tokens, begin, end);
            begin = end;
        }
    }
    const std::vector<TokenPos> kCuts{64, 101, kPrefix};
    const Tokens tokens_ = random_tokens(kPrefix + kLongestTail, 11);
};

TEST_P(BackendSnapshots, EveryTailAfterARestoreIsAsIfNeverInterrupted) {
    prefill(kA, tokens_);
    const CapturedChain ram = driver_->capture(kA, kCuts);
    const ParkId device = driver_->park(kA);
    backend_->clear(kA);
    double worst = 0;
    for (TokenPos tail = 1; tail <= kLongestTail; ++tail) {
        // Every tail once; the greedy tokens behind it where they cost little.
        const TokenPos greedy = tail % 8 == 1 ? 6 : 1;
        prefill(kA, tokens_);
        const Continuation cold = go_on(kA, tokens_, kPrefix, kPrefix + tail, greedy);
        backend_->clear(kA);
        ASSERT_TRUE(backend_->adopt(device, kB, kPrefix));
        const Continuation from_device = go_on(kB, tokens_, kPrefix, kPrefix + tail, greedy);
        backend_->clear(kB);
        driver_->restore(kC, ram);
        const Continuation from_ram = go_on(kC, tokens_, kPrefix, kPrefix + tail, greedy);
        backend_->clear(kC);
        expect_same(cold, from_device, fmt::format("tail of {} from the device", tail));
        expect_same(cold, from_ram, fmt::format("tail of {} from RAM", tail));
        worst = std::max({worst, compare_logits(cold.logits, from_device.logits).max_difference,
                          compare_logits(cold.logits, from_ram.logits).max_difference});
        if (HasFailure()) return;
    }
    RecordProperty("largest_logit_difference", fmt::format("{:g}", worst));
}

TEST_P(BackendSnapshots, BytesAreLookedAtOnceTheyAreThere) {
    prefill(kA, tokens_);
    const CapturedChain ram = driver_->capture(kA, kCuts);
    CapturedChain coming = ram;
    for (auto &link : coming.links)
        std::fill(link.rows.begin(), link.rows.end(), std::byte{0});
    std::fill(coming.boundary.begin(), coming.boundary.end(), std::byte{0});
    const std::vector<RowsPayload> rows = coming.payloads();
    const auto arrive = [&](std::size_t i) -> Status {
        EXPECT_LE(i, rows.size());
        if (i < rows.size()) {
            std::copy(ram.links[i].rows.begin(), ram.links[i].rows.end(), coming.links[i].rows.begin());
        } else {
            std::copy(ram.boundary.begin(), ram.boundary.end(), coming.boundary.begin());
        }
        return {};
    };
    ASSERT_TRUE(backend_->restore(kB, rows, coming.boundary, coming.length, arrive));
    expect_same(go_on(kA, tokens_, kPrefix, kPrefix + 20, 6), go_on(kB, tokens_, kPrefix, kPrefix + 20, 6), "arriving");

    // Where one does not come, its error comes up, and nothing is left.
    const std::size_t last = layout().has_boundary ? rows.size() : rows.size() - 1;
    const TokenPos cells = backend_->cells_used();
    const Status done = backend_->restore(kC, rows, coming.boundary, coming.length, [&](std::size_t i) -> Status {
        if (i == last) return fail(ErrorCode::io, "the disk is gone");
        return arrive(i);
    });
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().code, ErrorCode::io);
    EXPECT_EQ(backend_->length(kC), 0);
    EXPECT_EQ(backend_->cells_used(), cells);
}

TEST_P(BackendSnapshots, TwoSequencesLiveFromOneSnapshotAtOnce) {
    prefill(kA, tokens_);
    const CapturedChain ram = driver_->capture(kA, kCuts);
    const Continuation cold = go_on(kA, tokens_, kPrefix, kPrefix + 20, 6);
    Tokens other = random_tokens(kPrefix + 20, 12);
    std::copy_n(tokens_.begin(), kPrefix, other.begin());
    backend_->clear(kA);
    prefill(kA, other);
    const Continuation cold_other = go_on(kA, other, kPrefix, kPrefix + 20, 6);

    driver_->restore(kB, ram);
    driver_->restore(kC, ram);
    expect_same(cold_other, go_on(kC, other, kPrefix, kPrefix + 20, 6), "the second");
    expect_same(cold, go_on(kB, tokens_, kPrefix, kPrefix + 20, 6), "the first");
}

TEST_P(BackendSnapshots, CapturingChangesNothing) {
    prefill(kA, tokens_);
    prefill(kB, tokens_);
    const TokenPos cells = backend_->cells_used();
    const CapturedChain ram = driver_->capture(kA, kCuts);
    EXPECT_EQ(backend_->cells_used(), cells);
    EXPECT_EQ(backend_->length(kA), kPrefix);
    const Continuation cold = go_on(kB, tokens_, kPrefix, kPrefix + 20, 6);
    expect_same(cold, go_on(kA, tokens_, kPrefix, kPrefix + 20, 6), "the captured sequence");
}

TEST_P(BackendSnapshots, AParkedStateIsCapturedLikeALiveOne) {
    prefill(kA, tokens_);
    const ParkId parked = driver_->park(kA);
    const Continuation cold = go_on(kA, tokens_, kPrefix, kPrefix + 20, 6);
    const CapturedChain demoted = driver_->capture(parked, kCuts);
    backend_->drop(parked);
    driver_->restore(kB, demoted);
    expect_same(cold, go_on(kB, tokens_, kPrefix, kPrefix + 20, 6), "the demoted state");
}

TEST_P(BackendSnapshots, RowsAreCutWhereAnotherBranchBegins) {
    if (!layout().has_rows) return expect_no_rows();
    // One payload holds [0, 101) of a conversation; another conversation leaves it at 64.
    prefill(kA, tokens_);
    const CapturedChain first = driver_->capture(kA, {101, kPrefix});
    Tokens branch = random_tokens(kPrefix + 20, 12);
    std::copy_n(tokens_.begin(), 64, branch.begin());
    driver_->feed(kB, branch, 0, 64);
    driver_->feed(kB, branch, 64, kPrefix);
    CapturedChain chain = driver_->capture(kB, {64, kPrefix});
    const Continuation cold = go_on(kB, branch, kPrefix, kPrefix + 20, 6);
    chain.links[0] = first.links[0];
    chain.links[0].use = {0, 64};
    driver_->restore(kC, chain);
    expect_same(cold, go_on(kC, branch, kPrefix, kPrefix + 20, 6), "the branch");
}

TEST_P(BackendSnapshots, RowsInsideAPayloadMayBeIgnoredOnBothSides) {
    if (!layout().has_rows) return expect_no_rows();
    prefill(kA, tokens_);
    CapturedChain chain = driver_->capture(kA, {kPrefix});
    chain.links.clear();
    for (const TokenSpan use : {TokenSpan{0, 30}, TokenSpan{30, 90}, TokenSpan{90, kPrefix}}) {
        const TokenSpan span{std::max(0, use.begin - 10), std::min(kPrefix, use.end + 10)};
        chain.links.push_back({span, use, driver_->capture_rows(kA, span)});
    }
    const Continuation cold = go_on(kA, tokens_, kPrefix, kPrefix + 20, 6);
    const TokenPos cells = backend_->cells_used();
    driver_->restore(kB, chain);
    EXPECT_EQ(backend_->cells_used(), cells + kPrefix);
    expect_same(cold, go_on(kB, tokens_, kPrefix, kPrefix + 20, 6), "from overlapping payloads");
}

TEST_P(BackendSnapshots, ARestoredAndAFreshSequenceShareABatch) {
    prefill(kA, tokens_);
    const CapturedChain ram = driver_->capture(kA, kCuts);
    const auto warm_alone = driver_->feed(kA, tokens_, kPrefix, kPrefix + 9);
    const Tokens fresh = random_tokens(40, 13);
    const auto fresh_alone = driver_->feed(kB, fresh, 0, 40);
    backend_->clear(kA);
    backend_->clear(kB);
    driver_->restore(kC, ram);
    Batch batch = BackendDriver::batch(kD, fresh, 0, 40);
    for (const BatchToken &token : BackendDriver::batch(kC, tokens_, kPrefix, kPrefix + 9))
        batch.push_back(token);
    ASSERT_TRUE(backend_->run(batch));
    const auto fresh_comparison = compare_logits(fresh_alone, driver_->last(0));
    const auto warm_comparison = compare_logits(warm_alone, driver_->last(1));
    EXPECT_TRUE(fresh_comparison.matches()) << "fresh: " << fresh_comparison;
    EXPECT_TRUE(warm_comparison.matches()) << "restored: " << warm_comparison;
}

TEST_P(BackendSnapshots, SizesAreBoundsAndTooLittleRoomIsAnError) {
    prefill(kA, tokens_);
    EXPECT_EQ(backend_->rows_size(kA, {20, 20}).value(), 0u);
    const std::size_t rows_size = backend_->rows_size(kA, {20, 90}).value();
    const std::size_t boundary_size = backend_->boundary_size(kA).value();
    EXPECT_EQ(rows_size > 0, layout().has_rows);
    EXPECT_EQ(boundary_size > 0, layout().has_boundary);
    ByteVector rows(rows_size), boundary(boundary_size);
    const auto captured = backend_->capture(kA, {20, 90}, rows, boundary);
    ASSERT_TRUE(captured) << captured.error().what;
    EXPECT_LE(captured->rows, rows_size);
    EXPECT_EQ(captured->rows > 0, layout().has_rows);
    EXPECT_LE(captured->boundary, boundary_size);
    EXPECT_EQ(captured->boundary > 0, layout().has_boundary);
    if (layout().has_rows) {
        // In proportion to the tokens, and then some for the frame.
        const std::size_t shorter = driver_->capture_rows(kA, {20, 55}).size();
        EXPECT_LT(shorter, captured->rows);
        EXPECT_GE(2 * shorter, captured->rows);
        EXPECT_FALSE(backend_->capture(kA, {20, 90}, MutableBytes(rows).first(captured->rows / 2), {}));
    }
    if (layout().has_boundary) {
        EXPECT_FALSE(backend_->capture(kA, {90, 90}, {}, MutableBytes(boundary).first(captured->boundary / 2)));
    }
    EXPECT_EQ(backend_->length(kA), kPrefix);
}

TEST_P(BackendSnapshots, SpansOutsideTheSequenceAreRefused) {
    prefill(kA, tokens_);
    ByteVector room(1 << 20);
    for (const TokenSpan span : {TokenSpan{-1, 10}, TokenSpan{10, kPrefix + 1}, TokenSpan{20, 10}}) {
        EXPECT_EQ(backend_->rows_size(kA, span).error().code, ErrorCode::invalid_argument) << span.begin;
        EXPECT_EQ(backend_->capture(kA, span, room, {}).error().code, ErrorCode::invalid_argument) << span.begin;
    }
    EXPECT_EQ(backend_->length(kA), kPrefix);
}

TEST_P(BackendSnapshots, WhatIsNotAWholeStateIsRefusedAndTheSequenceIsEmpty) {
    prefill(kA, tokens_);
    driver_->feed(kB, tokens_, 0, 30);
    const CapturedChain good = driver_->capture(kA, kCuts);
    const TokenPos cells = backend_->cells_used();
    const auto expect_refused = [&](const CapturedChain &chain, const char *what) {
        const Status refused = driver_->try_restore(kC, chain);
        EXPECT_FALSE(refused) << what;
        EXPECT_EQ(refused ? ErrorCode::internal : refused.error().code, ErrorCode::corrupt) << what;
        EXPECT_EQ(backend_->length(kC), 0) << what;
        EXPECT_EQ(backend_->cells_used(), cells) << what;
        backend_->clear(kC);
    };
    if (layout().has_rows) {
        CapturedChain chain = good;
        chain.links[1].rows.resize(chain.links[1].rows.size() / 2);
        expect_refused(chain, "half a row payload");
        chain = good;
        chain.links[1].rows.resize(4);
        expect_refused(chain, "four bytes of rows");
        chain = good;
        chain.links.erase(chain.links.begin() + 1);
        expect_refused(chain, "a gap");
        chain = good;
        chain.links.pop_back();
        expect_refused(chain, "rows that end early");
    }
    if (layout().has_boundary) {
        CapturedChain chain = good;
        chain.boundary.clear();
        expect_refused(chain, "no boundary");
        chain = good;
        chain.boundary.resize(chain.boundary.size() / 2);
        expect_refused(chain, "half a boundary");
        chain = good;
        chain.boundary.resize(3);
        expect_refused(chain, "three bytes of boundary");
        chain = good;
        chain.boundary = driver_->capture_boundary(kB);
        expect_refused(chain, "the boundary of another length");
    }
    const Continuation cold = go_on(kA, tokens_, kPrefix, kPrefix + 20, 6);
    driver_->restore(kC, good);
    expect_same(cold, go_on(kC, tokens_, kPrefix, kPrefix + 20, 6), "after refusals");
    EXPECT_EQ(backend_->length(kB), 30);
}

TEST_P(BackendSnapshots, RowsOfAnotherSpanAreRefused) {
    if (!layout().has_rows) return expect_no_rows();
    prefill(kA, tokens_);
    const CapturedChain good = driver_->capture(kA, kCuts);
    const ByteVector shorter = driver_->capture_rows(kA, {64, 90});
    const TokenPos cells = backend_->cells_used();
    CapturedChain swapped = good, short_one = good;
    std::swap(swapped.links[0].rows, swapped.links[1].rows);
    short_one.links[1].rows = shorter;
    for (const CapturedChain &chain : {swapped, short_one}) {
        const Status refused = driver_->try_restore(kB, chain);
        EXPECT_EQ(refused ? ErrorCode::internal : refused.error().code, ErrorCode::corrupt);
        EXPECT_EQ(backend_->length(kB), 0);
        EXPECT_EQ(backend_->cells_used(), cells);
        backend_->clear(kB);
    }
}

CAIRN_OVER_BACKENDS(BackendSnapshots, backend_cases);

}  // namespace
}  // namespace cairn
