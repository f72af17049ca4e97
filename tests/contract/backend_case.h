// The backends that the contract suite runs over: every family of the simulated one, and libllama over every fixture.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "model/backend.h"
#include "tests/support/backend_driver.h"

namespace cairn {

struct BackendCase {
    std::string name;
    std::function<Result<std::unique_ptr<Backend>>()> open;
};

/// All of them, with 4 live and 4 parked sequences, a pool of at least 1,024 cells, and batches of 512 tokens.
[[nodiscard]] const std::vector<BackendCase> &backend_cases();
/// Those whose state has a boundary. The simulated ones of these check no payloads, so that a wrong one is taken.
[[nodiscard]] const std::vector<BackendCase> &trusting_boundary_cases();

inline std::ostream &operator<<(std::ostream &out, const BackendCase &c) {
    return out << c.name;
}

/// A test over one of them. The backend is fresh.
class BackendContract : public ::testing::TestWithParam<BackendCase> {
protected:
    static constexpr SeqId kA{0}, kB{1}, kC{2}, kD{3};

    void SetUp() override {
        auto opened = GetParam().open();
        ASSERT_TRUE(opened) << opened.error().what;
        backend_ = *std::move(opened);
        driver_ = std::make_unique<BackendDriver>(*backend_);
    }

    [[nodiscard]] const StateLayout &layout() const { return backend_->layout(); }
    /// False for models whose state takes no cells of the pool.
    [[nodiscard]] bool takes_cells() const { return backend_->cells_used() > 0; }

    /// Asserts that `seq` stands where `reference` did: logits behind `tail`, and the greedy tokens behind those.
    struct Continuation {
        std::vector<float> logits;
        Tokens greedy;
    };
    Continuation go_on(SeqId seq, const Tokens &tokens, TokenPos from, TokenPos to, TokenPos greedy) {
        Continuation result;
        result.logits = driver_->feed(seq, tokens, from, to);
        result.greedy = driver_->greedy(seq, result.logits, greedy);
        return result;
    }
    static void expect_same(const Continuation &reference, const Continuation &actual, const std::string &what) {
        const LogitsComparison comparison = compare_logits(reference.logits, actual.logits);
        EXPECT_TRUE(comparison.matches()) << what << ": " << comparison;
        EXPECT_EQ(reference.greedy, actual.greedy) << what;
        EXPECT_GT(comparison.scale, 0.1) << what;
    }

    std::unique_ptr<Backend> backend_;
    std::unique_ptr<BackendDriver> driver_;
};

}  // namespace cairn

/// A suite over the cases of `cases()`.
#define CAIRN_OVER_BACKENDS(suite, cases)                                   \
    INSTANTIATE_TEST_SUITE_P(Backends, suite, ::testing::ValuesIn(cases()), \
                             [](const auto &backend) { return backend.param.name; })
