#include "store/stopped_cache.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include "store/gc_plan.h"
#include "tests/store/stopped_directory.h"

namespace cairn {
namespace {

using test::Base;
using test::ids_in;
using test::namespace_key;
using test::StoppedDirectory;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

using Ids = std::vector<std::uint64_t>;

/// 10 <- 20 <- 30 and 10 <- 40, of 10 tokens each behind the parent; 50 of another model.
class StoppedCacheTest : public testing::Test {
protected:
    StoppedCacheTest() {
        made.add(10, {}, namespace_key(), 1000);
        made.add(20, Base{10, 11, 10}, namespace_key(), 4000);
        made.add(30, Base{20, 21, 20}, namespace_key(), 2000);
        made.add(40, Base{10, 11, 10}, namespace_key(), 3000);
        made.add(50, {}, namespace_key(2), 5000);
    }

    /// Writes what is listed as `id` to `path`.
    void export_to(StoppedCache &cache, std::uint64_t id, const std::string &path, const std::string &text = "") {
        const SnapshotListing listing = cache.list().value();
        const ListedPlace place = find_listed(listing, id);
        ArchiveHeader header{.ns = place.ns->key,
                             .model = place.ns->model,
                             .tokens = cache.tokens_of(id).value(),
                             .kind = place.snapshot->kind,
                             .text = text.empty() ? place.snapshot->text : text,
                             .payloads = {},
                             .rows = place.snapshot->rows,
                             .boundary = place.snapshot->boundary};
        std::vector<std::string> paths;
        for (const StoredPayload &payload : place.ns->payloads) {
            const Ids its = payloads_of(*place.ns, *place.snapshot);
            if (std::find(its.begin(), its.end(), payload.id) == its.end()) continue;
            if (payload.kind == PayloadKind::boundary && payload.id != header.boundary) continue;
            header.payloads.push_back(payload);
        }
        std::stable_partition(header.payloads.begin(), header.payloads.end(),
                              [](const StoredPayload &payload) { return payload.kind == PayloadKind::rows; });
        for (const StoredPayload &payload : header.payloads)
            paths.push_back(payload_path_of(listing.directory, payload.id));
        const auto written = write_archive(made.env.files(), path, header, paths);
        ASSERT_TRUE(written.has_value()) << written.error().what;
    }

