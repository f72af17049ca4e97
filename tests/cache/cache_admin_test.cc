// What people who look after a cache see of it and do to it: list, remove, keep, import.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "store/cache_admin.h"
#include "store/snapshot_archive.h"
#include "tests/cache/disk_bench.h"

namespace cairn {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

using Ids = std::vector<std::uint64_t>;

class CacheAdminTest : public testing::TestWithParam<SimFamily> {
protected:
    ListedSnapshot at(TokenPos position) {
        listing = bench.cache->list();
        for (const ListedNamespace &ns : listing.namespaces) {
            for (const ListedSnapshot &snapshot : ns.snapshots) {
                if (snapshot.position == position) return snapshot;
            }
        }
        ADD_FAILURE() << "nothing is listed at " << position;
        return {};
    }
    /// As `cairn cache export` does.
    void export_to(std::uint64_t id, const std::string &path) {
        listing = bench.cache->list();
        const ListedPlace place = find_listed(listing, id);
        ArchiveHeader header{.ns = place.ns->key,
                             .model = place.ns->model,
                             .tokens = bench.cache->tokens_of(id).value(),
                             .kind = place.snapshot->kind,
                             .text = place.snapshot->text,
                             .payloads = {},
                             .rows = place.snapshot->rows,
                             .boundary = place.snapshot->boundary};
        std::vector<std::string> paths;
        const Ids its = payloads_of(*place.ns, *place.snapshot);
        for (const StoredPayload &payload : place.ns->payloads) {
            if (std::find(its.begin(), its.end(), payload.id) != its.end()) header.payloads.push_back(payload);
        }
        std::stable_partition(header.payloads.begin(), header.payloads.end(),
                              [](const StoredPayload &payload) { return payload.kind == PayloadKind::rows; });
        for (const StoredPayload &payload : header.payloads)
            paths.push_back(payload_path_of(listing.directory, payload.id));
        const auto written = write_archive(*bench.disk, path, header, paths);
        ASSERT_TRUE(written.has_value()) << written.error().what;
    }
    Result<ImportReport> import_from(const std::string &path) {
        const auto header = read_archive_header(*bench.disk, path);
        if (!header) return fail(header.error());
        return bench.cache->import_archive(path, *header);
    }

