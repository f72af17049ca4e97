#include "sim/sim_state.h"

#include <gtest/gtest.h>

#include <set>

namespace cairn {
namespace {

constexpr SimFamily kFamilies[] = {SimFamily::attention,      SimFamily::hybrid, SimFamily::recurrent,
                                   SimFamily::sliding_window, SimFamily::whole,  SimFamily::none};

SimState state_of(const SimModel &model, const Tokens &tokens) {
    SimState state(model);
    for (const Token token : tokens)
        state.advance(token);
    return state;
}

class SimStateFamilies : public ::testing::TestWithParam<SimFamily> {
protected:
    SimModel model_{SimConfig{.family = GetParam()}};
};

TEST_P(SimStateFamilies, EveryTokenAndItsPlaceMatter) {
    const auto digest = state_of(model_, {1, 2, 3, 4}).digest();
    EXPECT_EQ(state_of(model_, {1, 2, 3, 4}).digest(), digest);
    std::set<std::uint64_t> others{digest};
    const std::vector<Tokens> different{{9, 2, 3, 4}, {1, 9, 3, 4}, {1, 2, 3, 9},
                                        {2, 1, 3, 4}, {1, 2, 3},    {1, 2, 3, 4, 4}};
    for (const Tokens &tokens : different)
        others.insert(state_of(model_, tokens).digest());
    EXPECT_EQ(others.size(), 7u);
}

TEST_P(SimStateFamilies, ACopyGoesItsOwnWay) {
    SimState state = state_of(model_, Tokens(300, 5));
    const SimState copy = state;
    const auto digest = copy.digest();
    state.advance(7);
    EXPECT_EQ(copy.digest(), digest);
    EXPECT_NE(state.digest(), digest);
    SimState other = copy;
    other.advance(7);
    EXPECT_EQ(other.digest(), state.digest());
}

TEST_P(SimStateFamilies, LogitsHaveTheirBoundsAndDifferBetweenStates) {
    const auto logits = state_of(model_, {1, 2, 3}).logits();
    ASSERT_EQ(logits.size(), 512u);
    for (const float logit : logits) {
        EXPECT_GE(logit, -8.0f);
        EXPECT_LT(logit, 8.0f);
    }
    EXPECT_EQ(std::set<float>(logits.begin(), logits.end()).size(), 512u);
    EXPECT_NE(state_of(model_, {1, 2, 4}).logits(), logits);
}

INSTANTIATE_TEST_SUITE_P(Families, SimStateFamilies, ::testing::ValuesIn(kFamilies),
                         [](const auto &family) { return name_of(family.param); });

TEST(SimState, CuttingGoesBackToTheEarlierState) {
    const SimModel model{SimConfig{.family = SimFamily::attention}};
    Tokens tokens(600, 3);
    tokens[299] = 4;
    SimState state = state_of(model, tokens);
    state.cut(400);
    tokens.resize(400);
    EXPECT_EQ(state.digest(), state_of(model, tokens).digest());
    state.advance(8);
    tokens.push_back(8);
    EXPECT_EQ(state.digest(), state_of(model, tokens).digest());
}

TEST(SimState, TheWindowForgetsAndItsRowsDoNot) {
    const SimModel model{SimConfig{.family = SimFamily::sliding_window, .window = 4}};
    const SimState state = state_of(model, {1, 2, 3, 4, 5, 6});
    EXPECT_EQ(state.boundary().window.size(), 4u);
    EXPECT_NE(state.digest(), state_of(model, {9, 2, 3, 4, 5, 6}).digest());
}

TEST(SimState, OtherWeightsAreAnotherModel) {
    const SimModel a{SimConfig{.weights = "a"}}, b{SimConfig{.weights = "b"}};
    EXPECT_NE(state_of(a, {1, 2}).digest(), state_of(b, {1, 2}).digest());
}

}  // namespace
}  // namespace cairn
