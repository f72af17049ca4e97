#include "base/json_text.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace cairn {
namespace {

TEST(JsonText, BytesThatAreNoUtf8BecomeAReplacementCharacter) {
    EXPECT_EQ(json_text(nlohmann::json{{"text", "a\xff\xc3\xa4"}}), "{\"text\":\"a\xef\xbf\xbd\xc3\xa4\"}");
}

TEST(JsonText, IsOneLineUnlessItIsIndented) {
    const nlohmann::ordered_json json{{"b", 1}, {"a", "\n"}};
    EXPECT_EQ(json_text(json), R"({"b":1,"a":"\n"})");
    EXPECT_EQ(json_text(json, 1), "{\n \"b\": 1,\n \"a\": \"\\n\"\n}");
}

}  // namespace
}  // namespace cairn