    DiskBench bench{GetParam()};
    SnapshotListing listing;
    const Tokens prompt = text(700);
};

INSTANTIATE_TEST_SUITE_P(Families, CacheAdminTest,
                         testing::Values(SimFamily::attention, SimFamily::hybrid, SimFamily::recurrent,
                                         SimFamily::sliding_window, SimFamily::whole),
                         [](const auto &param) { return std::string(name_of(param.param)); });

TEST_P(CacheAdminTest, AStateIsListedWithItsTiersItsParentAndItsTokens) {
    bench.serve(prompt, {300, 699});
    bench.settle();
    const ListedSnapshot deep = at(699);
    EXPECT_EQ(deep.parent, at(300).id);
    EXPECT_TRUE(deep.is_in(Tier::disk));
    EXPECT_GT(deep.bytes, 0u);
    EXPECT_FALSE(deep.text.empty());
    EXPECT_EQ(bench.cache->tokens_of(deep.id).value(), first_of(prompt, 699));
    EXPECT_EQ(listing.disk.used, bench.cache->stats().disk_bytes);
    EXPECT_EQ(listing.directory, DiskBench::kPath);
}

TEST_P(CacheAdminTest, ARunningCacheAndTheStoppedDirectoryListTheSame) {
    bench.serve(prompt, {300, 699});
    bench.settle();
    bench.stop();
    bench.start();
    SnapshotListing running = bench.cache->list();
    bench.stop();
    const auto directory = CacheDirectory::open(*bench.disk, DiskBench::kPath, "a test");
    ASSERT_TRUE(directory.has_value());
    SnapshotListing stopped = listing_of(*directory, running.now_unix_s);
    stopped.device = running.device;  // a directory knows of no budgets
    stopped.ram = running.ram;
    stopped.disk.limit = running.disk.limit;
    ASSERT_EQ(running.namespaces.size(), 1u);
    ASSERT_EQ(stopped.namespaces.size(), 1u);
    // Only the model's vocabulary tells the text behind a parent that was written later.
    for (SnapshotListing *each : {&running, &stopped}) {
        EXPECT_FALSE(each->namespaces[0].snapshots[0].text.empty());
        for (ListedSnapshot &snapshot : each->namespaces[0].snapshots)
            snapshot.text.clear();
    }
    EXPECT_EQ(to_json(running), to_json(stopped));
}

TEST_P(CacheAdminTest, WhatIsRemovedIsGoneFromAllTiersAndStaysAway) {
    bench.serve(prompt, {300, 699});
    bench.settle();
    ASSERT_TRUE(bench.cache->remove(Ids{at(300).id, at(699).id}).has_value());
    EXPECT_THAT(bench.cache->list().namespaces, IsEmpty());
    bench.cache->check_invariants();
    EXPECT_EQ(bench.serve(prompt, {}).cached, 0);
    bench.stop();
    bench.start();
    EXPECT_EQ(bench.serve(prompt, {}).cached, 0);
    EXPECT_THAT(bench.payload_files(), IsEmpty());
}

TEST_P(CacheAdminTest, UnknownIdsAreNamedAndNothingIsRemoved) {
    bench.serve(prompt, {699});
    bench.settle();
    const std::uint64_t id = at(699).id;
    const Status removed = bench.cache->remove(Ids{id, 12345, 12346});
    ASSERT_FALSE(removed.has_value());
    EXPECT_EQ(removed.error().code, ErrorCode::not_found);
    EXPECT_THAT(removed.error().what, HasSubstr("12345, 12346"));
    EXPECT_EQ(at(699).id, id);
}

TEST_P(CacheAdminTest, WhatIsInUseIsNotRemoved) {
    bench.serve(prompt, {699});
    bench.settle();
    const Ids ids{at(699).id};
    {
        const Lookup lookup = bench.cache->find("", prompt, 699);
        const Status removed = bench.cache->remove(ids);
        ASSERT_FALSE(removed.has_value());
        EXPECT_EQ(removed.error().code, ErrorCode::capacity);
    }
    EXPECT_TRUE(bench.cache->remove(ids).has_value());
}

TEST_P(CacheAdminTest, AKeptStateGoesToDiskThoughAdmissionRefusesItsLike) {
    // A stream of prompts that never come back teaches admission to refuse them.
    for (std::size_t i = 0; i < 90; ++i) {
        bench.serve_end(text(60, i + 20));
        bench.settle();
    }
    bench.serve_end(prompt);
    bench.settle();
    ASSERT_FALSE(at(699).is_in(Tier::disk)) << "admission took it without being asked";
    const auto kept = bench.cache->keep("", first_of(prompt, 699));
    ASSERT_TRUE(kept.has_value()) << kept.error().what;
    bench.settle();
    EXPECT_EQ(at(699).id, *kept);
    EXPECT_TRUE(at(699).is_in(Tier::disk));
}

TEST_P(CacheAdminTest, AnArchiveIsOfUseAtOnceAndAfterARestart) {
    bench.serve(prompt, {300, 699});
    bench.settle();
    export_to(at(699).id, "/exported.cairn");
    ASSERT_TRUE(bench.cache->remove(Ids{at(699).id}).has_value());
    const auto imported = import_from("/exported.cairn");
    ASSERT_TRUE(imported.has_value()) << imported.error().what;
    EXPECT_FALSE(imported->was_there);
    EXPECT_EQ(at(699).id, imported->id);
    EXPECT_EQ(at(699).parent, at(300).id);
    bench.cache->check_invariants();
    EXPECT_EQ(bench.serve_end(prompt).cached, 699);
    bench.kill();
    bench.start();
    EXPECT_EQ(bench.serve_end(prompt).tier, Tier::disk);
    EXPECT_EQ(bench.serve_end(prompt).cached, 699);
}

TEST_P(CacheAdminTest, AnArchiveOfWhatIsThereChangesNothing) {
    bench.serve(prompt, {300, 699});
    bench.settle();
    const std::uint64_t id = at(699).id;
    export_to(id, "/exported.cairn");
    const auto files = bench.payload_files();
    const auto imported = import_from("/exported.cairn");
    ASSERT_TRUE(imported.has_value()) << imported.error().what;
    EXPECT_TRUE(imported->was_there);
    EXPECT_EQ(imported->id, id);
    EXPECT_EQ(bench.payload_files(), files);
}

TEST_P(CacheAdminTest, AnArchiveOfAnotherModelIsRefused) {
    bench.serve(prompt, {699});
    bench.settle();
    export_to(at(699).id, "/exported.cairn");
    auto header = read_archive_header(*bench.disk, "/exported.cairn");
    ASSERT_TRUE(header.has_value());
    header->ns.model.bytes[0] ^= 1;
    const auto imported = bench.cache->import_archive("/exported.cairn", *header);
    ASSERT_FALSE(imported.has_value());
    EXPECT_EQ(imported.error().code, ErrorCode::unsupported);
    EXPECT_THAT(imported.error().what, HasSubstr(header->ns.model.hex()));
}

TEST_P(CacheAdminTest, AnArchiveThatTheDiskCannotTakeLeavesNothingBehind) {
    bench.serve(prompt, {300, 699});
    bench.settle();
    export_to(at(699).id, "/exported.cairn");
    const auto header = read_archive_header(*bench.disk, "/exported.cairn");
    ASSERT_TRUE(header.has_value());
    int failures = 0;
    for (std::uint64_t n = 1; n < 40; ++n) {
        ASSERT_TRUE(bench.cache->remove(Ids{at(699).id}).has_value());
        bench.settle();
        bench.stop();
        bench.start();
        const auto files = bench.payload_files();
        const std::size_t used = bench.cache->stats().disk_bytes;
        bench.disk->fail_operation(n, ErrorCode::io);
        const auto imported = bench.cache->import_archive("/exported.cairn", *header);
        bench.disk->clear_faults();
        bench.cache->check_invariants();
        if (!imported) {
            ++failures;
            EXPECT_EQ(bench.payload_files(), files) << "operation " << n;
            EXPECT_EQ(bench.cache->stats().disk_bytes, used) << "operation " << n;
            ASSERT_TRUE(bench.cache->import_archive("/exported.cairn", *header).has_value()) << "operation " << n;
        }
        EXPECT_EQ(bench.serve_end(prompt).cached, 699);
    }
    EXPECT_GT(failures, 5);
}

TEST_P(CacheAdminTest, SnapshotsOfOtherModelsAreListedAndCanBeRemoved) {
    bench.serve(prompt, {300, 699}, "", CheckpointKind::system_end);
    bench.settle();
    bench.stop();
    bench.config.weights = "another model";
    bench.start();
    EXPECT_EQ(bench.cache->stats().snapshots, 0u) << "none that a lookup may find";
    EXPECT_EQ(bench.serve(prompt, {500}).cached, 0);
    EXPECT_EQ(bench.cache->stats().snapshots, 1u);
    EXPECT_EQ(bench.metrics.value(Metric::snapshots), 1);
    const ListedSnapshot foreign = at(699);
    EXPECT_EQ(foreign.parent, at(300).id);
    EXPECT_EQ(bench.cache->tokens_of(foreign.id).error().code, ErrorCode::unsupported);
    ASSERT_TRUE(bench.cache->remove(Ids{foreign.id}).has_value());
    EXPECT_EQ(find_listed(bench.cache->list(), foreign.id).snapshot, nullptr);
}

}  // namespace
}  // namespace cairn
