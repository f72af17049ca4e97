#include "store/payload_reader.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "tests/store/payload_example.h"
#include "tests/support/sim_file_system.h"

namespace cairn {
namespace {

class PayloadReaderTest : public testing::TestWithParam<int> {
protected:
    PayloadReaderTest() {
        EXPECT_TRUE(disk_.make_directories("/cache").has_value());
        std::mt19937_64 random(3);
        for (const std::size_t size : {2_MiB + 5, std::size_t{1}, std::size_t{0}, 1_MiB, 3_MiB + 1, 64_KiB}) {
            std::string bytes(size, '\0');
            for (char &byte : bytes)
                byte = static_cast<char>(random());
            PayloadHeader header = test::example_header(test::kExamplePayloads[1]);
            EXPECT_TRUE(write_payload_file(disk_, path(written_.size()), header, test::bytes_of(bytes)).has_value());
            written_.push_back(bytes);
            read_.emplace_back(size, '\0');
        }
    }

    static std::string path(std::size_t piece) { return fmt::format("/cache/{}.state", piece); }
    void add(PayloadReader &reader, std::size_t piece) {
        auto payload = open_payload_file(disk_, path(piece));
        ASSERT_TRUE(payload.has_value()) << payload.error().what;
        reader.add(std::move(*payload), std::as_writable_bytes(std::span<char>(read_[piece])));
    }
    /// Flips a bit in the last chunk of a piece, behind its header.
    void damage(std::size_t piece) { disk_.flip_bit(path(piece), disk_.info(path(piece))->size * 8 - 1); }

    SimFileSystem disk_;
    std::vector<std::string> written_;
    std::vector<std::string> read_;
};

TEST_P(PayloadReaderTest, EachPieceIsThereWhenItIsSaidToBe) {
    PayloadReader reader(GetParam());
    for (std::size_t i = 0; i < written_.size(); ++i)
        add(reader, i);
    EXPECT_EQ(reader.pieces(), written_.size());
    for (std::size_t i = 0; i < written_.size(); ++i) {
        ASSERT_TRUE(reader.wait(i).has_value());
        EXPECT_TRUE(read_[i] == written_[i]) << i;
    }
    ASSERT_TRUE(reader.wait(0).has_value());
}

TEST_P(PayloadReaderTest, PiecesMayComeWhileOthersAreRead) {
    PayloadReader reader(GetParam());
    for (std::size_t i = 0; i < written_.size(); ++i) {
        add(reader, i);
        if (i == 0) continue;
        ASSERT_TRUE(reader.wait(i - 1).has_value());
    }
    ASSERT_TRUE(reader.wait(written_.size() - 1).has_value());
    EXPECT_TRUE(read_ == written_);
}

TEST_P(PayloadReaderTest, APieceBehindOthersBringsThemAlong) {
    PayloadReader reader(GetParam());
    for (std::size_t i = 0; i < written_.size(); ++i)
        add(reader, i);
    ASSERT_TRUE(reader.wait(written_.size() - 1).has_value());
    EXPECT_TRUE(read_.back() == written_.back());
}

TEST_P(PayloadReaderTest, ADamagedPieceIsNamedAndThoseBeforeItStay) {
    damage(4);
    PayloadReader reader(GetParam());
    for (std::size_t i = 0; i < 4; ++i)
        add(reader, i);
    ASSERT_TRUE(reader.wait(3).has_value());
    add(reader, 4);
    add(reader, 5);
    const Status done = reader.wait(4);
    ASSERT_FALSE(done.has_value());
    EXPECT_EQ(done.error().code, ErrorCode::corrupt);
    EXPECT_NE(done.error().what.find(path(4)), std::string::npos) << done.error().what;
    EXPECT_EQ(reader.failed_piece(), 4u);
    for (std::size_t i = 0; i < 4; ++i) {
        EXPECT_TRUE(reader.wait(i).has_value()) << i;
        EXPECT_TRUE(read_[i] == written_[i]) << i;
    }
}

TEST_P(PayloadReaderTest, WhatLiesBeforeADamagedPieceBecomesReadyAlsoWhileItIsRead) {
    damage(3);
    for (int round = 0; round < 20; ++round) {
        PayloadReader reader(GetParam());
        for (std::size_t i = 0; i < written_.size(); ++i)
            add(reader, i);
        const Status done = reader.wait(3);
        ASSERT_FALSE(done.has_value());
        EXPECT_EQ(reader.failed_piece(), 3u);
        for (std::size_t i = 0; i < 3; ++i) {
            ASSERT_TRUE(reader.wait(i).has_value()) << i;
            EXPECT_TRUE(read_[i] == written_[i]) << i;
        }
    }
}

TEST_P(PayloadReaderTest, MayEndWithoutAWait) {
    PayloadReader reader(GetParam());
    for (std::size_t i = 0; i < written_.size(); ++i)
        add(reader, i);
}

INSTANTIATE_TEST_SUITE_P(Threads, PayloadReaderTest, testing::Values(-1, 1, 2, 4));

}  // namespace
}  // namespace cairn
