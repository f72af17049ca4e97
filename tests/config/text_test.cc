// The small text forms: lists, adapters, K/V types, the closest key.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/adapters.h"
#include "config/closest.h"
#include "config/kv_type.h"
#include "config/text_list.h"

namespace cairn {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(TextList, SplitsAtCommasAndDropsEmptyParts) {
    EXPECT_THAT(split_list("a,b,c"), ElementsAre("a", "b", "c"));
    EXPECT_THAT(split_list(",a,,b,"), ElementsAre("a", "b"));
    EXPECT_THAT(split_list("a b"), ElementsAre("a b"));
    EXPECT_THAT(split_list(""), IsEmpty());
}

TEST(TextList, QuotesKeepCommas) {
    EXPECT_THAT(split_list("\"a,b\",c"), ElementsAre("a,b", "c"));
    EXPECT_THAT(split_list("\"a\"\"b\""), ElementsAre("a\"b"));
    EXPECT_THAT(split_list("a\"b,c"), ElementsAre("a\"b", "c"));
    EXPECT_THAT(split_list("\"a,b"), ElementsAre("a,b"));
}

TEST(Adapters, PlainOnesHaveScaleOne) {
    const auto adapters = parse_adapters("a.gguf,C:b.gguf", AdapterText::plain).value();
    ASSERT_EQ(adapters.size(), 2u);
    EXPECT_EQ(adapters[0].path, "a.gguf");
    EXPECT_EQ(adapters[0].scale, 1.0f);
    EXPECT_EQ(adapters[1].path, "C:b.gguf");
}

TEST(Adapters, ScaleStandsBehindTheLastColon) {
    const auto adapters = parse_adapters("a.gguf:0.5,C:b.gguf:-2", AdapterText::scaled).value();
    ASSERT_EQ(adapters.size(), 2u);
    EXPECT_EQ(adapters[0].path, "a.gguf");
    EXPECT_EQ(adapters[0].scale, 0.5f);
    EXPECT_EQ(adapters[1].path, "C:b.gguf");
    EXPECT_EQ(adapters[1].scale, -2.0f);
}

TEST(Adapters, MissingOrSenselessScaleIsAnError) {
    for (const char *text :
         {"a.gguf", "a.gguf:", "a.gguf:x", "a.gguf:1x", ":1", "a.gguf:nan", "a.gguf:inf", "a:1e99"}) {
        const auto adapters = parse_adapters(text, AdapterText::scaled);
        ASSERT_FALSE(adapters) << text;
        EXPECT_EQ(
            adapters.error().what,
            fmt::format("\"{}\" is not an adapter with a scale. Write FILE:SCALE, such as style.gguf:0.5.", text));
    }
    EXPECT_EQ(parse_adapters(",", AdapterText::plain).error().what, "The list of adapters is empty. Name a file.");
}

TEST(KvTypes, NamesGoBothWays) {
    for (const auto type : kKvTypes)
        EXPECT_EQ(kv_type_of(name_of(type)), type);
    EXPECT_EQ(kv_type_of("Q8_0"), std::nullopt);
    EXPECT_EQ(kv_type_of(""), std::nullopt);
    EXPECT_EQ(kv_type_names(), "f32, f16, bf16, q8_0, q4_0, q4_1, iq4_nl, q5_0, q5_1");
}

TEST(ClosestKey, DistanceCountsEdits) {
    EXPECT_EQ(edit_distance("", ""), 0u);
    EXPECT_EQ(edit_distance("abc", ""), 3u);
    EXPECT_EQ(edit_distance("", "abc"), 3u);
    EXPECT_EQ(edit_distance("kitten", "sitting"), 3u);
    EXPECT_EQ(edit_distance("port", "prot"), 2u);
    EXPECT_EQ(edit_distance("same", "same"), 0u);
}

TEST(ClosestKey, FindsMisspelledAndMisplacedKeys) {
    const std::string keys[] = {"model.path", "engine.dynamic_batching.snapshot_ram_bytes", "server.port",
                                "server.host"};
    EXPECT_EQ(closest_key("server.prot", keys), "server.port");
    EXPECT_EQ(closest_key("model.paths", keys), "model.path");
    EXPECT_EQ(closest_key("engine.snapshot_ram_bytes", keys), "engine.dynamic_batching.snapshot_ram_bytes");
    EXPECT_EQ(closest_key("port", keys), "server.port");
    EXPECT_EQ(closest_key("port", {}), "");
}

}  // namespace
}  // namespace cairn
