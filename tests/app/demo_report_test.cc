#include "app/demo_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace cairn {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr TokenPos kHandbook = 2000;

DemoRow cold_row(int id, double ms) {
    DemoRow row;
    row.id = id;
    row.question = "Who leads the chess club?";
    row.expected = "The leader of the chess club is Otto.";
    row.reuse.prompt_tokens = 2030;
    row.first_token_ms = ms;
    row.answer = row.expected;
    row.answer_tokens = {5, 6, 7};
    return row;
}

DemoRow warm_row(int id, double ms, DemoCut cut, TokenPos cached) {
    DemoRow row = cold_row(id, ms);
    row.mode = DemoMode::warm;
    row.cut = cut;
    row.resume_at = cut == DemoCut::inside_question ? TokenSpan{2010, 2016} : TokenSpan{kHandbook, 2030};
    row.reuse.cached_tokens = cached;
    row.reuse.tier = Tier::ram;
    return row;
}

DemoReport good_report() {
    DemoReport report;
    report.model = "Handbook demo";
    report.handbook_tokens = kHandbook;
    report.rows = {cold_row(0, 300), warm_row(0, 3, DemoCut::inside_question, 2010),  //
                   cold_row(3, 200), warm_row(3, 4, DemoCut::handbook_end, 2000),     //
                   cold_row(7, 250), warm_row(7, 5, DemoCut::inside_question, 2015)};
    return report;
}

TEST(DemoReport, ReportWithEqualAnswersAndReusedHandbookHasNoProblems) {
    EXPECT_THAT(demo_problems(good_report()), IsEmpty());
}

TEST(DemoReport, SummaryCountsAnswersAndTakesMedians) {
    DemoReport report = good_report();
    report.rows[2].answer = report.rows[3].answer = "The leader of the chess club is Bella.";
    report.rows[5].answer = "";
    const DemoSummary summary = demo_summary(report);
    EXPECT_EQ(summary.questions, 3);
    EXPECT_EQ(summary.right_cold, 2);
    EXPECT_EQ(summary.right_warm, 1);
    EXPECT_TRUE(summary.all_equal);
    EXPECT_TRUE(summary.all_covered);
    EXPECT_DOUBLE_EQ(summary.cold_ms, 250);
    EXPECT_DOUBLE_EQ(summary.warm_ms, 4);
    ASSERT_TRUE(summary.speed_up.has_value());
    EXPECT_DOUBLE_EQ(*summary.speed_up, 62.5);
}

TEST(DemoReport, MedianOfAnEvenNumberLiesBetweenTheMiddleTwo) {
    DemoReport report = good_report();
    report.rows.resize(4);
    EXPECT_DOUBLE_EQ(demo_summary(report).cold_ms, 250);
    EXPECT_DOUBLE_EQ(demo_summary(report).warm_ms, 3.5);
}

TEST(DemoReport, SpeedUpIsAbsentWhereNoTimeWasMeasured) {
    DemoReport report = good_report();
    for (DemoRow &row : report.rows)
        row.first_token_ms = 0;
    EXPECT_FALSE(demo_summary(report).speed_up.has_value());
    EXPECT_TRUE(nlohmann::json::parse(demo_json(report))["summary"]["speed_up"].is_null());
}

TEST(DemoReport, WrongAnswersThatAreTheSameColdAndWarmAreNoProblem) {
    DemoReport report = good_report();
    for (DemoRow &row : report.rows)
        row.answer = "Nobody knows.";
    EXPECT_THAT(demo_problems(report), IsEmpty());
}

TEST(DemoReport, WarmAnswerThatDiffersIsAProblem) {
    DemoReport report = good_report();
    report.rows[1].equals_cold = false;
    EXPECT_FALSE(demo_summary(report).all_equal);
    EXPECT_THAT(demo_problems(report),
                ElementsAre("Question 0: the warm answer differs from the cold one (it resumed at token 2010)."));
}

TEST(DemoReport, ReusingLessThanTheHandbookIsAProblemAndSaysWhy) {
    DemoReport report = good_report();
    report.rows[3].reuse.cached_tokens = kHandbook - 1;
    report.rows[3].reuse.reason = MissReason::evicted;
    EXPECT_FALSE(demo_summary(report).all_covered);
    EXPECT_THAT(demo_problems(report),
                ElementsAre("Question 3: 1999 of the handbook's 2000 tokens were reused (reason: evicted)."));
}

TEST(DemoReport, ResumingBeforeTheQuestionWhereItShouldBeInsideIsAProblem) {
    DemoReport report = good_report();
    report.rows[5].reuse.cached_tokens = 2009;
    EXPECT_THAT(demo_problems(report),
                ElementsAre("Question 7: it should have resumed inside the question, at tokens 2010 "
                            "to 2015, and resumed at token 2009."));
}

