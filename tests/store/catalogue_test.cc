#include "store/catalogue.h"

#include <gtest/gtest.h>

#include <optional>
#include <sstream>
#include <stdexcept>

#include "store/catalogue_rows.h"
#include "store/catalogue_schema.h"
#include "store/catalogue_tree.h"
#include "store/sqlite_database.h"
#include "tests/store/catalogue_bench.h"
#include "tests/support/docs_file.h"
#include "tests/support/temp_folder.h"

namespace cairn {
namespace {

using namespace test;

class CatalogueTest : public ::testing::Test {
protected:
    CatalogueTest() { open(); }

    void open() {
        catalogue_.reset();
        auto opened = Catalogue::open(*disk_, kCataloguePath);
        if (!opened) throw std::runtime_error(opened.error().what);  // ends the test
        catalogue_.emplace(std::move(*opened));
    }
    void put(const CatalogueEntry &entry) { expect_ok(catalogue_->put(entry)); }
    void remove(std::vector<std::uint64_t> snapshots, std::vector<std::uint64_t> payloads = {}) {
        expect_ok(catalogue_->remove(snapshots, payloads));
    }
    static void expect_ok(const Status &status) { EXPECT_TRUE(status.has_value()) << status.error().what; }
    void expect_refused(const CatalogueEntry &entry) {
        const std::string before = text_of(*catalogue_);
        const Status done = catalogue_->put(entry);
        ASSERT_FALSE(done.has_value());
        EXPECT_EQ(done.error().code, ErrorCode::invalid_argument) << done.error().what;
        EXPECT_EQ(text_of(*catalogue_), before);
    }
    CatalogueContent load() {
        auto content = catalogue_->load();
        EXPECT_TRUE(content.has_value()) << content.error().what;
        return content ? std::move(*content) : CatalogueContent{};
    }
    /// The database behind the catalogue's back: it is closed for the time.
    void meddle(const std::string &sql) {
        expect_ok(catalogue_->tidy());
        catalogue_.reset();
        {
            auto database = SqliteDatabase::open(*disk_, kCataloguePath);
            ASSERT_TRUE(database.has_value()) << database.error().what;
            expect_ok((*database)->execute(sql.c_str()));
            expect_ok((*database)->tidy());
        }
        open();
    }
    /// Ids of the snapshots of the only namespace: those that are paths negative.
    std::vector<std::int64_t> snapshot_ids() {
        std::vector<std::int64_t> ids;
        for (const StoredNamespace &ns : load().namespaces) {
            for (const StoredSnapshot &snapshot : ns.snapshots)
                ids.push_back(snapshot.live ? static_cast<std::int64_t>(snapshot.id)
                                            : -static_cast<std::int64_t>(snapshot.id));
        }
        return ids;
    }
    std::vector<std::int64_t> payload_ids() {
        std::vector<std::int64_t> ids;
        for (const StoredNamespace &ns : load().namespaces) {
            for (const StoredPayload &payload : ns.payloads)
                ids.push_back(static_cast<std::int64_t>(payload.id));
        }
        return ids;
    }

