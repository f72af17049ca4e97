// The small texts: errors, the list of models, the header about the cache, the words for enums.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/error_table.h"
#include "tests/api/test_context.h"

namespace cairn {
namespace {

using nlohmann::json;

TEST(ErrorBody, HasOpenAisShape) {
    EXPECT_EQ(json::parse(error_body({ErrorCode::invalid_argument, "'temperature' must be a number between 0 and 2"})),
              json::parse(R"({"error": {"message": "'temperature' must be a number between 0 and 2",
                  "type": "invalid_request_error", "param": "temperature", "code": "invalid_argument"}})"));
    EXPECT_EQ(json::parse(error_body({ErrorCode::context_length, "Too long."})),
              json::parse(R"({"error": {"message": "Too long.", "type": "invalid_request_error", "param": null,
                  "code": "context_length_exceeded"}})"));
    for (const ErrorRow &row : kErrorTable) {
        const json body = json::parse(error_body({row.code, "'x' is wrong"}));
        EXPECT_EQ(body["error"]["code"], row.name);
        EXPECT_EQ(body["error"]["type"], row.openai_type);
    }
}

TEST(ErrorBody, SurvivesBytesThatAreNoText) {
    EXPECT_EQ(json::parse(error_body({ErrorCode::internal, "a\xff"}))["error"]["message"], "a\ufffd");
}

TEST(ModelsBody, ListsTheOneModel) {
    const test::TestContext context;
    EXPECT_EQ(json::parse(models_body(context.api(), 1700)), json::parse(R"({"object": "list", "data": [{"id": "tiny",
        "object": "model", "created": 1700, "owned_by": "cairn", "meta": {"architecture": "test",
        "description": "a test model", "n_vocab": 311, "n_ctx": 2000, "n_ctx_train": 4096, "n_params": 500,
        "size": 1000}}]})"));
}

TEST(CacheHeader, SaysWhatWasReusedAndWhyNotMore) {
    const ReuseReport hit{.prompt_tokens = 1611,
                          .cached_tokens = 1505,
                          .tier = Tier::ram,
                          .reason = MissReason::diverged,
                          .first_difference = 1505};
    EXPECT_EQ(cache_header({hit}), "hit; cached=1505; prompt=1611; tier=ram; reason=diverged; difference=1505");
    const ReuseReport all{.prompt_tokens = 10, .cached_tokens = 9, .tier = Tier::device};
    ReuseReport miss;
    miss.prompt_tokens = 10;
    miss.reason = MissReason::empty;
    EXPECT_EQ(cache_header({all, miss}),
              "hit; cached=9; prompt=10; tier=device, miss; cached=0; prompt=10; reason=empty");
    EXPECT_EQ(cache_header({}), "");
}

TEST(Names, AreStable) {
    EXPECT_STREQ(name_of(MissReason::none), "none");
    EXPECT_STREQ(name_of(MissReason::disabled), "disabled");
    EXPECT_STREQ(name_of(MissReason::no_checkpoint), "no_checkpoint");
    EXPECT_STREQ(name_of(MissReason::evicted), "evicted");
    EXPECT_STREQ(name_of(MissReason::restore_failed), "restore_failed");
    EXPECT_STREQ(name_of(CheckpointKind::system_end), "system_end");
    EXPECT_STREQ(name_of(CheckpointKind::last_user), "last_user");
    EXPECT_STREQ(name_of(CheckpointKind::prompt_end), "prompt_end");
    EXPECT_STREQ(name_of(CheckpointKind::answer_end), "answer_end");
    EXPECT_STREQ(name_of(CheckpointKind::interval), "interval");
    EXPECT_STREQ(name_of(CheckpointKind::fork), "fork");
    EXPECT_STREQ(name_of(FinishReason::stop), "stop");
    EXPECT_STREQ(name_of(FinishReason::length), "length");
    EXPECT_STREQ(name_of(FinishReason::cancelled), "cancelled");
    EXPECT_STREQ(name_of(static_cast<FinishReason>(99)), "unknown");
}

}  // namespace
}  // namespace cairn
