// Running, sharing, cutting: what needs no bytes.

#include "tests/contract/backend_case.h"

namespace cairn {
namespace {

using BackendSequences = BackendContract;

TEST_P(BackendSequences, FactsAreSane) {
    const BackendLimits &limits = backend_->limits();
    EXPECT_GE(limits.context, 512);
    EXPECT_LE(limits.context, limits.pool_cells);
    EXPECT_EQ(limits.live_sequences, 4);
    EXPECT_EQ(limits.parked_sequences, 4);
    EXPECT_EQ(limits.batch_tokens, 512);
    EXPECT_EQ(layout().mode == CaptureMode::none, !layout().has_rows && !layout().has_boundary);
    EXPECT_TRUE(layout().can_park);
    EXPECT_EQ(layout().has_boundary, layout().boundary_bytes > 0);
    EXPECT_NE(layout().fingerprint, Fingerprint{});
    EXPECT_GE(backend_->parked_cell_tax(), 0.0);
    EXPECT_FALSE(backend_->info().name.empty());
    EXPECT_FALSE(backend_->info().architecture.empty());
    EXPECT_GT(backend_->vocabulary().size(), 256);
    EXPECT_EQ(backend_->cells_used(), 0);
    EXPECT_EQ(backend_->parked_bytes(), 0u);
    for (std::int32_t seq = 0; seq < 4; ++seq)
        EXPECT_EQ(backend_->length(SeqId(seq)), 0);
}

TEST_P(BackendSequences, TheProbeFoundWhatThisFamilyCanDo) {
    const std::string name = GetParam().name;
    const auto is = [&](const char *part) { return name.find(part) != std::string::npos; };
    const bool whole = is("whole"), recurrent = is("recurrent") || is("mamba2"), window = is("sliding") || is("gemma3");
    const bool attention = is("attention") || name == "llama_qwen3";
    EXPECT_EQ(layout().mode, whole ? CaptureMode::whole : CaptureMode::segmented) << layout().why;
    EXPECT_EQ(layout().has_rows, !whole && !recurrent);
    EXPECT_EQ(layout().has_boundary, !attention);
    EXPECT_EQ(layout().has_sliding_window, window);
    // A window may or may not rewind: the backend's affair.
    EXPECT_TRUE(window || layout().can_rewind == attention);
    EXPECT_EQ(layout().row_bytes > 0, !recurrent);
}

TEST_P(BackendSequences, RunningMakesSequencesLonger) {
    const Tokens tokens = random_tokens(40, 1);
    driver_->feed(kA, tokens, 0, 30);
    EXPECT_EQ(backend_->length(kA), 30);
    driver_->feed(kA, tokens, 30, 40);
    EXPECT_EQ(backend_->length(kA), 40);
    EXPECT_EQ(backend_->length(kB), 0);
    backend_->clear(kA);
    EXPECT_EQ(backend_->length(kA), 0);
    EXPECT_EQ(backend_->cells_used(), 0);
}

TEST_P(BackendSequences, OutputsCountInTheOrderOfTheBatch) {
    const Tokens first = random_tokens(20, 1), second = random_tokens(20, 2);
    const auto alone_a = driver_->feed(kA, first, 0, 20), alone_b = driver_->feed(kB, second, 0, 20);
    Batch batch = BackendDriver::batch(kC, first, 0, 20);
    for (const BatchToken &token : BackendDriver::batch(kD, second, 0, 20))
        batch.push_back(token);
    ASSERT_TRUE(backend_->run(batch));
    EXPECT_TRUE(compare_logits(alone_a, driver_->last(0)).matches()) << compare_logits(alone_a, driver_->last(0));
    EXPECT_TRUE(compare_logits(alone_b, driver_->last(1)).matches()) << compare_logits(alone_b, driver_->last(1));
    EXPECT_FALSE(compare_logits(alone_a, alone_b).matches());
}

TEST_P(BackendSequences, AForkCopiesNothingAndBothGoTheirOwnWay) {
    const Tokens tokens = random_tokens(90, 1);
    Tokens other = random_tokens(90, 2);
    driver_->feed(kC, tokens, 0, 60);
    const Continuation uninterrupted = go_on(kC, tokens, 60, 75, 4);
    backend_->clear(kC);
    std::copy_n(tokens.begin(), 60, other.begin());
    driver_->feed(kC, other, 0, 60);
    const Continuation diverging = go_on(kC, other, 60, 75, 4);
    backend_->clear(kC);

    driver_->feed(kA, tokens, 0, 60);
    const TokenPos cells = backend_->cells_used();
    ASSERT_TRUE(backend_->fork(kA, kB));
    EXPECT_EQ(backend_->cells_used(), cells);
    EXPECT_EQ(backend_->length(kB), 60);
    expect_same(diverging, go_on(kB, other, 60, 75, 4), "the fork");
    expect_same(uninterrupted, go_on(kA, tokens, 60, 75, 4), "the origin");
    backend_->clear(kA);
    EXPECT_EQ(backend_->length(kB), 79);
}

TEST_P(BackendSequences, ParkingCopiesNothingAndTheSequenceGoesOn) {
    const Tokens tokens = random_tokens(90, 1);
    driver_->feed(kC, tokens, 0, 60);
    const Continuation uninterrupted = go_on(kC, tokens, 60, 75, 4);
    backend_->clear(kC);

    driver_->feed(kA, tokens, 0, 60);
    const TokenPos cells = backend_->cells_used();
    const std::size_t cost = backend_->park_cost(kA);
    const ParkId parked = driver_->park(kA);
    EXPECT_EQ(backend_->cells_used(), cells);
    EXPECT_EQ(backend_->cells_only_parked(), 0);
    EXPECT_EQ(backend_->parked_bytes(), cost);
    EXPECT_EQ(backend_->length(parked), 60);
    expect_same(uninterrupted, go_on(kA, tokens, 60, 75, 4), "the parked sequence itself");

    backend_->clear(kA);
    EXPECT_EQ(backend_->cells_used(), cells);
    EXPECT_EQ(backend_->cells_only_parked(), cells);
    ASSERT_TRUE(backend_->adopt(parked, kA, 60));
    ASSERT_TRUE(backend_->adopt(parked, kB, 60));
    EXPECT_EQ(backend_->cells_used(), cells);
    expect_same(uninterrupted, go_on(kA, tokens, 60, 75, 4), "the first adoption");
    expect_same(uninterrupted, go_on(kB, tokens, 60, 75, 4), "the second adoption");
    backend_->drop(parked);
    EXPECT_EQ(backend_->parked_bytes(), 0u);
    backend_->clear(kA);
    backend_->clear(kB);
    EXPECT_EQ(backend_->cells_used(), 0);
}

TEST_P(BackendSequences, TheNextTurnsParkCostsOnlyItsOwnCells) {
    const Tokens tokens = random_tokens(90, 1);
    driver_->feed(kA, tokens, 0, 60);
    (void)driver_->park(kA);
    const std::size_t before = backend_->parked_bytes();
    driver_->feed(kA, tokens, 60, 90);
    const std::size_t cost = backend_->park_cost(kA);
    EXPECT_EQ(cost, 30 * layout().row_bytes + layout().boundary_bytes);
    (void)driver_->park(kA);
    EXPECT_EQ(backend_->parked_bytes(), before + cost);
}

TEST_P(BackendSequences, ParkedSequencesAreLimited) {
    const Tokens tokens = random_tokens(10, 1);
    driver_->feed(kA, tokens, 0, 10);
    std::vector<ParkId> parked;
    for (int i = 0; i < 4; ++i)
        parked.push_back(driver_->park(kA));
    const auto refused = backend_->park(kA);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::capacity);
    EXPECT_EQ(backend_->length(kA), 10);
    backend_->drop(parked[1]);
    EXPECT_TRUE(backend_->park(kA));
}

TEST_P(BackendSequences, RewindingGoesBackToTheShorterPrefix) {
    const Tokens tokens = random_tokens(90, 1);
    driver_->feed(kA, tokens, 0, 60);
    const Continuation uninterrupted = go_on(kA, tokens, 60, 75, 4);
    if (!layout().can_rewind) {
        const Status refused = backend_->rewind(kA, 60);
        ASSERT_FALSE(refused);
        EXPECT_EQ(refused.error().code, ErrorCode::unsupported);
        EXPECT_EQ(backend_->length(kA), 79);
        return;
    }
    ASSERT_TRUE(backend_->rewind(kA, 60));
    EXPECT_EQ(backend_->length(kA), 60);
    EXPECT_EQ(backend_->cells_used(), 60);
    expect_same(uninterrupted, go_on(kA, tokens, 60, 75, 4), "after rewind");
    EXPECT_EQ(backend_->rewind(kA, 80).error().code, ErrorCode::invalid_argument);
    EXPECT_EQ(backend_->length(kA), 79);
}

TEST_P(BackendSequences, AdoptingAtAShorterLengthCutsOrRefuses) {
    const Tokens tokens = random_tokens(90, 1);
    driver_->feed(kC, tokens, 0, 50);
    const Continuation uninterrupted = go_on(kC, tokens, 50, 75, 4);
    backend_->clear(kC);
    driver_->feed(kA, tokens, 0, 50);
    driver_->feed(kA, tokens, 50, 90);
    const ParkId parked = driver_->park(kA);
    const Status adopted = backend_->adopt(parked, kB, 50);
    if (layout().can_rewind) {
        ASSERT_TRUE(adopted) << adopted.error().what;
        EXPECT_EQ(backend_->cells_used(), 90);
        expect_same(uninterrupted, go_on(kB, tokens, 50, 75, 4), "adopted at 50 of 90");
    } else {
        ASSERT_FALSE(adopted);
        EXPECT_EQ(adopted.error().code, ErrorCode::unsupported);
        EXPECT_EQ(backend_->length(kB), 0);
    }
    EXPECT_EQ(backend_->adopt(parked, kD, 91).error().code, ErrorCode::invalid_argument);
    EXPECT_EQ(backend_->length(kD), 0);
    EXPECT_EQ(backend_->length(parked), 90);
}

TEST_P(BackendSequences, MalformedBatchesAreRefusedAndChangeNothing) {
    const Tokens tokens = random_tokens(40, 1);
    driver_->feed(kA, tokens, 0, 20);
    const auto code = [&](const Batch &batch) {
        const Status status = backend_->run(batch);
        return status ? ErrorCode::internal : status.error().code;
    };
    EXPECT_EQ(code({}), ErrorCode::invalid_argument);
    EXPECT_EQ(code({{1, 21, kA, true}}), ErrorCode::invalid_argument) << "a gap";
    EXPECT_EQ(code({{1, 19, kA, true}}), ErrorCode::invalid_argument) << "a position twice";
    EXPECT_EQ(code({{1, 20, kA, false}, {1, 22, kA, true}}), ErrorCode::invalid_argument) << "a gap inside";
    EXPECT_EQ(code({{-1, 20, kA, true}}), ErrorCode::invalid_argument) << "no token";
    EXPECT_EQ(code({{backend_->vocabulary().size(), 20, kA, true}}), ErrorCode::invalid_argument) << "no token";
    EXPECT_EQ(code(BackendDriver::batch(kB, random_tokens(513, 1), 0, 513)), ErrorCode::invalid_argument) << "too long";
    EXPECT_EQ(backend_->length(kA), 20);
    EXPECT_EQ(backend_->length(kB), 0);
    driver_->feed(kA, tokens, 20, 40);
}

TEST_P(BackendSequences, TargetsThatHoldTokensAreRefusedAndStay) {
    const Tokens tokens = random_tokens(20, 1);
    driver_->feed(kA, tokens, 0, 20);
    driver_->feed(kB, tokens, 0, 5);
    const ParkId parked = driver_->park(kA);
    EXPECT_EQ(backend_->fork(kA, kB).error().code, ErrorCode::invalid_argument);
    EXPECT_EQ(backend_->adopt(parked, kB, 20).error().code, ErrorCode::invalid_argument);
    EXPECT_EQ(driver_->try_restore(kB, driver_->capture(kA, {20})).error().code, ErrorCode::invalid_argument);
    EXPECT_EQ(backend_->length(kB), 5);
    EXPECT_EQ(backend_->length(kA), 20);
    driver_->feed(kB, tokens, 5, 20);
}

TEST_P(BackendSequences, AFullPoolRefusesAndChangesNothing) {
    const TokenPos pool = backend_->limits().pool_cells;
    driver_->feed(kA, random_tokens(100, 1), 0, 100);
    if (!takes_cells()) {
        EXPECT_EQ(backend_->cells_used(), 0) << "a family without cells never fills the pool";
        return;
    }
    const CapturedChain chain = driver_->capture(kA, {100});
    (void)driver_->park(kA);
    const Tokens filler = random_tokens(pool, 2);
    for (TokenPos pos = 0; pos < pool - 130;) {
        const TokenPos end = std::min(pos + 256, pool - 130);
        driver_->feed(kB, filler, pos, end);
        pos = end;
    }
    EXPECT_EQ(backend_->cells_used(), pool - 30);
    const Status run = backend_->run(BackendDriver::batch(kC, filler, 0, 31));
    ASSERT_FALSE(run);
    EXPECT_EQ(run.error().code, ErrorCode::capacity);
    const Status restored = driver_->try_restore(kC, chain);
    ASSERT_FALSE(restored);
    EXPECT_EQ(restored.error().code, ErrorCode::capacity);
    EXPECT_EQ(backend_->length(kC), 0);
    EXPECT_EQ(backend_->cells_used(), pool - 30);
    ASSERT_TRUE(backend_->fork(kA, kC)) << "sharing needs no room";
    ASSERT_TRUE(backend_->run(BackendDriver::batch(kD, filler, 0, 30)));
    EXPECT_EQ(backend_->cells_used(), pool);
}

CAIRN_OVER_BACKENDS(BackendSequences, backend_cases);

}  // namespace
}  // namespace cairn