    using Ids = std::vector<std::int64_t>;
    std::unique_ptr<SimFileSystem> disk_ = empty_disk();
    std::optional<Catalogue> catalogue_;
};

TEST_F(CatalogueTest, ANewOneIsEmpty) {
    EXPECT_EQ(text_of(*catalogue_), "last id 0 rate ");
}

TEST_F(CatalogueTest, GivesBackWhatWasPutInAfterItIsOpenedAgain) {
    const CatalogueEntry a = entry_of(10);
    const CatalogueEntry b = entry_of(20, base_of(a), 5000);
    CatalogueEntry other = entry_of(30, {}, 4, namespace_key(9, std::string("a\0b", 3)));
    other.model = "another model";
    other.snapshot.text = std::string("\xff\0 not text", 11);
    for (const CatalogueEntry &entry : {a, b, other})
        put(entry);
    open();
    const CatalogueContent content = load();
    EXPECT_EQ(content.dropped_rows, 0u);
    EXPECT_EQ(content.last_id, 32u);
    ASSERT_EQ(content.namespaces.size(), 2u);
    EXPECT_EQ(content.namespaces[0].key, a.ns);
    EXPECT_EQ(content.namespaces[0].model, "a model");
    EXPECT_EQ(content.namespaces[0].snapshots, (std::vector<StoredSnapshot>{a.snapshot, b.snapshot}));
    EXPECT_EQ(content.namespaces[0].payloads,
              (std::vector<StoredPayload>{a.payloads[0], a.payloads[1], b.payloads[0], b.payloads[1]}));
    EXPECT_EQ(content.namespaces[1].key, other.ns);
    EXPECT_EQ(content.namespaces[1].model, "another model");
    EXPECT_EQ(content.namespaces[1].snapshots, std::vector<StoredSnapshot>{other.snapshot});
    EXPECT_EQ(content.namespaces[1].payloads, other.payloads);
}

TEST_F(CatalogueTest, KeepsTheLargestAndSmallestNumbers) {
    CatalogueEntry entry = entry_of(10);
    entry.snapshot.id = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    entry.snapshot.created_unix_s = std::numeric_limits<std::int64_t>::min();
    entry.snapshot.last_use_unix_s = -1;
    entry.snapshot.hits = std::numeric_limits<std::uint32_t>::max();
    entry.snapshot.tokens[3] = std::numeric_limits<Token>::min();
    entry.snapshot.text.clear();
    put(entry);
    EXPECT_EQ(load().namespaces.at(0).snapshots.at(0), entry.snapshot);
}

TEST_F(CatalogueTest, KeepsSnapshotsThatLieInStoredRowsAndOnesWithoutTokensOfTheirOwn) {
    const CatalogueEntry a = entry_of(10, {}, 100);
    put(a);
    CatalogueEntry inside = entry_of(20, {}, 60);  // uses the first 60 rows of payload 11
    inside.snapshot.rows = 11;
    inside.payloads.erase(inside.payloads.begin());
    put(inside);
    CatalogueEntry again = inside;  // at the same place: no token further
    again.snapshot.id = 30;
    again.snapshot.parent = 20;
    again.snapshot.tokens.clear();
    again.payloads.clear();
    put(again);
    const CatalogueContent content = load();
    EXPECT_EQ(content.dropped_rows, 0u);
    EXPECT_EQ(content.namespaces.at(0).snapshots,
              (std::vector<StoredSnapshot>{a.snapshot, inside.snapshot, again.snapshot}));
}

TEST_F(CatalogueTest, ANamespaceShowsTheModelNamedLast) {
    put(entry_of(10));
    CatalogueEntry renamed = entry_of(20);
    renamed.model = "the same model, renamed";
    put(renamed);
    open();
    EXPECT_EQ(load().namespaces.at(0).model, "the same model, renamed");
}

TEST_F(CatalogueTest, RefusesWhatALoadWouldDrop) {
    const CatalogueEntry a = entry_of(10);
    put(a);
    put(entry_of(50, {}, 5, namespace_key(2)));
    const auto changed = [&](const std::function<void(CatalogueEntry &)> &change) {
        CatalogueEntry entry = entry_of(20, base_of(a), 5);
        change(entry);
        expect_refused(entry);
    };
    changed([](CatalogueEntry &e) { e.snapshot.id = 0; });
    changed([](CatalogueEntry &e) { e.snapshot.id = 10; });
    changed([](CatalogueEntry &e) { e.snapshot.id = std::uint64_t{1} << 63; });
    changed([](CatalogueEntry &e) { e.snapshot.parent = 20; });
    changed([](CatalogueEntry &e) { e.snapshot.parent = 9; });
    changed([](CatalogueEntry &e) { e.snapshot.id = 60, e.snapshot.parent = 50; });  // of another namespace
    changed([](CatalogueEntry &e) { e.snapshot.tokens.pop_back(); });
    changed([](CatalogueEntry &e) { e.snapshot.position = -1; });
    changed([](CatalogueEntry &e) { e.snapshot.live = false; });
    changed([](CatalogueEntry &e) { e.snapshot.rows = e.snapshot.boundary = 0; });
    changed([](CatalogueEntry &e) { e.snapshot.rows = 99; });
    changed([](CatalogueEntry &e) { e.snapshot.rows = 11; });      // ends before
    changed([](CatalogueEntry &e) { e.snapshot.boundary = 12; });  // of another position
    changed([](CatalogueEntry &e) { e.snapshot.boundary = 21; });  // rows
    changed([](CatalogueEntry &e) { e.snapshot.boundary = 52; });  // of another namespace
    changed([](CatalogueEntry &e) { e.payloads[0].id = 11; });     // taken
    changed([](CatalogueEntry &e) { e.payloads[0].parent = 0; });
    changed([](CatalogueEntry &e) { e.payloads[0].parent = 12; });      // a boundary
    changed([](CatalogueEntry &e) { e.payloads[0].parent = 51; });      // of another namespace
    changed([](CatalogueEntry &e) { e.payloads[0].span.begin = 11; });  // a gap
    changed([](CatalogueEntry &e) { e.payloads[0].bytes = std::uint64_t{1} << 63; });
    changed([](CatalogueEntry &e) { e.payloads[1].parent = 11; });
    changed([](CatalogueEntry &e) { e.snapshot.text.resize(65 << 20); });
}

// -- removal ---------------------------------------------------------------------------------------------------------

TEST_F(CatalogueTest, ASnapshotThatOthersBuildOnBecomesAPathUntilTheyAreGone) {
    const CatalogueEntry a = entry_of(10);
    const CatalogueEntry b = entry_of(20, base_of(a));
    put(a);
    put(b);
    put(entry_of(30, base_of(b)));
    put(entry_of(40, base_of(b)));
    remove({20}, {22});
    EXPECT_EQ(snapshot_ids(), (Ids{10, -20, 30, 40}));
    EXPECT_EQ(payload_ids(), (Ids{11, 12, 21, 31, 32, 41, 42}));
    remove({30}, {31, 32});
    EXPECT_EQ(snapshot_ids(), (Ids{10, -20, 40}));
    open();  // now without what the load before left in memory
    remove({40}, {41, 42, 21});
    EXPECT_EQ(snapshot_ids(), (Ids{10}));
    EXPECT_EQ(payload_ids(), (Ids{11, 12}));
}

TEST_F(CatalogueTest, APathHasNoPayloadsAndNoUses) {
    const CatalogueEntry a = entry_of(11);
    put(a);
    put(entry_of(20, base_of(a)));
    remove({11}, {13});
    StoredSnapshot path = a.snapshot;
    path.live = false;
    path.rows = path.boundary = path.hits = 0;
    path.last_use_unix_s = path.created_unix_s;
    EXPECT_EQ(load().namespaces.at(0).snapshots.at(0), path);
}

TEST_F(CatalogueTest, RemovingAWholeConversationAtOnceLeavesNothing) {
    CatalogueEntry last = entry_of(10);
    put(last);
    std::vector<std::uint64_t> snapshots{10};
    std::vector<std::uint64_t> payloads{11, 12};
    for (std::uint64_t id = 20; id <= 100; id += 10) {
        last = entry_of(id, base_of(last));
        put(last);
        snapshots.insert(snapshots.begin() + static_cast<std::ptrdiff_t>(id / 20), id);
        payloads.insert(payloads.end(), {id + 1, id + 2});
    }
    remove(snapshots, payloads);
    const CatalogueContent content = load();
    EXPECT_TRUE(content.namespaces.empty());
    EXPECT_EQ(content.last_id, 102u);
    put(entry_of(110));
    EXPECT_EQ(snapshot_ids(), (Ids{110}));
}

TEST_F(CatalogueTest, RemovingWhatIsNotThereDoesNothing) {
    put(entry_of(10));
    const std::string before = text_of(*catalogue_);
    remove({7, 0, std::numeric_limits<std::uint64_t>::max()}, {8, std::numeric_limits<std::uint64_t>::max()});
    remove({});
    EXPECT_EQ(text_of(*catalogue_), before);
}

TEST_F(CatalogueTest, RemembersTheLargestIdAfterItsRowIsGone) {
    put(entry_of(10));
    put(entry_of(500));
    remove({500}, {501, 502});
    open();
    EXPECT_EQ(load().last_id, 502u);
    put(entry_of(20));
    open();
    EXPECT_EQ(load().last_id, 502u);
}

TEST_F(CatalogueTest, NotesUsesOfLiveSnapshotsOnly) {
    const CatalogueEntry a = entry_of(10);
    put(a);
    put(entry_of(20, base_of(a)));
    remove({10}, {12});
    expect_ok(catalogue_->note_uses(std::vector<SnapshotUse>{{10, 7, 7}, {20, 8, 8}, {21, 9, 9}, {20, 10, 11}}));
    open();
    const auto snapshots = load().namespaces.at(0).snapshots;
    ASSERT_EQ(snapshots.size(), 2u);
    EXPECT_FALSE(snapshots[0].live);
    EXPECT_EQ(snapshots[1].last_use_unix_s, 10);
    EXPECT_EQ(snapshots[1].hits, 11u);
}

TEST_F(CatalogueTest, KeepsFacts) {
    EXPECT_EQ(catalogue_->fact("read rate").value(), "");
    expect_ok(catalogue_->set_fact("read rate", "1.5"));
    expect_ok(catalogue_->set_fact("write rate", "9"));
    expect_ok(catalogue_->set_fact("read rate", "2.5"));
    open();
    EXPECT_EQ(catalogue_->fact("read rate").value(), "2.5");
    EXPECT_EQ(catalogue_->fact("write rate").value(), "9");
    EXPECT_EQ(catalogue_->set_fact("catalogue.last_id", "9").error().code, ErrorCode::invalid_argument);
    EXPECT_EQ(catalogue_->set_fact("long", std::string(2 << 20, 'x')).error().code, ErrorCode::invalid_argument);
}

TEST_F(CatalogueTest, AfterTidyingTheLogGoesWithTheCatalogueAndNotBefore) {
    put(entry_of(10));
    const std::string before = text_of(*catalogue_);
    expect_ok(catalogue_->tidy());
    put(entry_of(20));
    catalogue_.reset();  // written since: it stays
    EXPECT_EQ(disk_->files(), (std::vector<std::string>{kCataloguePath, kCatalogueLog}));
    open();
    remove({20}, {21, 22});
    expect_ok(catalogue_->tidy());
    catalogue_.reset();
    EXPECT_EQ(disk_->files(), std::vector<std::string>{kCataloguePath});
    open();
    EXPECT_EQ(load().namespaces.size(), 1u);
}

// -- damage ----------------------------------------------------------------------------------------------------------

TEST_F(CatalogueTest, RowsWithAWrongChecksumAreDroppedWithAllThatBuildsOnThem) {
    const CatalogueEntry a = entry_of(10);
    const CatalogueEntry b = entry_of(20, base_of(a));
    put(a);
    put(b);
    put(entry_of(30, base_of(b)));
    put(entry_of(40, base_of(a)));
    meddle("UPDATE snapshots SET tokens = zeroblob(length(tokens)) WHERE id = 20");
    // Snapshots 20 and 30, and the states of both. Payloads 21, 22, 31, 32 are then of no use, and no damage.
    EXPECT_EQ(load().dropped_rows, 4u);
    EXPECT_EQ(snapshot_ids(), (Ids{10, 40}));
    EXPECT_EQ(payload_ids(), (Ids{11, 12, 41, 42}));
    open();
    EXPECT_EQ(load().dropped_rows, 0u);
}

TEST_F(CatalogueTest, ALiveSnapshotWithoutItsPayloadsBecomesAPathOrGoes) {
    const CatalogueEntry a = entry_of(10);
    const CatalogueEntry b = entry_of(20, base_of(a));
    put(a);
    put(b);
    meddle("DELETE FROM payloads WHERE id = 12");  // the boundary of 10
    EXPECT_EQ(snapshot_ids(), (Ids{-10, 20}));
    EXPECT_EQ(payload_ids(), (Ids{11, 21, 22}));
    meddle("DELETE FROM payloads WHERE id = 11");  // rows that 20 builds on
    EXPECT_EQ(snapshot_ids(), Ids{});
    EXPECT_EQ(payload_ids(), Ids{});
    EXPECT_EQ(load().dropped_rows, 0u);
}

TEST_F(CatalogueTest, RowsThatContradictEachOtherAreDroppedThoughTheirChecksumsAreRight) {
    const CatalogueEntry a = entry_of(10);
    put(a);
    put(entry_of(50, {}, 5, namespace_key(2)));
    RowHash hash;
    const auto insert = [&](const auto &row) {
        using Row = std::decay_t<decltype(row)>;
        catalogue_.reset();
        {
            auto database = SqliteDatabase::open(*disk_, kCataloguePath);
            ASSERT_TRUE(database.has_value());
            const auto statement = (*database)->prepare(
                fmt::format("INSERT INTO {}({}) VALUES({})", Row::kTable, Row::kColumns, Row::kMarks));
            ASSERT_TRUE(statement.has_value()) << statement.error().what;
            expect_ok((*database)->in_transaction([&] { return write_row(statement->run(), hash, row); }));
        }
        open();
        EXPECT_EQ(load().dropped_rows, 1u) << Row::kTable;
        EXPECT_EQ(load().dropped_rows, 0u) << Row::kTable;
        EXPECT_EQ(snapshot_ids(), (Ids{10, 50}));
    };
    StoredSnapshot wrong = entry_of(60, base_of(a)).snapshot;
    const auto snapshot = [&](const std::function<void(SnapshotRow &)> &change) {
        SnapshotRow row{.ns = 1, .snapshot = wrong};
        change(row);
        insert(row);
    };
    snapshot([](SnapshotRow &row) { row.snapshot.parent = 60; });
    snapshot([](SnapshotRow &row) { row.snapshot.parent = 70; });
    snapshot([](SnapshotRow &row) { row.snapshot.parent = 49; });
    snapshot([](SnapshotRow &row) { row.ns = 2; });
    snapshot([](SnapshotRow &row) { row.ns = 3; });
    snapshot([](SnapshotRow &row) { row.snapshot.position = 21; });
    snapshot([](SnapshotRow &row) { row.snapshot.kind = static_cast<CheckpointKind>(77); });
    insert(StateRow{.id = 60, .rows = 11, .boundary = 12});
    insert(PayloadRow{.ns = 3, .payload = entry_of(60).payloads[0]});
    insert(PayloadRow{.ns = 1, .payload = {61, PayloadKind::rows, 11, {11, 20}, 1, 1}});
    insert(PayloadRow{.ns = 1, .payload = {61, PayloadKind::rows, 61, {5, 20}, 1, 1}});
    insert(PayloadRow{.ns = 2, .payload = {61, PayloadKind::rows, 11, {5, 20}, 1, 1}});
    insert(PayloadRow{.ns = 1, .payload = {61, static_cast<PayloadKind>(3), 0, {0, 20}, 1, 1}});
}

TEST_F(CatalogueTest, WhatNobodyNeedsGoesWithoutCountingAsDamage) {
    put(entry_of(10));
    CatalogueEntry spare = entry_of(20);
    spare.payloads.push_back({29, PayloadKind::boundary, 0, {10, 10}, 1, 1});
    put(spare);
    CatalogueEntry path = entry_of(30, {}, 5, namespace_key(3));
    path.snapshot.live = false;
    path.snapshot.rows = path.snapshot.boundary = 0;
    path.payloads.clear();
    put(path);
    EXPECT_EQ(snapshot_ids(), (Ids{10, 20}));
    EXPECT_EQ(payload_ids(), (Ids{11, 12, 21, 22}));
    const CatalogueContent content = load();
    EXPECT_EQ(content.namespaces.size(), 1u);
    EXPECT_EQ(content.dropped_rows, 0u);
}

TEST_F(CatalogueTest, DamagedFactsAreAsIfNeverSet) {
    expect_ok(catalogue_->set_fact("rate", "15"));
    put(entry_of(10));
    meddle("UPDATE facts SET value = '16'");
    EXPECT_EQ(catalogue_->fact("rate").value(), "");
    const CatalogueContent content = load();
    EXPECT_EQ(content.dropped_rows, 2u);
    EXPECT_EQ(content.last_id, 12u);
    expect_ok(catalogue_->set_fact("rate", "17"));
    EXPECT_EQ(catalogue_->fact("rate").value(), "17");
}

// -- what is opened --------------------------------------------------------------------------------------------------

TEST_F(CatalogueTest, RefusesWhatIsNoCatalogueAndLeavesItAlone) {
    const std::string image = disk_->content(kCataloguePath);
    std::string foreign = image;
    foreign[70] = 'x';  // application_id
    for (const std::string &content : {std::string("short"), std::string(5000, 'x'), foreign}) {
        const auto disk = empty_disk();
        disk->set_content(kCataloguePath, content);
        const auto opened = Catalogue::open(*disk, kCataloguePath);
        ASSERT_FALSE(opened.has_value());
        EXPECT_EQ(opened.error().code, ErrorCode::corrupt);
        EXPECT_NE(opened.error().what.find(kCataloguePath), std::string::npos) << opened.error().what;
        EXPECT_TRUE(disk->content(kCataloguePath) == content);
        EXPECT_EQ(disk->files().size(), 1u);
    }
}

TEST_F(CatalogueTest, RefusesAFolderAndMakesAnEmptyFileACatalogue) {
    disk_->replace_with_directory("/cache/folder");
    const auto folder = Catalogue::open(*disk_, "/cache/folder");
    ASSERT_FALSE(folder.has_value());
    disk_->set_content("/cache/empty", "");
    EXPECT_TRUE(Catalogue::open(*disk_, "/cache/empty").has_value());
}

TEST_F(CatalogueTest, RefusesTablesThatAreNotOurs) {
    const std::string image = disk_->content(kCataloguePath);
    for (const char *sql :
         {"CREATE TABLE more(x)", "DROP TABLE facts", "ALTER TABLE facts ADD COLUMN x TEXT",
          "CREATE TRIGGER t AFTER INSERT ON facts BEGIN DELETE FROM snapshots; END", "CREATE INDEX i ON facts(value)",
          "CREATE VIEW v AS SELECT 1", "DROP TABLE facts; CREATE VIEW facts AS SELECT 1"}) {
        const auto disk = empty_disk();
        disk->set_content(kCataloguePath, image);
        {
            auto database = SqliteDatabase::open(*disk, kCataloguePath);
            ASSERT_TRUE(database.has_value());
            expect_ok((*database)->execute(sql));
        }
        const auto opened = Catalogue::open(*disk, kCataloguePath);
        ASSERT_FALSE(opened.has_value()) << sql;
        EXPECT_EQ(opened.error().code, ErrorCode::corrupt) << sql;
    }
}

TEST_F(CatalogueTest, ANewerVersionIsRefusedAndNotTouched) {
    put(entry_of(10));
    for (const bool in_log : {false, true}) {
        catalogue_.reset();
        {
            auto database = SqliteDatabase::open(*disk_, kCataloguePath);
            ASSERT_TRUE(database.has_value());
            expect_ok((*database)->execute("BEGIN; PRAGMA user_version = 2; COMMIT"));
            if (!in_log) expect_ok((*database)->tidy());
        }
        const auto files = disk_->files();
        const std::string database = disk_->content(kCataloguePath);
        const std::string log = in_log ? disk_->content(kCatalogueLog) : "";
        EXPECT_EQ(files.size(), in_log ? 2u : 1u);
        const auto opened = Catalogue::open(*disk_, kCataloguePath);
        ASSERT_FALSE(opened.has_value());
        EXPECT_EQ(opened.error().code, ErrorCode::unsupported) << opened.error().what;
        EXPECT_EQ(disk_->files(), files);
        EXPECT_TRUE(disk_->content(kCataloguePath) == database);
        if (in_log) {
            EXPECT_TRUE(disk_->content(kCatalogueLog) == log);
        } else {  // back to ours, for the second round
            auto ours = SqliteDatabase::open(*disk_, kCataloguePath);
            ASSERT_TRUE(ours.has_value());
            expect_ok((*ours)->execute("PRAGMA user_version = 1"));
            expect_ok((*ours)->tidy());
        }
    }
}

TEST_F(CatalogueTest, AnOlderVersionBeginsAnew) {
    for (const char *where : {"database", "log"}) {
        put(entry_of(10));
        catalogue_.reset();
        {
            auto database = SqliteDatabase::open(*disk_, kCataloguePath);
            ASSERT_TRUE(database.has_value());
            expect_ok((*database)->execute("PRAGMA user_version = 0"));
            if (where == std::string("database")) expect_ok((*database)->tidy());
        }
        open();
        EXPECT_EQ(text_of(*catalogue_), "last id 0 rate ") << where;
    }
}

TEST_F(CatalogueTest, ALogThatAnotherDatabaseLeftIsNotTakenForItsOwn) {
    put(entry_of(10));
    catalogue_.reset();
    ASSERT_TRUE(disk_->rename(kCataloguePath, "/cache/catalogue.db.damaged").has_value());
    ASSERT_FALSE(disk_->content(kCatalogueLog).empty());
    open();
    EXPECT_EQ(text_of(*catalogue_), "last id 0 rate ");
}

TEST_F(CatalogueTest, ADatabaseThatWasTakenOutOfWalModeIsBroughtBack) {
    put(entry_of(10));
    const std::string before = text_of(*catalogue_);
    meddle("PRAGMA journal_mode = DELETE");
    EXPECT_EQ(text_of(*catalogue_), before);
    put(entry_of(20));
    EXPECT_FALSE(disk_->content(kCatalogueLog).empty());
}

TEST(Catalogue, WorksOnTheFilesOfTheMachine) {
    const TempFolder folder;
    const std::string path = folder.path() + "/catalogue.db";
    const auto steps = script();
    const auto contents = contents_of(steps);
    for (std::size_t i = 0; i < steps.size(); ++i) {  // opened anew for each step
        auto catalogue = Catalogue::open(posix_file_system(), path);
        ASSERT_TRUE(catalogue.has_value()) << catalogue.error().what;
        const Status done = steps[i].run(*catalogue);
        ASSERT_TRUE(done.has_value()) << i << ": " << done.error().what;
        EXPECT_EQ(text_of(*catalogue), contents[i + 1]) << i;
    }
}

TEST(Catalogue, TwoAtOnceDoNotMeet) {
    const auto first_disk = empty_disk();
    const auto second_disk = empty_disk();
    auto first = Catalogue::open(*first_disk, kCataloguePath);
    auto second = Catalogue::open(*second_disk, kCataloguePath);
    auto third = Catalogue::open(*first_disk, "/cache/file:other?mode=memory");  // a path, not a URI
    ASSERT_TRUE(first.has_value() && second.has_value() && third.has_value());
    ASSERT_TRUE(first->put(entry_of(10)).has_value());
    ASSERT_TRUE(third->put(entry_of(30)).has_value());
    EXPECT_EQ(text_of(*second), "last id 0 rate ");
    *second = std::move(*third);
    EXPECT_EQ(second->load()->last_id, 32u);
    EXPECT_EQ(first->load()->last_id, 12u);
}

// -- its parts -------------------------------------------------------------------------------------------------------

TEST(CatalogueTree, PlansFromTheLeavesDownWhateverTheOrder) {
    CatalogueTree tree;
    tree.add(1, {.parent = 0, .live = true});
    tree.add(2, {.parent = 1, .live = false});
    tree.add(3, {.parent = 2, .live = true});
    tree.add(4, {.parent = 2, .live = true});
    const auto plan = [&](std::vector<std::uint64_t> ids) { return tree.plan_removal(ids); };
    EXPECT_EQ(plan({3}).gone, std::vector<std::uint64_t>{3});
    EXPECT_EQ(plan({3, 4, 3}).gone, (std::vector<std::uint64_t>{4, 3, 2}));
    EXPECT_EQ(plan({1, 3, 4}).gone, (std::vector<std::uint64_t>{4, 3, 2, 1}));
    EXPECT_TRUE(plan({1, 3, 4}).paths.empty());
    EXPECT_EQ(plan({1, 3}).paths, std::vector<std::uint64_t>{1});
    EXPECT_EQ(plan({1, 3}).gone, std::vector<std::uint64_t>{3});
    EXPECT_TRUE(plan({2, 5}).gone.empty());
    EXPECT_TRUE(plan({2, 5}).paths.empty());
    tree.apply(plan({1, 3}));
    EXPECT_FALSE(tree.find(1)->live);
    EXPECT_EQ(plan({4}).gone, (std::vector<std::uint64_t>{4, 2, 1}));
    tree.apply(plan({4}));
    EXPECT_EQ(tree.size(), 0u);
}

std::string hex(std::string_view bytes) {
    std::string text;
    for (const char byte : bytes)
        text += fmt::format("{:02x}", static_cast<unsigned char>(byte));
    return text;
}

// The format is pinned: a catalogue of today must be read for ever.
TEST(CatalogueFormat, ChecksumsAreThoseOfThePage) {
    const std::string page = docs_file("formats/catalogue.md");
    ASSERT_FALSE(page.empty());
    RowHash hash;
    const PayloadRow row{.ns = 1, .payload = {7, PayloadKind::rows, 3, {2, 6}, 40, 4136}};
    const std::int64_t checksum = checksum_of(hash, row);
    std::string encoding;
    for (std::size_t at = 0; at < hash.bytes().size(); at += 8)
        encoding += hex(hash.bytes().substr(at, 8)) + "\n";
    EXPECT_EQ(checksum, -907095260856861094);
    EXPECT_NE(page.find(fmt::format("`{}`", checksum)), std::string::npos) << checksum;
    std::istringstream lines(encoding);
    for (std::string line; std::getline(lines, line);)
        EXPECT_NE(page.find(line), std::string::npos) << encoding;
}

TEST(CatalogueFormat, ThePageShowsTheSchema) {
    const std::string page = docs_file("formats/catalogue.md");
    std::istringstream lines(catalogue_schema_sql());
    std::string shown;
    for (std::string line; std::getline(lines, line);)
        shown += "    " + line + "\n";
    EXPECT_NE(page.find(shown), std::string::npos) << shown;
}

}  // namespace
}  // namespace cairn
