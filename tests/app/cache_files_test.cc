// Opening, verifying and exporting a cache directory, without an engine.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "app/cache_export.h"
#include "app/cache_verify.h"
#include "app/open_cache.h"
#include "tests/store/stopped_directory.h"

namespace cairn {
namespace {

using test::Base;
using test::ids_in;
using test::StoppedDirectory;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class CacheFiles : public testing::Test {
protected:
    CacheFiles() {
        made.add(10);
        made.add(20, Base{10, 11, 10});
        made.add(30, Base{20, 21, 20});
    }
    VerifyReport verify(StoppedCache &cache) { return verify_payloads(made.env.files(), cache.list().value(), {}); }

    StoppedDirectory made;
};

TEST_F(CacheFiles, WhatIsWholeIsFoundWhole) {
    StoppedCache cache = made.open();
    const VerifyReport report = verify(cache);
    EXPECT_EQ(report.checked, 6u);
    EXPECT_THAT(report.damaged, IsEmpty());
    EXPECT_THAT(verify_text(report), HasSubstr("6 files checked"));
}

TEST_F(CacheFiles, DamageNamesTheFileAndAllWhoNeedIt) {
    StoppedCache cache = made.open();
    made.damage(21);
    const VerifyReport report = verify(cache);
    ASSERT_EQ(report.damaged.size(), 1u);
    EXPECT_EQ(report.damaged[0].payload, 21u);
    EXPECT_EQ(report.damaged[0].error.code, ErrorCode::corrupt);
    EXPECT_THAT(report.damaged[0].snapshots, ElementsAre(20, 30));
    EXPECT_THAT(verify_text(report), HasSubstr("needed by snapshots 20, 30"));
    const auto json = nlohmann::json::parse(verify_json(report, {20}));
    EXPECT_EQ(json["damaged"][0]["snapshots"], nlohmann::json({20, 30}));
    EXPECT_EQ(json["removed"], nlohmann::json({20}));

    ASSERT_TRUE(cache.remove(damaged_snapshots(report)).has_value());
    EXPECT_THAT(ids_in(cache.list().value()), ElementsAre(10));
    EXPECT_THAT(verify(cache).damaged, IsEmpty());
}

TEST_F(CacheFiles, AnotherPayloadUnderTheNameIsDamage) {
    StoppedCache cache = made.open();
    ASSERT_TRUE(made.env.files()
                    .rename(payload_path_of(StoppedDirectory::kPath, 31), payload_path_of(StoppedDirectory::kPath, 11))
                    .has_value());
    const VerifyReport report = verify(cache);
    EXPECT_EQ(report.gone, 1u) << "31 is not there any more, as if it had been evicted";
    ASSERT_EQ(report.damaged.size(), 1u);
    EXPECT_EQ(report.damaged[0].payload, 11u);
}

TEST_F(CacheFiles, ExportAndImportBringASnapshotToAnotherDirectory) {
    StoppedCache cache = made.open();
    const auto bytes = export_snapshot(made.env.files(), cache, 30, "/thirty.cairn");
    ASSERT_TRUE(bytes.has_value()) << bytes.error().what;
    EXPECT_EQ(*bytes, made.env.files().info("/thirty.cairn")->size);
    EXPECT_EQ(read_archive_header(made.env.files(), "/thirty.cairn")->text,
              "what snapshot 10 sayswhat snapshot 20 sayswhat snapshot 30 says");
    StoppedCache other = made.open("/other");
    const auto imported = other.import_archive("/thirty.cairn", {.any_model = true});
    ASSERT_TRUE(imported.has_value()) << imported.error().what;
    EXPECT_EQ(other.tokens_of(imported->id).value(), made.path_of(30));
    EXPECT_THAT(verify(other).damaged, IsEmpty());
}

TEST_F(CacheFiles, ExportOfAnUnknownOneOrToNowhereSaysSo) {
    StoppedCache cache = made.open();
    const auto unknown = export_snapshot(made.env.files(), cache, 31, "/x.cairn");
    ASSERT_FALSE(unknown.has_value());
    EXPECT_EQ(unknown.error().code, ErrorCode::not_found);
    EXPECT_THAT(unknown.error().what, HasSubstr("no snapshot 31"));
    const auto nowhere = export_snapshot(made.env.files(), cache, 30, "/nowhere/x.cairn");
    ASSERT_FALSE(nowhere.has_value());
    EXPECT_THAT(nowhere.error().what, HasSubstr("/nowhere/x.cairn"));
}

TEST_F(CacheFiles, AnExportReplacesAFileOnlyWhereThatIsAskedFor) {
    StoppedCache cache = made.open();
    ASSERT_TRUE(made.env.files().open("/mine", OpenMode::create).has_value());
    const auto refused = export_snapshot(made.env.files(), cache, 30, "/mine");
    ASSERT_FALSE(refused.has_value());
    EXPECT_EQ(refused.error().code, ErrorCode::invalid_argument);
    EXPECT_THAT(refused.error().what, HasSubstr("--force"));
    EXPECT_EQ(made.env.files().info("/mine")->size, 0u);
    EXPECT_TRUE(export_snapshot(made.env.files(), cache, 30, "/mine", Existing::replace).has_value());
    EXPECT_TRUE(check_is_archive(made.env.files(), "/mine").has_value());
}

TEST_F(CacheFiles, WhatAnOpeningFoundLostIsSaidAndIsNotAllWhole) {
    ASSERT_TRUE(made.env.files().remove(payload_path_of(StoppedDirectory::kPath, 31)).has_value());
    const auto cache = open_cache(made.env, StoppedDirectory::kPath, WhereMissing::fail);
    ASSERT_TRUE(cache.has_value()) << cache.error().what;
    EXPECT_TRUE(cache->lost_something);
    const SnapshotListing listing = cache->admin->list().value();
    const VerifyReport report = verify_payloads(made.env.files(), listing, {});
    const std::string said = verify_text(report, listing.notes, cache->lost_something);
    EXPECT_THAT(said, HasSubstr("1 snapshot in /cache had lost its files"));
    EXPECT_THAT(said, HasSubstr("what is left is whole"));
    const auto json = nlohmann::json::parse(verify_json(report, {}, listing.notes, true));
    EXPECT_EQ(json["notes"].size(), 1u);
    EXPECT_EQ(json["lost"], true);
}

TEST_F(CacheFiles, ADamagedSnapshotIsNotExported) {
    StoppedCache cache = made.open();
    made.damage(11);
    EXPECT_EQ(export_snapshot(made.env.files(), cache, 30, "/x.cairn").error().code, ErrorCode::corrupt);
    EXPECT_FALSE(made.env.files().info("/x.cairn").has_value());
}

TEST_F(CacheFiles, AFolderThatIsNoCacheIsLeftAlone) {
    ASSERT_TRUE(made.env.files().make_directories("/documents").has_value());
    for (const char *path : {"/documents", "/missing", ""}) {
        const auto cache = open_cache(made.env, path, WhereMissing::fail);
        ASSERT_FALSE(cache.has_value()) << path;
        EXPECT_THAT(cache.error().what, HasSubstr("--cache-dir")) << path;
    }
    EXPECT_THAT(made.env.files().list("/documents").value(), IsEmpty());
    EXPECT_FALSE(made.env.files().info("/missing").has_value());
    EXPECT_TRUE(open_cache(made.env, "/missing", WhereMissing::make).has_value());
}

TEST_F(CacheFiles, ADirectoryThatSomebodyHoldsIsAskedForOrNamesHim) {
    auto held = CacheDirectory::open(made.env.files(), StoppedDirectory::kPath, "pid 71, something\n");
    ASSERT_TRUE(held.has_value());
    const auto refused = open_cache(made.env, StoppedDirectory::kPath, WhereMissing::fail, 0);
    ASSERT_FALSE(refused.has_value());
    EXPECT_EQ(refused.error().code, ErrorCode::capacity);
    EXPECT_THAT(refused.error().what, HasSubstr("pid 71, something"));

    const std::string line = "admin http://127.0.0.1:1 0123456789abcdef0123456789abcdef\n";
    ASSERT_TRUE(held->describe_holder("pid 71, cairn serve\n" + line).has_value());
    auto running = open_cache(made.env, StoppedDirectory::kPath, WhereMissing::fail);
    ASSERT_TRUE(running.has_value());
    EXPECT_TRUE(running->running);
    const auto listing = running->admin->list();
    ASSERT_FALSE(listing.has_value());
    EXPECT_EQ(listing.error().code, ErrorCode::io);
    EXPECT_THAT(listing.error().what, HasSubstr("127.0.0.1:1 does not answer"));
    EXPECT_THAT(listing.error().what, HasSubstr("It is pid 71, cairn serve"));
    EXPECT_THAT(listing.error().what, HasSubstr("kill -CONT 71"));
}

TEST_F(CacheFiles, OpeningRemovesWhatNothingNames) {
    const std::string orphan = payload_path_of(StoppedDirectory::kPath, 4711);
    ASSERT_TRUE(made.env.files().make_directories(orphan.substr(0, orphan.rfind('/'))).has_value());
    ASSERT_TRUE(made.env.files().open(orphan, OpenMode::create).has_value());
    const auto cache = open_cache(made.env, StoppedDirectory::kPath, WhereMissing::fail);
    ASSERT_TRUE(cache.has_value());
    EXPECT_EQ(cache->removed_files, 1u);
    EXPECT_FALSE(made.env.files().info(orphan).has_value());
}

}  // namespace
}  // namespace cairn