    StoppedDirectory made;
};

TEST_F(StoppedCacheTest, ListsEachSnapshotWithItsParentItsWholeStateAndItsPayloads) {
    StoppedCache cache = made.open();
    const SnapshotListing listing = cache.list().value();
    EXPECT_EQ(listing.directory, StoppedDirectory::kPath);
    EXPECT_EQ(ids_in(listing).size(), 5u);
    const ListedSnapshot &end = *find_listed(listing, 30).snapshot;
    EXPECT_EQ(end.parent, 20u);
    EXPECT_EQ(end.position, 30);
    EXPECT_EQ(end.bytes, 1010u + 1020u + 1030u + 77u);
    EXPECT_EQ(end.text, "what snapshot 30 says");
    EXPECT_THAT(end.tiers, ElementsAre(Tier::disk));
    EXPECT_THAT(payloads_of(*find_listed(listing, 30).ns, end), ElementsAre(31, 21, 11, 32));
    EXPECT_EQ(cache.tokens_of(30).value(), made.path_of(30));
    EXPECT_EQ(cache.tokens_of(31).error().code, ErrorCode::not_found);
}

TEST_F(StoppedCacheTest, ListingIsTheSameBehindItsJson) {
    const SnapshotListing listing = made.open().list().value();
    const auto again = parse_snapshot_listing(to_json(listing));
    ASSERT_TRUE(again.has_value()) << again.error().what;
    EXPECT_EQ(*again, listing);
}

TEST_F(StoppedCacheTest, JsonThatIsNoListingIsRefused) {
    const std::string json = to_json(made.open().list().value());
    for (const std::string &bad : {std::string(), std::string("[]"), std::string("{}"), json.substr(1)})
        EXPECT_EQ(parse_snapshot_listing(bad).error().code, ErrorCode::corrupt) << bad;
    std::string foreign = json;
    foreign.replace(foreign.find("answer_end"), 10, "answer_bad");
    EXPECT_EQ(parse_snapshot_listing(foreign).error().code, ErrorCode::corrupt);
}

TEST_F(StoppedCacheTest, RemovingLeavesWhatOthersBuildOn) {
    {
        StoppedCache cache = made.open();
        ASSERT_TRUE(cache.remove(Ids{20, 50}).has_value());
        EXPECT_THAT(ids_in(cache.list().value()), ElementsAre(10, 30, 40));
    }
    EXPECT_TRUE(made.has_file(21)) << "30 needs these rows";
    EXPECT_FALSE(made.has_file(22));
    EXPECT_FALSE(made.has_file(51));
    StoppedCache cache = made.open();
    const SnapshotListing listing = cache.list().value();
    EXPECT_THAT(ids_in(listing), ElementsAre(10, 30, 40));
    EXPECT_EQ(find_listed(listing, 30).snapshot->parent, 10u);
    EXPECT_EQ(find_listed(listing, 30).snapshot->text, "what snapshot 20 sayswhat snapshot 30 says");
    EXPECT_EQ(cache.tokens_of(30).value(), made.path_of(30));
}

TEST_F(StoppedCacheTest, UnknownIdsAreNamedAndNothingIsRemoved) {
    StoppedCache cache = made.open();
    const Status removed = cache.remove(Ids{10, 7, 8});
    ASSERT_FALSE(removed.has_value());
    EXPECT_EQ(removed.error().code, ErrorCode::not_found);
    EXPECT_THAT(removed.error().what, HasSubstr("no snapshots 7, 8 in /cache"));
    EXPECT_EQ(ids_in(cache.list().value()).size(), 5u);
    EXPECT_TRUE(made.has_file(11));
}

TEST_F(StoppedCacheTest, AnArchiveIsTakenInUnderNewIdsByItsParent) {
    {
        StoppedCache cache = made.open();
        export_to(cache, 30, "/thirty.cairn");
        ASSERT_TRUE(cache.remove(Ids{30}).has_value());
        const auto imported = cache.import_archive("/thirty.cairn", {});
        ASSERT_TRUE(imported.has_value()) << imported.error().what;
        EXPECT_FALSE(imported->was_there);
        EXPECT_GT(imported->id, 50u);
    }
    StoppedCache cache = made.open();
    const SnapshotListing listing = cache.list().value();
    const std::uint64_t id = cache.import_archive("/thirty.cairn", {}).value().id;
    ASSERT_NE(find_listed(listing, id).snapshot, nullptr);
    EXPECT_EQ(find_listed(listing, id).snapshot->parent, 20u);
    EXPECT_EQ(find_listed(listing, id).snapshot->bytes, 1010u + 1020u + 1030u + 77u);
    EXPECT_EQ(cache.tokens_of(id).value(), made.path_of(30));
}

TEST_F(StoppedCacheTest, APrefixThatIsThereIsNotTakenInAgain) {
    StoppedCache cache = made.open();
    export_to(cache, 40, "/forty.cairn");
    const auto imported = cache.import_archive("/forty.cairn", {});
    ASSERT_TRUE(imported.has_value()) << imported.error().what;
    EXPECT_TRUE(imported->was_there);
    EXPECT_EQ(imported->id, 40u);
    EXPECT_EQ(ids_in(cache.list().value()).size(), 5u);
}

TEST_F(StoppedCacheTest, ATextThatIsTakenInBeginsBehindTheParents) {
    const std::string long_text(500, 'x');
    const std::string before = "what snapshot 10 sayswhat snapshot 20 says";
    StoppedCache cache = made.open();
    export_to(cache, 30, "/own", before + "its own");
    export_to(cache, 30, "/long", before + long_text);
    export_to(cache, 30, "/first", "what snapshot 10 says");
    ASSERT_TRUE(cache.remove(Ids{30}).has_value());
    const std::vector<std::pair<std::string, std::string>> cases{
        {"/own", "its own"},
        {"/long", long_text.substr(0, 160)},
        {"/first", ""},  // nobody here can tell what the tokens behind it say
    };
    for (const auto &[path, text] : cases) {
        SCOPED_TRACE(path);
        const auto imported = cache.import_archive(path, {});
        ASSERT_TRUE(imported.has_value()) << imported.error().what;
        const SnapshotListing listing = cache.list().value();
        EXPECT_EQ(find_listed(listing, imported->id).snapshot->parent, 20u);
        EXPECT_EQ(find_listed(listing, imported->id).snapshot->text, text);
        ASSERT_TRUE(cache.remove(Ids{imported->id}).has_value());
    }
}

TEST_F(StoppedCacheTest, ADamagedArchiveIsRefusedThoughItsPrefixIsThere) {
    StoppedCache cache = made.open();
    export_to(cache, 40, "/forty.cairn");
    const auto file = made.env.files().open("/forty.cairn", OpenMode::read_write).value();
    const auto last = file->size().value() - 1;
    std::byte byte{};
    ASSERT_TRUE(read_exactly(*file, last, MutableBytes(&byte, 1)).has_value());
    byte ^= std::byte{1};
    ASSERT_TRUE(write_all(*file, last, Bytes(&byte, 1)).has_value());
    const auto imported = cache.import_archive("/forty.cairn", {});
    ASSERT_FALSE(imported.has_value());
    EXPECT_EQ(imported.error().code, ErrorCode::corrupt);
}

TEST_F(StoppedCacheTest, AnUnknownModelIsTakenInOnlyWhereThatIsAskedFor) {
    StoppedCache cache = made.open();
    export_to(cache, 50, "/fifty.cairn");
    StoppedCache other = made.open("/other");
    const auto refused = other.import_archive("/fifty.cairn", {});
    ASSERT_FALSE(refused.has_value());
    EXPECT_EQ(refused.error().code, ErrorCode::unsupported);
    EXPECT_THAT(refused.error().what, HasSubstr("--any-model"));
    EXPECT_TRUE(other.import_archive("/fifty.cairn", {.any_model = true}).has_value());
    EXPECT_EQ(ids_in(other.list().value()).size(), 1u);
}

TEST_F(StoppedCacheTest, AnArchiveBeyondTheLimitOrDamagedLeavesNothingBehind) {
    StoppedCache cache = made.open();
    export_to(cache, 50, "/fifty.cairn");
    StoppedCache other = made.open("/other");
    const ImportOptions tight{.any_model = true, .max_bytes = 4096};
    EXPECT_EQ(other.import_archive("/fifty.cairn", tight).error().code, ErrorCode::capacity);
    const auto file = made.env.files().open("/fifty.cairn", OpenMode::read_write);
    ASSERT_TRUE((*file)->truncate((*file)->size().value() - 1).has_value());
    EXPECT_EQ(other.import_archive("/fifty.cairn", {.any_model = true}).error().code, ErrorCode::corrupt);
    EXPECT_THAT(ids_in(other.list().value()), IsEmpty());
    EXPECT_FALSE(made.has_file(1, "/other"));
}

TEST_F(StoppedCacheTest, CollectionBeginsWithTheLeastRecentlyUsed) {
    const SnapshotListing listing = made.open().list().value();
    EXPECT_THAT(plan_gc(listing, {}), IsEmpty());
    EXPECT_THAT(plan_gc(listing, {.max_bytes = 0}), ElementsAre(10, 30, 40, 20, 50));
    EXPECT_THAT(plan_gc(listing, {.max_bytes = 0, .model = std::string(32, '0').replace(1, 1, "2")}), IsEmpty());
    EXPECT_THAT(plan_gc(listing, {.max_bytes = 0, .model = "0202"}), ElementsAre(50));
    EXPECT_THAT(plan_gc(listing, {.older_than_s = listing.now_unix_s - 3000}), ElementsAre(10, 30));
}

TEST_F(StoppedCacheTest, CollectionStopsWhereWhatIsLeftFits) {
    const SnapshotListing listing = made.open().list().value();
    // 10 files of two blocks each; 10 frees its boundary only, as others build on its rows.
    const std::uint64_t all = listing.disk.used;
    EXPECT_THAT(plan_gc(listing, {.max_bytes = all}), IsEmpty());
    EXPECT_THAT(plan_gc(listing, {.max_bytes = all - 1}), ElementsAre(10));
    const Ids two = plan_gc(listing, {.max_bytes = all - footprint_of(payloads_freed(listing, Ids{10})) - 1});
    EXPECT_THAT(two, ElementsAre(10, 30));
    EXPECT_EQ(payloads_freed(listing, two).size(), 3u);
}

}  // namespace
}  // namespace cairn
