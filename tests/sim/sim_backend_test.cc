#include "sim/sim_backend.h"

#include <gtest/gtest.h>

#include <numeric>

#include "sim/sim_vocabulary.h"

namespace cairn {
namespace {

constexpr SeqId kA{0}, kB{1};

Tokens numbers(TokenPos count, Token first = 1) {
    Tokens tokens(static_cast<std::size_t>(count));
    std::iota(tokens.begin(), tokens.end(), first);
    for (Token &token : tokens)
        token %= 256;
    return tokens;
}

class SimBackendTest : public ::testing::Test {
protected:
    void open(SimConfig config) {
        config.control = control_;
        config_ = config;
        auto opened = open_sim_backend(config);
        ASSERT_TRUE(opened) << opened.error().what;
        backend_ = *std::move(opened);
    }

    Status feed(SeqId seq, const Tokens &tokens) {
        Batch batch;
        const TokenPos begin = backend_->length(seq);
        for (const Token token : tokens) {
            batch.push_back(
                {token, begin + static_cast<TokenPos>(batch.size()), seq, batch.size() + 1 == tokens.size()});
        }
        return backend_->run(batch);
    }

    std::vector<float> last_logits() {
        const auto logits = backend_->logits(0);
        return {logits.begin(), logits.end()};
    }

    struct Snapshot {
        std::vector<std::byte> rows, boundary;
    };
    Snapshot capture(SeqId seq, TokenSpan span) {
        Snapshot snapshot;
        snapshot.rows.resize(backend_->rows_size(seq, span).value());
        snapshot.boundary.resize(backend_->boundary_size(seq).value());
        EXPECT_TRUE(backend_->capture(seq, span, snapshot.rows, snapshot.boundary));
        return snapshot;
    }
    Status restore(SeqId seq, const Snapshot &snapshot, TokenPos length) {
        const RowsPayload rows{{0, length}, 0, length, snapshot.rows};
        return backend_->restore(seq, {&rows, 1}, snapshot.boundary, length);
    }

