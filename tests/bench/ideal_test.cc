#include "bench/ideal.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace cairn {
namespace {

Units units(const std::string &text) {
    return Units(text.begin(), text.end());
}

StageRequest asks(const std::string &prompt, const std::string &answer = "", unsigned wave = 0) {
    return {units(prompt), units(prompt + answer), static_cast<long>(prompt.size()), wave};
}

TEST(Ideal, OnlyWhatFollowsTheLongestKnownPrefixIsNew) {
    SeenPrefixes seen;
    const std::vector<StageRequest> requests{asks("aaaa", "bb"), asks("aaaabbcc"), asks("aaxx"), asks("aaaabbcc")};
    const auto ideals = ideal_of_stage(seen, requests, false);
    EXPECT_EQ(ideals[0].new_tokens, 4);
    EXPECT_EQ(ideals[1].new_tokens, 2) << "the answer is known";
    EXPECT_EQ(ideals[2].new_tokens, 2);
    EXPECT_EQ(ideals[3].new_tokens, 1) << "the last token is computed always";
    EXPECT_EQ(ideals[0].waited_tokens, 4);
    EXPECT_EQ(ideals[2].waited_tokens, 2) << "in turn nobody waits";
    EXPECT_EQ(ideal_of_stage(seen, std::vector{asks("aaaab")}, false)[0].new_tokens, 1) << "of earlier stages too";
}

TEST(Ideal, WhatRunsTogetherComputesTheSharedPartOnceAndTheShortestFirst) {
    SeenPrefixes seen;
    const std::vector<StageRequest> requests{asks("ssssaaa"), asks("ssssb"), asks("sssscc")};
    const auto ideals = ideal_of_stage(seen, requests, true);
    EXPECT_EQ(ideals[1].new_tokens, 5);
    EXPECT_EQ(ideals[2].new_tokens, 2);
    EXPECT_EQ(ideals[0].new_tokens, 3);
    EXPECT_EQ(ideals[1].waited_tokens, 5);
    EXPECT_EQ(ideals[2].waited_tokens, 7);
    EXPECT_EQ(ideals[0].waited_tokens, 10);
    EXPECT_EQ(ideals[0].waited_requests, 3);
    EXPECT_DOUBLE_EQ((ColdSpeed{0.5, 2}.seconds(ideals[0].waited_requests, ideals[0].waited_tokens)), 6.5);
}

TEST(Ideal, LaterTurnsOfStreamsWaitForTheirLikeOnly) {
    SeenPrefixes seen;
    const std::vector<StageRequest> requests{asks("aa", "x", 0), asks("aaxbb", "", 1), asks("cc", "", 0)};
    const auto ideals = ideal_of_stage(seen, requests, true);
    EXPECT_EQ(ideals[0].waited_tokens, 2);
    EXPECT_EQ(ideals[2].waited_tokens, 4);
    EXPECT_EQ(ideals[1].waited_tokens, 2);
}

TEST(Ideal, CharactersCountAsTheRequestsOwnTokensDo) {
    SeenPrefixes seen;
    seen.add(units("abcdefgh"));
    StageRequest request = asks("abcdefghijkl");
    request.prompt_tokens = 3;
    EXPECT_EQ(ideal_of_stage(seen, std::vector{request}, false)[0].new_tokens, 1);
}

TEST(Ideal, WhatFailedIsNothing) {
    SeenPrefixes seen;
    const auto ideals = ideal_of_stage(seen, std::vector{StageRequest{}, asks("aa")}, true);
    EXPECT_EQ(ideals[0].new_tokens, 0);
    EXPECT_EQ(ideals[1].new_tokens, 2);
}

}  // namespace
}  // namespace cairn
