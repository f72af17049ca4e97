#include "engine/text_assembler.h"

#include <gtest/gtest.h>

namespace cairn {
namespace {

struct Result {
    std::string text;
    std::size_t tokens = 0;
    bool stopped = false;
};

/// Feeds pieces until a stop, then what finish() adds when there was none.
Result assemble(std::vector<std::string> stops, const std::vector<std::string> &pieces) {
    TextAssembler assembler(std::move(stops));
    Result result;
    for (const std::string &piece : pieces) {
        const auto output = assembler.add(piece);
        result.text += output.text;
        result.tokens += output.tokens;
        if (output.stopped) {
            result.stopped = true;
            return result;
        }
    }
    const auto rest = assembler.finish();
    result.text += rest.text;
    result.tokens += rest.tokens;
    return result;
}

TEST(TextAssembler, HandsPlainTextOutAtOnce) {
    TextAssembler assembler({});
    const auto output = assembler.add("Hello");
    EXPECT_EQ(output.text, "Hello");
    EXPECT_EQ(output.tokens, 1u);
}

TEST(TextAssembler, HoldsHalfACharacterBack) {
    TextAssembler assembler({});
    EXPECT_EQ(assembler.add("a\xE2\x82").text, "a");
    const auto output = assembler.add("\xAC!");
    EXPECT_EQ(output.text, "\xE2\x82\xAC!");
    EXPECT_EQ(output.tokens, 2u) << "the first token's text was complete only now";
}

TEST(TextAssembler, ReplacesHalfACharacterAtTheEnd) {
    EXPECT_EQ(assemble({}, {"x", "\xF0\x9F"}).text, "x\xEF\xBF\xBD");
}

TEST(TextAssembler, LetsBytesPassThatAreNoUtf8) {
    EXPECT_EQ(assemble({}, {"\xFF", "\x80z"}).text, "\xFF\x80z");
}

TEST(TextAssembler, StopsBeforeAStopStringWithinOneToken) {
    const auto result = assemble({"END"}, {"one END two"});
    EXPECT_TRUE(result.stopped);
    EXPECT_EQ(result.text, "one ");
}

TEST(TextAssembler, StopsBeforeAStopStringAcrossTokens) {
    const auto result = assemble({"</answer>"}, {"yes<", "/ans", "wer>", "more"});
    EXPECT_TRUE(result.stopped);
    EXPECT_EQ(result.text, "yes");
}

TEST(TextAssembler, GivesBackWhatOnlyLookedLikeAStop) {
    const auto result = assemble({"</answer>"}, {"a<", "/ans", "!"});
    EXPECT_FALSE(result.stopped);
    EXPECT_EQ(result.text, "a</ans!");
    EXPECT_EQ(result.tokens, 3u);
}

TEST(TextAssembler, TakesTheEarliestOfSeveralStops) {
    EXPECT_EQ(assemble({"zz", "b"}, {"aabzz"}).text, "aa");
    EXPECT_EQ(assemble({"abc", "b"}, {"xabc"}).text, "x") << "the stop that begins first wins";
}

TEST(TextAssembler, FindsAStopThatOverlapsItself) {
    EXPECT_EQ(assemble({"aab"}, {"aa", "a", "b"}).text, "a");
}

TEST(TextAssembler, IgnoresEmptyStops) {
    EXPECT_EQ(assemble({""}, {"text"}).text, "text");
}

TEST(TextAssembler, CountsTokensWithoutText) {
    TextAssembler assembler({});
    EXPECT_EQ(assembler.add("").tokens, 1u);
}

/// Whatever way a text is cut into pieces, the same comes out.
TEST(TextAssembler, DoesNotDependOnWhereTokensEnd) {
    const std::string text = "Gr\xC3\xBC\xC3\x9F dich, \xF0\x9F\x98\x80 STO STOP gone";
    const auto whole = assemble({"STOP"}, {text});
    EXPECT_EQ(whole.text, text.substr(0, text.find("STOP")));
    for (std::size_t width = 1; width < text.size(); ++width) {
        std::vector<std::string> pieces;
        for (std::size_t at = 0; at < text.size(); at += width)
            pieces.push_back(text.substr(at, width));
        const auto result = assemble({"STOP"}, pieces);
        EXPECT_EQ(result.text, whole.text) << "pieces of " << width;
        EXPECT_TRUE(result.stopped);
    }
}

TEST(WholeCharacters, CutsOnlyInsideACharacter) {
    EXPECT_EQ(whole_characters(""), 0u);
    EXPECT_EQ(whole_characters("ab"), 2u);
    EXPECT_EQ(whole_characters("\xC3"), 0u);
    EXPECT_EQ(whole_characters("\xC3\xBC"), 2u);
    EXPECT_EQ(whole_characters("a\xF0\x9F\x98"), 1u);
    EXPECT_EQ(whole_characters("\x80\x80\x80\x80"), 4u);
}

}  // namespace
}  // namespace cairn
