#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "bench/report_html.h"
#include "bench/report_json.h"
#include "bench/report_table.h"

namespace cairn {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

RequestResult answered(unsigned stage, double started_s, long cached) {
    RequestResult request;
    request.stage = stage;
    request.conversation = "a<b>";
    request.turn = 1;
    request.started_s = started_s;
    request.first_token_s = 1;
    request.total_s = 2;
    request.ideal_first_token_s = 0.5;
    request.prompt_tokens = 100;
    request.cached_tokens = cached;
    request.completion_tokens = 10;
    request.ideal_new_tokens = 30;
    request.gaps_s = {0.1, 0.2, 0.3};
    return request;
}

RunResult example() {
    RunResult run;
    run.url = "http://127.0.0.1:1";
    run.model = "tiny";
    run.cold = {0.25, 60};
    run.notes = {"a note"};
    WorkloadResult workload;
    workload.name = "edits";
    workload.requests = {answered(0, 0, 0), answered(0, 1, 60), answered(1, 10, 60)};
    workload.requests.push_back({});
    workload.requests.back().error = "status 500: no";
    workload.summary = summarize(workload.requests);
    WorkloadResult skipped;
    skipped.name = "restart";
    skipped.skipped = "why not";
    run.workloads = {workload, skipped};
    return run;
}

TEST(Summary, CountsWhatWasAnswered) {
    const Summary s = example().workloads[0].summary;
    EXPECT_EQ(s.requests, 4u);
    EXPECT_EQ(s.failed, 1u);
    EXPECT_DOUBLE_EQ(s.first_token_sum_s, 3);
    EXPECT_DOUBLE_EQ(s.ideal_first_token_sum_s, 1.5);
    EXPECT_EQ(s.computed_tokens, 180);
    EXPECT_EQ(s.ideal_tokens, 90);
    EXPECT_DOUBLE_EQ(s.wall_s, 5) << "3 s and 2 s, without the pause between stages";
    EXPECT_DOUBLE_EQ(s.tokens_per_s, 66);
    EXPECT_DOUBLE_EQ(s.gap_p50_s, 0.2);
    EXPECT_DOUBLE_EQ(s.gap_max_s, 0.3);
}

TEST(Summary, AWarmUpCountsInNothingButFailures) {
    std::vector<RequestResult> requests{answered(0, 0, 0), answered(0, 1, 0)};
    const Summary both = summarize(requests);
    requests[0].warm_up = true;
    const Summary one = summarize(requests);
    EXPECT_EQ(one.requests, 1u);
    EXPECT_DOUBLE_EQ(one.first_token_sum_s, both.first_token_sum_s / 2);
    EXPECT_EQ(*one.computed_tokens, *both.computed_tokens / 2);
    EXPECT_LT(one.wall_s, both.wall_s);
    requests[0].error = "no answer";
    EXPECT_EQ(summarize(requests).failed, 1u);
    EXPECT_EQ(summarize(requests).requests, 1u);
}

TEST(Summary, AnotherServersTurnIsNoPartOfTheWork) {
    // One of 2 s, 7 s of nothing, and two of 2 s that overlap by one: in one stage.
    EXPECT_DOUBLE_EQ(summarize({answered(0, 0, 0), answered(0, 9, 0), answered(0, 10, 0)}).wall_s, 5);
}

TEST(Summary, TheColdSpeedGivesIdealsTheirTimes) {
    RunResult run = example();
    run.workloads[0].requests[0].ideal_waited_requests = 2;
    run.workloads[0].requests[0].ideal_waited_tokens = 60;
    set_cold_speed(run, {0.25, 60});
    EXPECT_DOUBLE_EQ(run.workloads[0].requests[0].ideal_first_token_s, 1.5);
    EXPECT_DOUBLE_EQ(run.workloads[0].summary.ideal_first_token_sum_s, 1.5) << "the others waited for nothing";
    EXPECT_EQ(run.workloads[1].skipped, "why not");
}

TEST(Summary, OneAnswerThatDoesNotSayMakesTheSumUnknown) {
    std::vector<RequestResult> requests{answered(0, 0, 0), answered(0, 1, 0)};
    requests[0].cached_tokens.reset();
    EXPECT_EQ(summarize(requests).computed_tokens, std::nullopt);
    EXPECT_EQ(summarize({}).failed, 0u);
}

TEST(Summary, PercentilesAreByNearestRank) {
    EXPECT_EQ(percentile({3, 1, 2, 4}, 0.5), 2);
    EXPECT_EQ(percentile({3, 1, 2, 4}, 0.99), 4);
    EXPECT_EQ(percentile({}, 0.5), 0);
}

TEST(ReportJson, ComesBackAsItWas) {
    RunResult run = example();
    run.workloads[0].requests[0].cached_tokens.reset();
    run.workloads[0].summary.computed_tokens.reset();
    const std::string json = run_json(run);
    const auto again = parse_run_json("a.json", json);
    ASSERT_TRUE(again.has_value()) << again.error().what;
    EXPECT_EQ(run_json(*again), json);
    const auto parsed = nlohmann::json::parse(json);
    EXPECT_EQ(parsed["format"], 1);
    EXPECT_TRUE(parsed["workloads"][0]["summary"]["computed_tokens"].is_null());
    EXPECT_EQ(parsed["workloads"][1]["skipped"], "why not");
}

TEST(ReportJson, WhatIsNoneSaysSo) {
    EXPECT_THAT(parse_run_json("a.json", "[").error().what, HasSubstr("a.json: is no result"));
    EXPECT_THAT(parse_run_json("a.json", R"({"format": 2})").error().what, HasSubstr("another format"));
    EXPECT_THAT(parse_run_json("a.json", R"({"format": 1})").error().what, HasSubstr("url"));
    nlohmann::json no_workloads = nlohmann::json::parse(run_json(example()));
    no_workloads["workloads"] = nullptr;
    EXPECT_THAT(parse_run_json("a.json", no_workloads.dump()).error().what, HasSubstr("a.json: is no result"));
}

TEST(ReportTable, HasALineForEachWorkloadAndSaysWhatFailed) {
    EXPECT_THAT(run_table(example()), AllOf(HasSubstr("edits"), HasSubstr("skipped: why not"), HasSubstr("2.00"),
                                            HasSubstr("a note"), HasSubstr("turn 0: status 500: no")));
    EXPECT_FALSE(all_answered(example()));
}

TEST(ReportTable, RatiosAreOfWhatBothRan) {
    RunResult one = example();
    one.workloads[0].requests.pop_back();  // the one that failed
    one.workloads[0].summary = summarize(one.workloads[0].requests);
    RunResult other = one;
    other.workloads[0].summary.first_token_sum_s *= 4;
    other.workloads[0].summary.computed_tokens.reset();
    other.workloads.push_back(other.workloads[0]);
    other.workloads.back().name = "a-name-of-many-letters";
    EXPECT_THAT(ratio_table({{"one", one}, {"other", other}}),
                AllOf(HasSubstr("one / other"), HasSubstr("workload                first tokens  computed"),
                      HasSubstr("edits                           0.25         -     1.00"),
                      HasSubstr("a-name-of-many-letters  only one of them"), Not(HasSubstr("why not"))));
    EXPECT_THAT(ratio_table({{"one", one}, {"failed", example()}}), HasSubstr("edits     not all was answered"));
    other.seed = 2;
    EXPECT_THAT(ratio_table({{"one", one}, {"other", other}}),
                AllOf(HasSubstr("other texts"), Not(HasSubstr("edits"))));
}

TEST(ReportHtml, IsWholeAndComparesRuns) {
    RunResult other = example();
    other.workloads.pop_back();
    const std::string page = report_html({{"one & only", example()}, {"other", other}});
    EXPECT_THAT(page, AllOf(HasSubstr("one &amp; only"), HasSubstr("a&lt;b&gt; 1"), Not(HasSubstr("a<b>")),
                            HasSubstr("class=\"s1\""), Not(HasSubstr("<script")), Not(HasSubstr("src=")),
                            HasSubstr("other: not run"), HasSubstr("</html>")));
    EXPECT_THAT(page, Not(HasSubstr("nan")));
}

}  // namespace
}  // namespace cairn