TEST(DemoReport, ResumingBehindTheQuestionWhereItShouldBeInsideIsAProblem) {
    DemoReport report = good_report();
    report.rows[5].reuse.cached_tokens = 2016;
    EXPECT_THAT(demo_problems(report), ElementsAre(HasSubstr("resumed at token 2016")));
}

TEST(DemoReport, ColdRunThatReusedSomethingIsAProblem) {
    DemoReport report = good_report();
    report.rows[2].reuse.cached_tokens = 17;
    EXPECT_THAT(demo_problems(report), ElementsAre("Question 3: the cold run reused 17 tokens, so it proves nothing."));
}

TEST(DemoReport, ReportWithoutWarmRowsIsAProblem) {
    EXPECT_THAT(demo_problems({}), ElementsAre("No question was asked warm, so nothing was compared."));
}

TEST(DemoReport, TableHasOneLinePerAnswerAndTheVerdict) {
    DemoReport report = good_report();
    report.rows.resize(2);
    EXPECT_EQ(
        demo_table(report),
        "Model: Handbook demo. The handbook is 2000 tokens long, the same in front of every question.\n"
        "\n"
        "  #  mode  prompt  cached  first token  resumed          right  answer\n"
        "  0  cold    2030       0     300.0 ms                   right  The leader of the chess club is Otto.\n"
        "     warm    2030    2010       3.0 ms  inside question  right  The leader of the chess club is Otto.\n"
        "\n"
        "Right: 1 of 1 cold, 1 of 1 warm. Median time to the first token: 300.0 ms cold, 3.0 ms warm, 100.0 times "
        "faster.\n"
        "Every warm answer equals the cold one, and no warm question computed the handbook again.\n");
}

TEST(DemoReport, TableShowsProblemsAndMarksTheRow) {
    DemoReport report = good_report();
    report.rows[1].equals_cold = false;
    report.rows[1].answer = "The leader of the chess club is Bella.";
    const std::string table = demo_table(report);
    EXPECT_THAT(table, HasSubstr("inside question  wrong, DIFFERS  The leader of the chess club is Bella.\n"));
    EXPECT_THAT(table, HasSubstr("Question 0: the warm answer differs"));
    EXPECT_THAT(table, Not(HasSubstr("Every warm answer equals")));
}

TEST(DemoReport, TableSaysThatAnotherModelMayAnswerWrongly) {
    DemoReport report = good_report();
    EXPECT_THAT(demo_table(report), Not(HasSubstr("not the demo model")));
    report.demo_model = false;
    EXPECT_THAT(demo_table(report), HasSubstr("This is not the demo model: it may answer wrongly."));
}

TEST(DemoReport, JsonHoldsEveryFieldOfARow) {
    const auto json = nlohmann::json::parse(demo_json(good_report()));
    ASSERT_EQ(json["rows"].size(), 6u);
    EXPECT_EQ(json["rows"][1], nlohmann::json::parse(R"({
        "id": 0, "question": "Who leads the chess club?", "mode": "warm", "prompt_tokens": 2030, "cached_tokens": 2010,
        "ttft_ms": 3.0, "answer": "The leader of the chess club is Otto.",
        "expected": "The leader of the chess club is Otto.", "right": true, "equals_cold": true,
        "cut": "inside question", "tier": "ram"})"));
    EXPECT_EQ(json["rows"][3]["cut"], "end of handbook");
    EXPECT_TRUE(json["rows"][0]["cut"].is_null());
    EXPECT_TRUE(json["rows"][0]["tier"].is_null());
}

TEST(DemoReport, JsonHoldsTheSummaryAndTheVerdict) {
    DemoReport report = good_report();
    auto json = nlohmann::json::parse(demo_json(report));
    EXPECT_EQ(json["summary"], nlohmann::json::parse(R"({
        "model": "Handbook demo", "demo_model": true, "handbook_tokens": 2000, "questions": 3, "right_cold": 3,
        "right_warm": 3, "all_equal": true, "all_covered": true, "cold_ttft_ms": 250.0, "warm_ttft_ms": 4.0,
        "speed_up": 62.5})"));
    EXPECT_EQ(json["ok"], true);
    EXPECT_TRUE(json["problems"].empty());

    report.rows[1].equals_cold = false;
    json = nlohmann::json::parse(demo_json(report));
    EXPECT_EQ(json["ok"], false);
    EXPECT_EQ(json["summary"]["all_equal"], false);
    EXPECT_EQ(json["problems"].size(), 1u);
}

TEST(DemoReport, JsonSurvivesAnAnswerThatEndsInsideACharacter) {
    DemoReport report = good_report();
    report.rows[0].answer = "caf\xc3";
    EXPECT_EQ(nlohmann::json::parse(demo_json(report))["rows"][0]["answer"], "caf\xef\xbf\xbd");
}

}  // namespace
}  // namespace cairn
