// Files as version 1 writes them, for ever: tests/golden. Each is read, and written again to the same bytes; the pages
// in docs/formats show parts of them. A new version gets files of its own beside these.
#include <gtest/gtest.h>

#include <charconv>
#include <sstream>
#include <string>
#include <vector>

#include "tests/store/payload_example.h"
#include "tests/support/docs_file.h"
#include "tests/support/sim_file_system.h"

namespace cairn {
namespace {

/// Compares each line "    0000002a  00 01 ...  |..|" of a page with the bytes of a file. The number of lines.
int expect_dump(const std::string &page, const std::string &file) {
    std::istringstream lines(docs_file(page));
    int found = 0;
    for (std::string line; std::getline(lines, line);) {
        if (line.size() < 80 || line.substr(0, 8) != "    0000" || line.find("  |") == std::string::npos) continue;
        std::istringstream words(line);
        std::size_t offset = 0;
        words >> std::hex >> offset;
        std::string expected;
        for (unsigned byte = 0; words >> std::hex >> byte;)
            expected += static_cast<char>(byte);
        EXPECT_FALSE(expected.empty()) << line;
        EXPECT_EQ(file.substr(std::min(offset, file.size()), expected.size()), expected) << page << ": " << line;
        ++found;
    }
    return found;
}

TEST(GoldenFiles, PayloadsAreReadAndWrittenAgainToTheSameBytes) {
    for (const test::ExamplePayload &example : test::kExamplePayloads) {
        const std::string golden = test::golden_file(example.file);
        ASSERT_FALSE(golden.empty()) << example.file;
        SimFileSystem disk;
        disk.set_content("/golden", golden);
        auto payload = open_payload_file(disk, "/golden");
        ASSERT_TRUE(payload.has_value()) << payload.error().what;
        EXPECT_EQ(payload->header, test::example_header(example));
        std::string text(example.text.size(), '\0');
        ASSERT_TRUE(payload->read_chunk(0, std::as_writable_bytes(std::span<char>(text))).has_value());
        EXPECT_EQ(text, example.text);
        ASSERT_TRUE(
            write_payload_file(disk, "/again", test::example_header(example), test::bytes_of(text)).has_value());
        EXPECT_TRUE(disk.content("/again") == golden) << example.file;
    }
}

TEST(GoldenFiles, AnArchiveIsReadAndWrittenAgainToTheSameBytes) {
    const std::string golden = test::golden_file(test::kExampleArchive);
    ASSERT_FALSE(golden.empty());
    SimFileSystem disk;
    disk.set_content("/golden", golden);
    const auto archive = read_archive_header(disk, "/golden");
    ASSERT_TRUE(archive.has_value()) << archive.error().what;
    EXPECT_EQ(*archive, test::example_archive());
    std::vector<std::string> paths;
    for (const test::ExamplePayload &example : test::kExamplePayloads) {
        paths.push_back(std::string("/") + example.file);
        disk.set_content(paths.back(), test::golden_file(example.file));
    }
    ASSERT_TRUE(write_archive(disk, "/again", *archive, paths).has_value());
    EXPECT_TRUE(disk.content("/again") == golden);
}

TEST(GoldenFiles, ThePagesOfTheFormatsShowThem) {
    EXPECT_GT(expect_dump("formats/payload.md", test::golden_file(test::kExamplePayloads[1].file)), 10);
    EXPECT_GT(expect_dump("formats/archive.md", test::golden_file(test::kExampleArchive)), 10);
}

}  // namespace
}  // namespace cairn