    std::shared_ptr<SimControl> control_ = std::make_shared<SimControl>();
    SimConfig config_;
    std::unique_ptr<Backend> backend_;
};

TEST_F(SimBackendTest, GivesTheLogitsOfTheTokens) {
    open({});
    const Tokens tokens = numbers(20);
    ASSERT_TRUE(feed(kA, tokens));
    EXPECT_EQ(last_logits(), sim_logits(config_, tokens));
    EXPECT_EQ(backend_->length(kA), 20);
}

TEST_F(SimBackendTest, PayloadsHaveTheSizesOfTheConfig) {
    open({.family = SimFamily::hybrid, .row_bytes = 100, .boundary_bytes = 1000});
    ASSERT_TRUE(feed(kA, numbers(20)));
    EXPECT_EQ(backend_->rows_size(kA, {5, 15}).value(), 32u + 10 * 100);
    EXPECT_EQ(backend_->rows_size(kA, {5, 5}).value(), 0u);
    EXPECT_EQ(backend_->boundary_size(kA).value(), 1000u);
}

TEST_F(SimBackendTest, AWholePayloadHoldsAllRows) {
    open({.family = SimFamily::whole, .row_bytes = 16, .boundary_bytes = 64});
    ASSERT_TRUE(feed(kA, numbers(20)));
    EXPECT_EQ(backend_->rows_size(kA, {0, 20}).value(), 0u);
    EXPECT_EQ(backend_->boundary_size(kA).value(), 32u + 20 * 16 + 32);
}

TEST_F(SimBackendTest, EveryDamagedByteIsNoticed) {
    open({.row_bytes = 24, .boundary_bytes = 70});
    ASSERT_TRUE(feed(kA, numbers(5)));
    Snapshot snapshot = capture(kA, {0, 5});
    for (auto *part : {&snapshot.rows, &snapshot.boundary}) {
        for (std::byte &byte : *part) {
            byte ^= std::byte{0x10};
            const Status restored = restore(kB, snapshot, 5);
            ASSERT_FALSE(restored);
            EXPECT_EQ(restored.error().code, ErrorCode::corrupt);
            EXPECT_EQ(backend_->length(kB), 0);
            byte ^= std::byte{0x10};
        }
    }
    EXPECT_TRUE(restore(kB, snapshot, 5));
}

TEST_F(SimBackendTest, WithoutChecksEveryDamagedByteOfABodyChangesTheLogits) {
    open({.row_bytes = 24, .boundary_bytes = 70, .checks_payloads = false});
    ASSERT_TRUE(feed(kA, numbers(5)));
    Snapshot snapshot = capture(kA, {0, 5});
    Tokens tokens = numbers(5);
    tokens.push_back(200);
    for (auto *part : {&snapshot.rows, &snapshot.boundary}) {
        for (std::size_t i = 32; i < part->size(); ++i) {
            (*part)[i] ^= std::byte{0x10};
            ASSERT_TRUE(restore(kB, snapshot, 5));
            ASSERT_TRUE(feed(kB, {200}));
            EXPECT_NE(last_logits(), sim_logits(config_, tokens)) << "byte " << i;
            backend_->clear(kB);
            (*part)[i] ^= std::byte{0x10};
        }
    }
}

TEST_F(SimBackendTest, ForeignPayloadsAreNoticed) {
    open({.weights = "other"});
    ASSERT_TRUE(feed(kA, numbers(5)));
    const Snapshot snapshot = capture(kA, {0, 5});
    open({.weights = "sim"});
    const Status restored = restore(kB, snapshot, 5);
    ASSERT_FALSE(restored);
    EXPECT_EQ(restored.error().code, ErrorCode::corrupt);
}

TEST_F(SimBackendTest, ThePoolIsExact) {
    open({.pool_cells = 30});
    ASSERT_TRUE(feed(kA, numbers(20)));
    ASSERT_TRUE(backend_->fork(kA, kB));
    const Status refused = feed(kB, numbers(11));
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::capacity);
    EXPECT_EQ(backend_->length(kB), 20);
    EXPECT_EQ(backend_->cells_used(), 20);
    EXPECT_TRUE(feed(kB, numbers(10)));
    EXPECT_EQ(backend_->cells_used(), 30);
}

TEST_F(SimBackendTest, RecurrentStatesTakeNoCells) {
    open({.family = SimFamily::recurrent, .pool_cells = 1});
    ASSERT_TRUE(feed(kA, numbers(20)));
    EXPECT_EQ(backend_->cells_used(), 0);
    EXPECT_EQ(backend_->park_cost(kA), 256u);
}

TEST_F(SimBackendTest, ParkingCostsOnlyWhatIsNotParkedYet) {
    open({.row_bytes = 10, .boundary_bytes = 100});
    ASSERT_TRUE(feed(kA, numbers(20)));
    EXPECT_EQ(backend_->park_cost(kA), 300u);
    const ParkId first = backend_->park(kA).value();
    EXPECT_EQ(backend_->parked_bytes(), 300u);
    ASSERT_TRUE(feed(kA, numbers(5)));
    EXPECT_EQ(backend_->park_cost(kA), 150u);
    (void)backend_->park(kA).value();
    EXPECT_EQ(backend_->parked_bytes(), 450u);
    backend_->drop(first);
    EXPECT_EQ(backend_->parked_bytes(), 350u);
}

TEST_F(SimBackendTest, PlannedFailuresComeOnTheirCall) {
    open({});
    control_->fail(SimCall::run, 2, Error{ErrorCode::capacity, "planned"});
    control_->fail(SimCall::park, 1, Error{ErrorCode::no_memory, "planned"});
    EXPECT_TRUE(feed(kA, numbers(2)));
    const Status failed = feed(kA, numbers(2));
    ASSERT_FALSE(failed);
    EXPECT_EQ(failed.error().what, "planned");
    EXPECT_EQ(backend_->length(kA), 2);
    EXPECT_TRUE(feed(kA, numbers(2)));
    const auto parked = backend_->park(kA);
    ASSERT_FALSE(parked);
    EXPECT_EQ(parked.error().code, ErrorCode::no_memory);
    EXPECT_TRUE(backend_->park(kA));
}

TEST_F(SimBackendTest, ADeviceErrorVoidsTheSequencesOfTheBatch) {
    open({});
    ASSERT_TRUE(feed(kA, numbers(2)));
    ASSERT_TRUE(feed(kB, numbers(3)));
    control_->fail(SimCall::run, 1, Error{ErrorCode::device, "planned"});
    EXPECT_FALSE(feed(kA, numbers(2)));
    EXPECT_EQ(backend_->length(kA), 0);
    EXPECT_EQ(backend_->length(kB), 3);
    EXPECT_EQ(backend_->cells_used(), 3);
}

TEST_F(SimBackendTest, HooksSeeBatchesAndCaptures) {
    open({});
    std::size_t seen = 0;
    control_->before_run([&](const Batch &batch) { seen += batch.size(); });
    ASSERT_TRUE(feed(kA, numbers(7)));
    EXPECT_EQ(seen, 7u);
    control_->after_capture([](MutableBytes, MutableBytes boundary) { boundary.back() ^= std::byte{1}; });
    const Snapshot damaged = capture(kA, {0, 7});
    const Status restored = restore(kB, damaged, 7);
    ASSERT_FALSE(restored);
    EXPECT_EQ(restored.error().code, ErrorCode::corrupt);
}

TEST_F(SimBackendTest, CountsWhatItDid) {
    open({.row_bytes = 10, .boundary_bytes = 100});
    ASSERT_TRUE(feed(kA, numbers(7)));
    ASSERT_TRUE(restore(kB, capture(kA, {0, 7}), 7));
    const SimCounters counters = control_->counters();
    EXPECT_EQ(counters.runs, 1u);
    EXPECT_EQ(counters.tokens, 7u);
    EXPECT_EQ(counters.outputs, 1u);
    EXPECT_EQ(counters.captures, 1u);
    EXPECT_EQ(counters.captured_bytes, 202u);
    EXPECT_EQ(counters.restored_bytes, 202u);
}

TEST_F(SimBackendTest, AnswersCanBeForced) {
    open({.end_bias = -1e9f, .forced_token = [](TokenPos length) -> std::optional<Token> {
              if (length == 22) return 'x';
              return std::nullopt;
          }});
    const Tokens answer = sim_continuation(config_, numbers(20), 4);
    EXPECT_EQ(answer[2], 'x');
    ASSERT_TRUE(feed(kA, numbers(20)));
    EXPECT_LT(last_logits()[SimVocabulary::kTurnEnd], -1e8f);
}

TEST_F(SimBackendTest, GreedyAnswersVary) {
    open({.end_bias = -1e9f});
    const Tokens first = sim_continuation(config_, numbers(20), 32),
                 second = sim_continuation(config_, numbers(21), 32);
    EXPECT_NE(first, second);
    EXPECT_GT(std::set<Token>(first.begin(), first.end()).size(), 20u);
}

TEST(SimBackendConfig, ValuesOutsideTheirBoundsAreNamed) {
    const auto error_of = [](SimConfig config) { return open_sim_backend(std::move(config)).error().what; };
    EXPECT_NE(error_of({.vocabulary = 100}).find("vocabulary"), std::string::npos);
    EXPECT_NE(error_of({.row_bytes = 4}).find("row_bytes"), std::string::npos);
    EXPECT_NE(error_of({.family = SimFamily::sliding_window, .boundary_bytes = 64}).find("boundary_bytes"),
              std::string::npos);
    EXPECT_NE(error_of({.live_sequences = 0}).find("live_sequences"), std::string::npos);
}

TEST_F(SimBackendTest, AFamilyWithoutCarryOverRefusesIt) {
    open({.family = SimFamily::none});
    ASSERT_TRUE(feed(kA, numbers(4)));
    EXPECT_EQ(backend_->park(kA).error().code, ErrorCode::unsupported);
    EXPECT_EQ(backend_->fork(kA, kB).error().code, ErrorCode::unsupported);
    EXPECT_EQ(backend_->rows_size(kA, {0, 4}).error().code, ErrorCode::unsupported);
    EXPECT_EQ(backend_->restore(kB, {}, {}, 4).error().code, ErrorCode::unsupported);
    EXPECT_EQ(backend_->layout().mode, CaptureMode::none);
}

}  // namespace
}  // namespace cairn
