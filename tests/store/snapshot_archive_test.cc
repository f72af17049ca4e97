#include "store/snapshot_archive.h"

#include <gtest/gtest.h>

#include <functional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "tests/store/payload_example.h"
#include "tests/store/sealed_bytes.h"
#include "tests/support/sim_file_system.h"

namespace cairn {
namespace {

using test::kExamplePayloads;

constexpr const char *kPath = "/out/snapshot.cairn";
constexpr std::size_t kHeaderBytes = 4096;

class SnapshotArchive : public testing::Test {
protected:
    SnapshotArchive() {
        for (const test::ExamplePayload &payload : kExamplePayloads) {
            paths.push_back(std::string("/cache/") + payload.file);
            disk.set_content(paths.back(), test::golden_file(payload.file));
        }
        disk.set_content("/in/not-empty", "x");
        EXPECT_TRUE(disk.make_directories("/out").has_value());
        disk.sync_all();
    }

    void write() {
        const auto done = write_archive(disk, kPath, header, paths, Existing::replace);
        ASSERT_TRUE(done.has_value()) << done.error().what;
    }
    /// What reading all of it says.
    Status check() {
        const auto archive = read_archive_header(disk, kPath);
        if (!archive) return fail(archive.error());
        return verify_archive(disk, kPath, *archive);
    }
    void expect_corrupt(const std::string &what) {
        const auto checked = check();
        ASSERT_FALSE(checked.has_value()) << what;
        ASSERT_EQ(checked.error().code, ErrorCode::corrupt) << what << ": " << checked.error().what;
    }

