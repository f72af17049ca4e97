#include "bench/workload.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bench/builtin_workloads.h"

namespace cairn {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

Workload parsed(const std::string &stages) {
    auto workload = parse_workload("w.json", R"({"name": "w", "about": "a", "stages": )" + stages + "}");
    EXPECT_TRUE(workload.has_value()) << workload.error().what;
    return workload.value_or(Workload{});
}

std::string refused(const std::string &stages) {
    auto workload = parse_workload("w.json", R"({"name": "w", "about": "a", "stages": )" + stages + "}");
    EXPECT_FALSE(workload.has_value());
    return workload ? "" : workload.error().what;
}

TEST(Workload, BuiltInOnesAreWhole) {
    const auto workloads = builtin_workloads();
    ASSERT_TRUE(workloads.has_value()) << workloads.error().what;
    EXPECT_EQ(workloads->size(), 11u);
    for (const Workload &workload : *workloads)
        EXPECT_GT(count_requests(workload), 0u) << workload.name;
}

TEST(Workload, RepeatsAndCopiesAreWrittenOut) {
    const Workload workload = parsed(R"([{"together": true, "conversations": [
        {"name": "c{copy}", "copies": 2, "steps": [
            {"system": "S", "user": {"words": 3, "seed": "{copy}-{turn}"}, "max_tokens": 4},
            {"user": {"words": 3, "seed": "{copy}-{turn}"}, "repeat": 2}]}]}])");
    ASSERT_EQ(workload.stages.size(), 1u);
    EXPECT_TRUE(workload.stages[0].together);
    EXPECT_EQ(count_requests(workload), 6u);
    const ConversationPlan &second = workload.stages[0].conversations.at(1);
    EXPECT_EQ(second.name, "c2");
    EXPECT_EQ(second.steps[2].user[0].seed, "2-3");
    EXPECT_EQ(second.steps[0].max_tokens, 4u);
    EXPECT_EQ(second.steps[0].system->at(0).literal, "S");
}

TEST(Workload, RoundsForkAndEditWhatIsThere) {
    const Workload workload = parsed(R"([
        {"conversations": [{"name": "main", "steps": [{"user": "u", "repeat": 3}]}]},
        {"repeat": 2, "conversations": [
            {"name": "edit {round}", "fork": "main", "steps": [{"edit": 2, "user": {"words": 1, "seed": "{turn}"}}]},
            {"name": "main", "steps": [{"user": {"words": 1, "seed": "{turn}"}}]}]}])");
    ASSERT_EQ(workload.stages.size(), 3u);
    EXPECT_EQ(workload.stages[2].conversations[0].name, "edit 2");
    EXPECT_EQ(workload.stages[2].conversations[0].steps[0].user[0].seed, "2");
    EXPECT_EQ(workload.stages[2].conversations[1].steps[0].user[0].seed, "5");
}

TEST(Workload, ARestartIsAStageOfItsOwn) {
    EXPECT_TRUE(needs_restart(parsed(R"([{"restart": true}])")));
    EXPECT_THAT(refused(R"([{"restart": true, "conversations": []}])"), HasSubstr("stages[0] must be"));
}

TEST(Workload, OneOfTooManyRequestsIsRefusedBeforeItIsWrittenOut) {
    // A billion of them.
    EXPECT_THAT(refused(R"([{"repeat": 1000, "conversations": [
        {"name": "c{round}-{copy}", "copies": 1000, "steps": [{"user": "u", "repeat": 1000}]}]}])"),
                HasSubstr("w.json: stages ask more than 10000 times"));
}

TEST(Workload, MistakesNameTheFileAndTheField) {
    const auto steps = [](const std::string &step) {
        return R"([{"conversations": [{"name": "a", "steps": [)" + step + "]}]}]";
    };
    EXPECT_THAT(parse_workload("w.json", "{").error().what, HasSubstr("w.json: is no JSON"));
    EXPECT_THAT(refused("3"), AllOf(HasSubstr("w.json: stages must be an array")));
    EXPECT_THAT(refused(R"([{"conversation": []}])"), HasSubstr("stages[0].conversation is unknown"));
    EXPECT_THAT(refused(steps("{}")), HasSubstr("stages[0].conversations[0].steps[0].user is missing"));
    EXPECT_THAT(refused(steps(R"({"user": {"words": -1, "seed": "s"}})")),
                HasSubstr("user.words must be a whole number"));
    EXPECT_THAT(refused(steps(R"({"user": {"seed": "s"}})")), HasSubstr("user.words is missing"));
    EXPECT_THAT(refused(steps(R"({"edit": 1, "user": "u"})")), HasSubstr("edit must be a turn that was"));
    EXPECT_THAT(refused(steps(R"({"user": "u"}, {"system": "s", "user": "u"})")), HasSubstr("before the first turn"));
    EXPECT_THAT(refused(R"([{"conversations": [{"name": "b", "fork": "a", "steps": [{"user": "u"}]}]}])"),
                HasSubstr("fork must be a conversation of an earlier stage"));
    EXPECT_THAT(refused(R"([{"conversations": [{"name": "b", "copies": 2, "steps": [{"user": "u"}]}]}])"),
                HasSubstr("{copy}"));
}

}  // namespace
}  // namespace cairn
