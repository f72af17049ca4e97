#include "app/demo_book.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace cairn {
namespace {

using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST(DemoBook, BookThatIsCompiledInIsWhole) {
    const auto book = DemoBook::load();
    ASSERT_TRUE(book.has_value()) << book.error().what;
    EXPECT_THAT(book->system_prompt, StartsWith("You answer questions about the handbook.\n\n# House handbook\n"));
    EXPECT_EQ(book->system_prompt.back(), '.');
    ASSERT_EQ(book->questions.size(), 85u);
    EXPECT_EQ(book->questions[3].question, "Who leads the first aid course?");
    EXPECT_EQ(book->questions[3].answer, "The leader of the first aid course is Linda.");
    EXPECT_EQ(book->questions[3].relation, "leads");
    EXPECT_EQ(book->questions[84].id, 84);
}

TEST(DemoBook, SampleAsksForTwelveKindsOfFacts) {
    const auto book = DemoBook::load();
    ASSERT_TRUE(book.has_value());
    std::set<std::string> relations;
    for (const DemoQuestion &question : book->pick(DemoBook::kSampleSize))
        relations.insert(question.relation);
    EXPECT_EQ(relations.size(), 12u);
    EXPECT_EQ(relations.count("absent"), 1u);
}

TEST(DemoBook, PickTakesTheSampleFirstAndEveryQuestionOnce) {
    const auto book = DemoBook::load();
    ASSERT_TRUE(book.has_value());
    const auto few = book->pick(2);
    ASSERT_EQ(few.size(), 2u);
    EXPECT_EQ(few[0].id, 0);
    EXPECT_EQ(few[1].id, 3);
    std::set<int> ids;
    for (const DemoQuestion &question : book->pick(1000))
        ids.insert(question.id);
    EXPECT_EQ(ids.size(), 85u);
    EXPECT_EQ(book->pick(85).size(), 85u);
    EXPECT_EQ(book->pick(13)[12].id, 1);
}

TEST(DemoBook, ParseKeepsTheOrderAndDropsTheLastNewline) {
    const auto book =
        DemoBook::parse("# Book\nTom sings.\n", R"([{"question": "Who?", "answer": "Tom.", "relation": "r"},
                                                                {"question": "What?", "answer": "A song.", "relation": "s"}])");
    ASSERT_TRUE(book.has_value());
    EXPECT_THAT(book->system_prompt, EndsWith("# Book\nTom sings."));
    ASSERT_EQ(book->questions.size(), 2u);
    EXPECT_EQ(book->questions[1].id, 1);
    EXPECT_EQ(book->questions[1].answer, "A song.");
}

TEST(DemoBook, ParseRefusesWhatIsNoListOfQuestions) {
    for (const char *text : {"", "{", "{}", "[]", "7"}) {
        const auto book = DemoBook::parse("x", text);
        ASSERT_FALSE(book.has_value()) << text;
        EXPECT_EQ(book.error().code, ErrorCode::invalid_argument);
    }
}

TEST(DemoBook, ParseNamesTheQuestionAndTheMissingText) {
    const auto book = DemoBook::parse("x", R"([{"question": "Who?", "answer": "Tom.", "relation": "r"},
                                              {"question": "What?", "answer": 3, "relation": "s"}])");
    ASSERT_FALSE(book.has_value());
    EXPECT_EQ(book.error().what, "question 1 of the demo has no text named \"answer\"");
    EXPECT_FALSE(DemoBook::parse("x", R"(["Who?"])").has_value());
    EXPECT_FALSE(DemoBook::parse("x", R"([{"question": "?", "answer": "Tom.", "relation": "r"}])").has_value());
}

}  // namespace
}  // namespace cairn
