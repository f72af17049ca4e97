#include "sim/sim_vocabulary.h"

#include <gtest/gtest.h>

namespace cairn {
namespace {

TEST(SimVocabulary, BytesAreTokens) {
    const SimVocabulary vocabulary(512, false);
    const auto tokens = vocabulary.tokenize("h\xc3\xa9", true, SpecialTokens::as_text);
    ASSERT_TRUE(tokens);
    EXPECT_EQ(*tokens, (Tokens{'h', 0xc3, 0xa9}));
    EXPECT_EQ(vocabulary.piece(0xc3, false), "\xc3");
}

TEST(SimVocabulary, ControlTokensAreParsedOnlyOnRequest) {
    const SimVocabulary vocabulary(512, true);
    const std::string text = "<|im_start|>a<|im_end|>";
    EXPECT_EQ(*vocabulary.tokenize(text, true, SpecialTokens::parse), (Tokens{256, 257, 'a', 258}));
    EXPECT_EQ(vocabulary.tokenize(text, false, SpecialTokens::as_text)->size(), text.size());
    EXPECT_EQ(vocabulary.tokenize("<|im_start", false, SpecialTokens::parse)->size(), 10u);
}

TEST(SimVocabulary, ControlTokensHaveTextOnlyOnRequest) {
    const SimVocabulary vocabulary(300, false);
    EXPECT_EQ(vocabulary.piece(258, true), "<|im_end|>");
    EXPECT_EQ(vocabulary.piece(258, false), "");
    EXPECT_EQ(vocabulary.piece(260, false), "w260 ");
    EXPECT_EQ(vocabulary.piece(300, true), "");
    EXPECT_EQ(vocabulary.piece(-1, true), "");
}

TEST(SimVocabulary, KnowsItsKinds) {
    const SimVocabulary vocabulary(300, false);
    EXPECT_TRUE(vocabulary.ends_generation(258));
    EXPECT_TRUE(vocabulary.ends_generation(259));
    EXPECT_FALSE(vocabulary.ends_generation(257));
    EXPECT_TRUE(vocabulary.is_control(256));
    EXPECT_TRUE(vocabulary.is_control(259));
    EXPECT_FALSE(vocabulary.is_control(255));
    EXPECT_FALSE(vocabulary.is_control(260));
    EXPECT_FALSE(vocabulary.contains(300));
}

}  // namespace
}  // namespace cairn
