#include "app/cache_printer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

namespace cairn {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

ListedSnapshot snapshot(std::uint64_t id, std::uint64_t parent, TokenPos position, std::string text) {
    return {.id = id,
            .parent = parent,
            .position = position,
            .kind = CheckpointKind::prompt_end,
            .tiers = {Tier::ram, Tier::disk},
            .bytes = 3 << 20,
            .last_use_unix_s = 1000,
            .hits = 2,
            .text = std::move(text)};
}

SnapshotListing example() {
    SnapshotListing listing{.directory = "/cache", .now_unix_s = 1000 + 3 * 3600};
    listing.disk = {5 << 20, 10 << 20};
    ListedNamespace ns{.key = {{}, "acme"}, .model = "tiny", .snapshots = {}, .payloads = {}};
    ns.snapshots = {snapshot(4, 1, 50, "fourth"), snapshot(1, 0, 10, "first\nline"), snapshot(3, 2, 40, "third"),
                    snapshot(2, 1, 20, "second"), snapshot(9, 77, 5, "an orphan")};
    ns.payloads.push_back({.id = 5, .kind = PayloadKind::rows, .span = {0, 10}, .bytes = 5000, .file_bytes = 9000});
    listing.namespaces.push_back(std::move(ns));
    return listing;
}

std::vector<std::string> lines_of(const std::string &text) {
    std::vector<std::string> lines;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);)
        lines.push_back(line);
    return lines;
}

/// With the spaces in front: the tree.
std::vector<std::string> ids_of(const std::string &table) {
    std::vector<std::string> ids;
    const auto lines = lines_of(table);
    for (std::size_t i = 2; i < lines.size(); ++i)
        ids.push_back(lines[i].substr(0, lines[i].find(' ', lines[i].find_first_not_of(' '))));
    return ids;
}

TEST(CachePrinter, SnapshotsStandBelowWhatTheyBuildOn) {
    EXPECT_THAT(ids_of(snapshot_table(example(), 0)), ElementsAre("9", "1", "  2", "    3", "  4"));
}

TEST(CachePrinter, ALineSaysAllOfASnapshot) {
    const auto lines = lines_of(snapshot_table(example(), 0));
    EXPECT_EQ(lines[0], "tiny  00000000000000000000000000000000  tenant \"acme\": 5 snapshots");
    EXPECT_EQ(lines[3], "1            10     3.0 MiB  ram disk  prompt_end        3 h      2  first\\nline");
}

TEST(CachePrinter, TextsAreCutToTheWidth) {
    SnapshotListing listing = example();
    listing.namespaces[0].snapshots[0].text = std::string(500, 'x');
    for (const std::size_t width : {90u, 100u, 123u}) {
        const auto lines = lines_of(snapshot_table(listing, width));
        EXPECT_EQ(lines.back().size(), width);
        EXPECT_THAT(lines.back(), testing::EndsWith("xxx..."));
    }
}

TEST(CachePrinter, ParentsInACircleAreListedOnce) {
    SnapshotListing listing = example();
    listing.namespaces[0].snapshots = {snapshot(1, 2, 10, ""), snapshot(2, 1, 10, ""), snapshot(3, 3, 10, "")};
    EXPECT_EQ(ids_of(snapshot_table(listing, 0)).size(), 3u);
}

TEST(CachePrinter, AnEmptyCacheSaysSo) {
    EXPECT_EQ(snapshot_table({.directory = "/cache"}, 80), "nothing is cached in /cache\n");
}

TEST(CachePrinter, NothingThatATerminalObeysComesThrough) {
    EXPECT_EQ(escaped("a\x1b[31mb\tc\r\x7f"), "a\\x1b[31mb\\tc\\r\\x7f");
    EXPECT_EQ(escaped("gr\xc3\xbc\xc3\x9f"), "gr\xc3\xbc\xc3\x9f");
    EXPECT_EQ(escaped("\xf0\x9f\x98\x80"), "\xf0\x9f\x98\x80");
    EXPECT_EQ(escaped("\xc2\x9b"), "\\xc2\\x9b") << "a C1 control";
    EXPECT_EQ(escaped("\xe2\x80\xae"), "\\xe2\\x80\\xae") << "turns the direction of writing";
    EXPECT_EQ(escaped("\xc3"), "\\xc3") << "cut";
    EXPECT_EQ(escaped("\xc0\xaf\xff"), "\\xc0\\xaf\\xff");
    EXPECT_EQ(escaped("\xed\xa0\x80"), "\\xed\\xa0\\x80") << "a surrogate";
}

TEST(CachePrinter, CuttingCountsColumnsAndKeepsEscapesWhole) {
    EXPECT_EQ(escaped("abcdef", 6), "abcdef");
    EXPECT_EQ(escaped("abcdefg", 6), "abc...");
    EXPECT_EQ(escaped("abc\x1bz", 6), "abc...");
    EXPECT_EQ(escaped("\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc", 4), "\xc3\xbc...");
    EXPECT_EQ(escaped("abcdef", 2), "..");
}

TEST(CachePrinter, NumbersAreForPeople) {
    EXPECT_EQ(human_bytes(1023), "1023 B");
    EXPECT_EQ(human_bytes(1536), "1.5 KiB");
    EXPECT_EQ(human_bytes(std::uint64_t{3} << 30), "3.0 GiB");
    EXPECT_EQ(human_age(-5), "0 s");
    EXPECT_EQ(human_age(119), "119 s");
    EXPECT_EQ(human_age(3600), "60 m");
    EXPECT_EQ(human_age(86400 * 3), "3 d");
}

TEST(CachePrinter, StatisticsAreTotalsByModelAndTier) {
    const std::string text = statistics_text(example());
    EXPECT_THAT(text, AllOf(HasSubstr("disk       5.0 MiB of 10.0 MiB\n"), HasSubstr("tenant \"acme\""),
                            HasSubstr("5 snapshots of 125 tokens in all; 1 files, 12.0 KiB"),
                            HasSubstr("ram     5 snapshots")));
    const auto json = nlohmann::json::parse(statistics_json(example()));
    EXPECT_EQ(json["namespaces"][0]["in_tier"]["disk"], 5);
    EXPECT_EQ(json["namespaces"][0]["in_tier"]["device"], 0);
    EXPECT_EQ(json["namespaces"][0]["file_bytes"], 12288);
    EXPECT_EQ(json["disk"]["limit"], 10 << 20);
}

}  // namespace
}  // namespace cairn
