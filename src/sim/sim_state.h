// SimState: the state of one simulated sequence, with numbers in place of tensors. Pure arithmetic.
//
//     SimState state(model);
//     for (Token t : tokens) state.advance(t);
//     std::vector<float> logits = state.logits();      // depend on every token, every position and their order
//
// What each token leaves behind depends on all that was there before it, as in a real model:
//
//     row(i)      = mix(token, i, attended(i), carried(i))     attended(i): over rows 0 .. i-1
//     carried(i+1) = mix(token, i, attended(i), carried(i))    recurrent: everything so far in one number
//                    or of the last `window` such numbers      sliding window
//
// so that one wrong, lost, moved or stale piece shows in all logits from then on.
//
// Ownership: a value. Copies share the rows they have in common, so that a fork is cheap at any length.
// Threads: one at a time for each value; shared rows are never written.
// Cost: advance O(1) (window: O(window)); logits O(vocabulary); cut O(length).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "cairn/types.h"
#include "sim/sim_config.h"

namespace cairn {

/// The facts of a SimConfig that shape states and logits.
struct SimModel {
    explicit SimModel(const SimConfig &config);

    SimFamily family;
    std::uint64_t seed;
    TokenPos vocabulary;
    TokenPos window;

    [[nodiscard]] bool has_rows() const noexcept { return family != SimFamily::recurrent; }
    [[nodiscard]] bool has_window() const noexcept { return family == SimFamily::sliding_window; }
    [[nodiscard]] bool has_carry() const noexcept { return family != SimFamily::attention && !has_window(); }
};

/// What a boundary holds.
struct SimBoundary {
    std::uint64_t carried = 0;          ///< hybrid, recurrent, whole, none
    std::vector<std::uint64_t> window;  ///< sliding window: oldest first
};

class SimState {
public:
    explicit SimState(const SimModel &model) : model_(model) {}

    void advance(Token token);
    /// Back to `length` tokens; the boundary stays as it is: for families without one.
    void cut(TokenPos length);
    /// Puts back what boundary() gave. With rows: after the last of them.
    void set_boundary(SimBoundary boundary, TokenPos length);
    void append_row(std::uint64_t row);

    [[nodiscard]] TokenPos length() const noexcept { return length_; }
    [[nodiscard]] std::uint64_t row(TokenPos pos) const;
    [[nodiscard]] const SimBoundary &boundary() const noexcept { return boundary_; }
    /// Everything in one number: equal for equal states, different otherwise (as hashes go).
    [[nodiscard]] std::uint64_t digest() const;
    /// Logits of the next token, in [-8, 8), before biases.
    [[nodiscard]] std::vector<float> logits() const;

private:
    static constexpr std::size_t kChunk = 256;
    using Chunk = std::vector<std::uint64_t>;

    SimModel model_;
    std::vector<std::shared_ptr<Chunk>> chunks_;  // all full but the last; written only while not shared
    std::size_t rows_ = 0;
    std::uint64_t attended_ = 0;
    SimBoundary boundary_;
    TokenPos length_ = 0;
};

}  // namespace cairn