    SimFileSystem disk;
    ArchiveHeader header = test::example_archive();
    std::vector<std::string> paths;
};

TEST_F(SnapshotArchive, GivesBackTheHeaderAndThePayloads) {
    write();
    const auto archive = read_archive_header(disk, kPath);
    ASSERT_TRUE(archive.has_value()) << archive.error().what;
    EXPECT_EQ(*archive, header);
    EXPECT_EQ(archive->position(), 6);
    EXPECT_EQ(disk.info(kPath)->size, archive_bytes(header));
    EXPECT_TRUE(verify_archive(disk, kPath, *archive).has_value());
    for (std::size_t i = 0; i < 3; ++i) {
        const auto done = extract_payload(disk, kPath, *archive, i, 100 + i, "/in/new.state");
        ASSERT_TRUE(done.has_value()) << done.error().what;
        PayloadHeader anew = test::example_header(kExamplePayloads[i]);
        anew.id = 100 + i;
        ASSERT_TRUE(write_payload_file(disk, "/in/anew", anew, test::bytes_of(kExamplePayloads[i].text)).has_value());
        EXPECT_TRUE(disk.content("/in/new.state") == disk.content("/in/anew"));
    }
}

TEST_F(SnapshotArchive, HoldsThePayloadFilesAsTheyAre) {
    write();
    std::string whole;
    for (const std::string &path : paths)
        whole += disk.content(path);
    EXPECT_TRUE(disk.content(kPath).substr(kHeaderBytes) == whole);
}

TEST_F(SnapshotArchive, OfAModelWithRowsOnlyOrABoundaryOnlyIsWhole) {
    ArchiveHeader rows = header;
    rows.payloads.pop_back();
    rows.boundary = 0;
    rows.tokens.pop_back();  // ends inside the last rows
    ASSERT_TRUE(write_archive(disk, kPath, rows, std::span(paths).first(2), Existing::replace).has_value());
    EXPECT_EQ(read_archive_header(disk, kPath), rows);
    EXPECT_TRUE(check().has_value());

    ArchiveHeader boundary = header;
    boundary.payloads.erase(boundary.payloads.begin(), boundary.payloads.begin() + 2);
    boundary.rows = 0;
    ASSERT_TRUE(write_archive(disk, kPath, boundary, std::span(paths).last(1), Existing::replace).has_value());
    EXPECT_EQ(read_archive_header(disk, kPath), boundary);
    EXPECT_TRUE(check().has_value());
}

TEST_F(SnapshotArchive, KeepsLongTextsAndAllKinds) {
    for (const CheckpointKind kind :
         {CheckpointKind::system_end, CheckpointKind::last_user, CheckpointKind::last_user_end,
          CheckpointKind::prompt_end, CheckpointKind::answer_end, CheckpointKind::interval, CheckpointKind::fork}) {
        header.kind = kind;
        header.text = std::string(10'000, 'x') + '\0' + "\xff";
        header.model.clear();
        header.ns.tenant = "tenant-a";
        write();
        EXPECT_EQ(read_archive_header(disk, kPath), header);
    }
}

TEST_F(SnapshotArchive, EveryByteThatIsWrongIsFound) {
    write();
    const std::uint64_t size = disk.info(kPath)->size;
    for (std::uint64_t at = 0; at < size; ++at) {
        const std::uint64_t bit = at * 8 + at % 8;
        disk.flip_bit(kPath, bit);
        expect_corrupt(fmt::format("bit {}", bit));
        if (HasFatalFailure()) return;
        disk.flip_bit(kPath, bit);
    }
    EXPECT_TRUE(check().has_value());
}

TEST_F(SnapshotArchive, EveryOtherLengthIsRefusedByItsHeaderAlone) {
    write();
    const std::string whole = disk.content(kPath);
    const auto refused = [&] {
        const auto archive = read_archive_header(disk, kPath);
        return !archive && archive.error().code == ErrorCode::corrupt;
    };
    for (std::size_t length = 0; length < whole.size(); length += length % 4096 < 8 ? 1 : 61) {
        disk.set_content(kPath, whole.substr(0, length));
        ASSERT_TRUE(refused()) << length;
    }
    for (const std::size_t more : {1u, 4096u}) {
        disk.set_content(kPath, whole + std::string(more, '\0'));
        ASSERT_TRUE(refused()) << more;
    }
}

TEST_F(SnapshotArchive, ADamagedPayloadIsNotExtracted) {
    write();
    const auto archive = read_archive_header(disk, kPath);
    ASSERT_TRUE(archive.has_value());
    disk.flip_bit(kPath, (kHeaderBytes + 4096 + 3) * 8);  // in the bytes of payload 0
    const auto done = extract_payload(disk, kPath, *archive, 0, 100, "/in/new.state");
    ASSERT_FALSE(done.has_value());
    EXPECT_EQ(done.error().code, ErrorCode::corrupt);
    EXPECT_EQ(disk.info("/in/new.state").error().code, ErrorCode::not_found);
    EXPECT_TRUE(extract_payload(disk, kPath, *archive, 1, 101, "/in/new.state").has_value());
}

TEST_F(SnapshotArchive, ANewerVersionIsToldFromDamage) {
    write();
    std::string file = disk.content(kPath);
    test::put(file, 8, std::uint32_t{2});
    disk.set_content(kPath, file);
    expect_corrupt("not sealed");
    test::seal_again(file);
    disk.set_content(kPath, file);
    EXPECT_EQ(check().error().code, ErrorCode::unsupported);
    test::put(file, 8, std::uint32_t{0});
    test::seal_again(file);
    disk.set_content(kPath, file);
    expect_corrupt("version 0");
}

TEST_F(SnapshotArchive, APayloadFileIsNoArchive) {
    disk.set_content(kPath, disk.content(paths[0]));
    expect_corrupt("a payload file");
}

TEST_F(SnapshotArchive, WhatContradictsItselfIsNotWritten) {
    using Change = std::function<void(ArchiveHeader &)>;
    const std::vector<std::pair<const char *, Change>> wrong{
        {"no tokens", [](ArchiveHeader &h) { h.tokens.clear(); }},
        {"a negative token", [](ArchiveHeader &h) { h.tokens[3] = -1; }},
        {"no payloads", [](ArchiveHeader &h) { h.payloads.clear(), h.rows = h.boundary = 0; }},
        {"an id twice", [](ArchiveHeader &h) { h.payloads[2].id = h.boundary = 3; }},
        {"no id", [](ArchiveHeader &h) { h.payloads[2].id = h.boundary = 0; }},
        {"other rows named", [](ArchiveHeader &h) { h.rows = 3; }},
        {"no rows named", [](ArchiveHeader &h) { h.rows = 0; }},
        {"another boundary named", [](ArchiveHeader &h) { h.boundary = 9; }},
        {"a boundary elsewhere",
         [](ArchiveHeader &h) {
             h.payloads[2].span = {5, 5};
         }},
        {"a boundary with a parent", [](ArchiveHeader &h) { h.payloads[2].parent = 7; }},
        {"a boundary that is not last", [](ArchiveHeader &h) { std::swap(h.payloads[1], h.payloads[2]); }},
        {"children before parents", [](ArchiveHeader &h) { std::swap(h.payloads[0], h.payloads[1]); }},
        {"a root with a parent", [](ArchiveHeader &h) { h.payloads[0].parent = 7; }},
        {"another parent", [](ArchiveHeader &h) { h.payloads[1].parent = 8; }},
        {"a root that begins later",
         [](ArchiveHeader &h) {
             h.payloads[0].span = {1, 5};
         }},
        {"a gap", [](ArchiveHeader &h) { h.payloads[0].span.end = 1; }},
        {"rows that end early",
         [](ArchiveHeader &h) {
             h.tokens.push_back(1), h.payloads[2].span = {7, 7};
         }},
        {"rows behind the prefix",
         [](ArchiveHeader &h) {
             h.tokens.resize(2), h.payloads[2].span = {2, 2};
         }},
        {"a negative span", [](ArchiveHeader &h) { h.payloads[0].span.begin = -1; }},
        {"a span backwards",
         [](ArchiveHeader &h) {
             h.payloads[1].span = {4, 2};
         }},
        {"other sizes", [](ArchiveHeader &h) { ++h.payloads[1].file_bytes; }},
        {"sizes too large", [](ArchiveHeader &h) { h.payloads[1].bytes = h.payloads[1].file_bytes = ~0ull; }},
        {"a text too long", [](ArchiveHeader &h) { h.text.resize(65_MiB); }},
    };
    for (const auto &[what, change] : wrong) {
        ArchiveHeader changed = header;
        change(changed);
        paths.resize(changed.payloads.size());
        const auto done = write_archive(disk, kPath, changed, paths);
        ASSERT_FALSE(done.has_value()) << what;
        EXPECT_EQ(done.error().code, ErrorCode::invalid_argument) << what << ": " << done.error().what;
        paths.resize(3);
    }
    EXPECT_EQ(disk.info(kPath).error().code, ErrorCode::not_found);
}

TEST_F(SnapshotArchive, PayloadFilesThatAreNotTheListedOnesAreNotWritten) {
    using Change = std::function<void(ArchiveHeader &)>;
    const std::vector<std::pair<const char *, Change>> wrong{
        {"another tenant", [](ArchiveHeader &h) { h.ns.tenant = "tenant-b"; }},
        {"another model", [](ArchiveHeader &h) { h.ns.model.bytes[0] ^= 1; }},
        {"tokens of the rows", [](ArchiveHeader &h) { h.tokens[3] = 1; }},
        {"tokens before the rows", [](ArchiveHeader &h) { h.tokens[0] = 1; }},
        {"another span", [](ArchiveHeader &h) { h.payloads[0].span.end = 3; }},
        {"more bytes", [](ArchiveHeader &h) { ++h.payloads[2].bytes, ++h.payloads[2].file_bytes; }},
        {"another id", [](ArchiveHeader &h) { h.payloads[2].id = h.boundary = 9; }},
    };
    for (const auto &[what, change] : wrong) {
        ArchiveHeader changed = header;
        change(changed);
        const auto done = write_archive(disk, kPath, changed, paths);
        ASSERT_FALSE(done.has_value()) << what;
        EXPECT_EQ(done.error().code, ErrorCode::corrupt) << what << ": " << done.error().what;
    }
    disk.flip_bit(paths[1], 4100 * 8);
    const auto damaged = write_archive(disk, kPath, header, paths);
    EXPECT_EQ(damaged.error().code, ErrorCode::corrupt);
    EXPECT_NE(damaged.error().what.find(paths[1]), std::string::npos) << damaged.error().what;
    EXPECT_TRUE(disk.list("/out")->empty());
}

// An archive whose payloads are intact and sealed, but not the ones its header speaks of.
TEST_F(SnapshotArchive, PayloadsInsideThatAreNotTheListedOnesAreRefused) {
    write();
    std::string file = disk.content(kPath);
    test::put(file, 0x60, Token{1});  // another first token
    test::seal_again(file);
    disk.set_content(kPath, file);
    const auto archive = read_archive_header(disk, kPath);
    ASSERT_TRUE(archive.has_value()) << archive.error().what;
    for (std::size_t i = 0; i < 3; ++i) {
        const auto done = extract_payload(disk, kPath, *archive, i, 100, "/in/new.state");
        EXPECT_EQ(done.error().code, ErrorCode::corrupt) << i;
    }
    EXPECT_EQ(disk.list("/in")->size(), 1u);
}

TEST_F(SnapshotArchive, AnyHeaderUnderARightChecksumIsReadSafely) {
    write();
    const std::string whole = disk.content(kPath);
    std::mt19937_64 random(11);
    const std::uint64_t interesting[] = {0,      1,          2,          3,          6,     7,         8,
                                         0x1000, 0x7fffffff, 0x80000000, 0xffffffff, ~0ull, 1ull << 63};
    int read = 0;
    for (int i = 0; i < 20'000; ++i) {
        std::string file = whole;
        const std::size_t fields = 1 + random() % 3;
        for (std::size_t field = 0; field < fields; ++field) {
            const std::size_t at = 8 + random() % (0x130 - 8);
            const std::uint64_t value = random() % 4 == 0 ? random() : interesting[random() % std::size(interesting)];
            std::memcpy(file.data() + at, &value, 1 + random() % 8);
        }
        test::seal_again(file);
        disk.set_content(kPath, file);
        const auto archive = read_archive_header(disk, kPath);
        if (!archive) continue;
        ++read;
        (void)verify_archive(disk, kPath, *archive);
        ASSERT_EQ(archive_bytes(*archive), whole.size());
    }
    EXPECT_GT(read, 100) << "the test should get past the first checks";
}

TEST_F(SnapshotArchive, AnErrorOfWritingLeavesNothing) {
    const auto origin = disk.clone();
    const std::uint64_t begin = disk.operations();
    write();
    const std::uint64_t operations = disk.operations() - begin;
    for (std::uint64_t n = 1; n <= operations; ++n) {
        const auto copy = origin->clone();
        copy->fail_operation(n, ErrorCode::io);
        const auto done = write_archive(*copy, kPath, header, paths);
        ASSERT_FALSE(done.has_value()) << n;
        EXPECT_EQ(done.error().code, ErrorCode::io);
        EXPECT_TRUE(copy->list("/out")->empty()) << n;
    }
}

TEST_F(SnapshotArchive, EveryErrorOfExtractingIsHandedUpAndLeavesNothing) {
    write();
    const auto origin = disk.clone();
    const std::uint64_t begin = disk.operations();
    ASSERT_TRUE(extract_payload(disk, kPath, header, 1, 100, "/in/new.state").has_value());
    const std::uint64_t operations = disk.operations() - begin;
    for (std::uint64_t n = 1; n <= operations; ++n) {
        const auto copy = origin->clone();
        copy->fail_operation(n, ErrorCode::io);
        const auto done = extract_payload(*copy, kPath, header, 1, 100, "/in/new.state");
        ASSERT_FALSE(done.has_value()) << n;
        EXPECT_EQ(done.error().code, ErrorCode::io);
        EXPECT_EQ(copy->list("/in")->size(), 1u) << n;
    }
}

}  // namespace
}  // namespace cairn
