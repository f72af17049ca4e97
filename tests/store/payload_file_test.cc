#include "store/payload_file.h"

#include <gtest/gtest.h>
#include <xxhash.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "store/payload_reader.h"
#include "tests/store/payload_example.h"
#include "tests/store/sealed_bytes.h"
#include "tests/support/sim_file_system.h"

namespace cairn {
namespace {

using test::bytes_of;
using test::example_header;
using test::kExamplePayloads;

constexpr const char *kPath = "/cache/7.state";

std::string random_bytes(std::size_t size, std::uint64_t seed = 1) {
    std::mt19937_64 random(seed);
    std::string bytes(size, '\0');
    for (char &byte : bytes)
        byte = static_cast<char>(random());
    return bytes;
}

MutableBytes writable(std::string &text) {
    return std::as_writable_bytes(std::span<char>(text));
}

Status read_on(OpenPayload payload, std::string &to, int threads) {
    PayloadReader reader(threads);
    reader.add(std::move(payload), writable(to));
    return reader.wait(0);
}

class PayloadFile : public testing::Test {
protected:
    PayloadFile() {
        EXPECT_TRUE(disk.make_directories("/cache").has_value());
        disk.sync_all();
    }

    void write(const std::string &bytes, const std::string &path = kPath, std::uint64_t id = 7) {
        PayloadHeader changed = header;
        changed.id = id;
        const auto done = write_payload_file(disk, path, changed, bytes_of(bytes));
        ASSERT_TRUE(done.has_value()) << done.error().what;
    }
    /// What opening and checking every byte says.
    Status check(const std::string &path = kPath) {
        auto payload = open_payload_file(disk, path);
        if (!payload) return fail(payload.error());
        return payload->verify();
    }
    void expect_corrupt(const std::string &what) {
        const auto checked = check();
        ASSERT_FALSE(checked.has_value()) << what;
        ASSERT_EQ(checked.error().code, ErrorCode::corrupt) << what << ": " << checked.error().what;
        ASSERT_NE(checked.error().what.find(kPath), std::string::npos) << checked.error().what;
    }

    SimFileSystem disk;
    const PayloadHeader header = example_header(kExamplePayloads[1]);
};

TEST_F(PayloadFile, GivesBackWhatWasWrittenAtEverySizeAroundAChunk) {
    for (const std::size_t size : {std::size_t{0}, std::size_t{1}, 128_KiB, 1_MiB - 1, 1_MiB, 1_MiB + 1, 5_MiB + 77}) {
        const std::string bytes = random_bytes(size);
        write(bytes);
        for (const int threads : {-1, 1, 4, 100}) {
            auto payload = open_payload_file(disk, kPath);
            ASSERT_TRUE(payload.has_value()) << payload.error().what;
            PayloadHeader expected = header;
            expected.bytes = size;
            EXPECT_EQ(payload->header, expected);
            EXPECT_TRUE(payload->verify().has_value());
            std::string read(size, '\0');
            const auto done = read_on(std::move(*payload), read, threads);
            ASSERT_TRUE(done.has_value()) << done.error().what;
            EXPECT_TRUE(read == bytes) << size;
        }
        EXPECT_EQ(disk.info(kPath)->size, payload_file_bytes(size, header.tokens.size()));
    }
}

TEST_F(PayloadFile, AHeaderOfManyTokensTakesMorePages) {
    Tokens tokens(5000);
    for (std::size_t i = 0; i < tokens.size(); ++i)
        tokens[i] = static_cast<Token>(i * i);
    const PayloadHeader large = describe_payload(PayloadKind::rows, 9, test::example_namespace(), tokens, {100, 5000});
    ASSERT_TRUE(write_payload_file(disk, kPath, large, bytes_of("rows")).has_value());
    const auto payload = open_payload_file(disk, kPath);
    ASSERT_TRUE(payload.has_value()) << payload.error().what;
    EXPECT_EQ(payload->header.tokens, large.tokens);
    EXPECT_EQ(disk.info(kPath)->size, 5u * 4096 + 4);  // 128 + 4 x 4900 + 8 bytes
}

TEST_F(PayloadFile, ShortAndInterruptedReadsAndWritesChangeNothing) {
    const std::string bytes = random_bytes(2_MiB + 5);
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
        disk.set_short_io(seed);
        write(bytes);
        auto payload = open_payload_file(disk, kPath);
        ASSERT_TRUE(payload.has_value()) << payload.error().what;
        std::string read(bytes.size(), '\0');
        ASSERT_TRUE(read_on(std::move(*payload), read, 3).has_value());
        EXPECT_TRUE(read == bytes);
    }
}

TEST_F(PayloadFile, EverySingleBitThatIsWrongIsFound) {
    write("The rows of four tokens, ten bytes each.");
    const std::uint64_t bits = disk.info(kPath)->size * 8;
    for (std::uint64_t bit = 0; bit < bits; ++bit) {
        disk.flip_bit(kPath, bit);
        expect_corrupt(fmt::format("bit {}", bit));
        if (HasFatalFailure()) return;
        disk.flip_bit(kPath, bit);
    }
    EXPECT_TRUE(check().has_value());
}

TEST_F(PayloadFile, ABitThatIsWrongInAnyChunkIsFoundByEveryThread) {
    const std::string bytes = random_bytes(5_MiB + 77);
    write(bytes);
    const std::uint64_t data = payload_file_bytes(0, header.tokens.size());
    for (std::uint64_t at = 0; at < bytes.size(); at += 300'000) {
        disk.flip_bit(kPath, (data + at) * 8 + at % 8);
        for (const int threads : {1, 4}) {
            auto payload = open_payload_file(disk, kPath);
            ASSERT_TRUE(payload.has_value());
            std::string read(bytes.size(), '\0');
            const auto done = read_on(std::move(*payload), read, threads);
            ASSERT_FALSE(done.has_value()) << at;
            EXPECT_EQ(done.error().code, ErrorCode::corrupt);
        }
        disk.flip_bit(kPath, (data + at) * 8 + at % 8);
    }
}

TEST_F(PayloadFile, EveryOtherLengthIsRefused) {
    write("The rows of four tokens, ten bytes each.");
    const std::string whole = disk.content(kPath);
    for (std::size_t length = 0; length < whole.size(); ++length) {
        disk.set_content(kPath, whole.substr(0, length));
        expect_corrupt(fmt::format("{} bytes", length));
        if (HasFatalFailure()) return;
    }
    for (const std::size_t more : {1u, 512u, 4096u, 1u << 20}) {
        disk.set_content(kPath, whole + std::string(more, '\0'));
        expect_corrupt(fmt::format("{} more bytes", more));
    }
}

TEST_F(PayloadFile, ChunksOfOtherPlacesAndOtherFilesAreRefused) {
    const std::string same(3_MiB, 'x');  // three chunks of the same bytes
    write(same);
    const std::string file = disk.content(kPath);
    write(same, "/cache/8.state", 8);
    std::string other = disk.content("/cache/8.state");
    const auto checksum = [&](const std::string &bytes, int chunk) { return bytes.substr(128 + 4 * 4 + 8 * chunk, 8); };
    EXPECT_NE(checksum(file, 0), checksum(file, 1));
    EXPECT_NE(checksum(file, 1), checksum(file, 2));
    for (int chunk = 0; chunk < 3; ++chunk)
        EXPECT_NE(checksum(file, chunk), checksum(other, chunk));

    // As the format's page says, and not with the code that is tested.
    std::uint64_t first = 0, second = 0;
    std::memcpy(&first, checksum(file, 0).data(), sizeof first);
    std::memcpy(&second, checksum(file, 1).data(), sizeof second);
    EXPECT_EQ(first, XXH3_64bits_withSeed(same.data(), 1_MiB, 7 * 0x9e3779b97f4a7c15));
    EXPECT_EQ(second, XXH3_64bits_withSeed(same.data(), 1_MiB, 7 * 0x9e3779b97f4a7c15 + 1));

    write(random_bytes(2_MiB));
    std::string swapped = disk.content(kPath);
    std::swap_ranges(swapped.begin() + 4096, swapped.begin() + 4096 + 1_MiB, swapped.begin() + 4096 + 1_MiB);
    disk.set_content(kPath, swapped);
    expect_corrupt("swapped chunks");
}

TEST_F(PayloadFile, ANewerVersionIsToldFromDamage) {
    write("bytes");
    const std::string whole = disk.content(kPath);
    std::string newer = whole;
    test::put(newer, 8, std::uint32_t{2});
    disk.set_content(kPath, newer);
    expect_corrupt("a version that the checksum does not cover");

    newer[40] = '\x77';  // whatever it may mean there
    test::seal_again(newer);
    disk.set_content(kPath, newer + "and a length that this version knows nothing of");
    const auto checked = check();
    ASSERT_FALSE(checked.has_value());
    EXPECT_EQ(checked.error().code, ErrorCode::unsupported);
    EXPECT_NE(checked.error().what.find("newer cairn"), std::string::npos) << checked.error().what;

    std::string zero = whole;
    test::put(zero, 8, std::uint32_t{0});
    test::seal_again(zero);
    disk.set_content(kPath, zero);
    expect_corrupt("version 0");
}

// Whoever seals a header again may say anything in it. What contradicts itself is refused, what does not is read, and
// nothing is read or taken that is not there.
TEST_F(PayloadFile, AnyHeaderUnderARightChecksumIsReadSafely) {
    write(random_bytes(100));
    const std::string whole = disk.content(kPath);
    std::mt19937_64 random(7);
    const std::uint64_t interesting[] = {0,          1,          2,          0x7f,  0xff,      0x1000,
                                         0x7fffffff, 0x80000000, 0xffffffff, ~0ull, 1ull << 63};
    int read = 0;
    for (int i = 0; i < 20'000; ++i) {
        std::string file = whole;
        const std::size_t fields = 1 + random() % 3;
        for (std::size_t field = 0; field < fields; ++field) {
            const std::size_t at = 8 + random() % (164 - 8);
            const std::uint64_t value = random() % 4 == 0 ? random() : interesting[random() % std::size(interesting)];
            std::memcpy(file.data() + at, &value, 1 + random() % 8);
        }
        test::seal_again(file);
        disk.set_content(kPath, file);
        auto payload = open_payload_file(disk, kPath);
        if (!payload) continue;
        ++read;
        ASSERT_EQ(payload->header.bytes, 100u);
        std::string bytes(payload->header.bytes, '\0');
        (void)payload->read_chunk(0, writable(bytes));
        const NamespaceKey ns = test::example_namespace();
        (void)check_origin(payload->header, {PayloadKind::rows, 7, {2, 6}, &ns}, test::example_tokens(), 6);
    }
    EXPECT_GT(read, 100) << "the test should get past the first checks";
}

TEST_F(PayloadFile, SizesThatTheFileCannotHaveAreRefusedBeforeMemoryIsTaken) {
    write("bytes");
    const std::string whole = disk.content(kPath);
    for (const std::uint32_t header_bytes : {0u, 1u, 4095u, 8192u, 1u << 31, 0xfffff000u, 0xffffffffu}) {
        std::string file = whole;
        test::put(file, 12, header_bytes);
        test::seal_again(file);
        disk.set_content(kPath, file);
        expect_corrupt(fmt::format("a header of {} bytes", header_bytes));
    }
    for (const std::uint64_t bytes : {0ull, 4ull, 6ull, 1ull << 32, 1ull << 62, ~0ull, ~0ull - 4096}) {
        std::string file = whole;
        test::put(file, 104, bytes);
        test::seal_again(file);
        disk.set_content(kPath, file);
        expect_corrupt(fmt::format("a payload of {} bytes", bytes));
    }
    for (const std::size_t padding : {160u, 4095u}) {
        std::string file = whole;
        file[padding] = 1;
        test::seal_again(file);
        disk.set_content(kPath, file);
        expect_corrupt("something in the padding");
    }
}

TEST_F(PayloadFile, APayloadThatIsTooLargeIsRefusedBeforeAnythingIsWritten) {
    const std::byte byte{};
    const Bytes huge(&byte, std::size_t{1} << 50);  // never touched
    const auto done = write_payload_file(disk, kPath, header, huge);
    ASSERT_FALSE(done.has_value());
    EXPECT_EQ(done.error().code, ErrorCode::invalid_argument);
    EXPECT_TRUE(disk.files().empty());
    EXPECT_EQ(payload_file_bytes(std::uint64_t{1} << 50, 4), ~std::uint64_t{0});
    EXPECT_EQ(payload_file_bytes(~std::uint64_t{0}, 4), ~std::uint64_t{0});
    EXPECT_EQ(payload_file_bytes(1, ~std::size_t{0}), ~std::uint64_t{0});
}

TEST_F(PayloadFile, WhatAnInterruptedAttemptLeftIsReplaced) {
    disk.set_content(std::string(kPath) + ".tmp", random_bytes(100'000));
    write("bytes");
    EXPECT_TRUE(check().has_value());
    EXPECT_EQ(disk.files(), std::vector<std::string>{kPath});
}

TEST_F(PayloadFile, AnErrorOfWritingLeavesNothing) {
    const auto origin = disk.clone();
    const std::uint64_t begin = disk.operations();
    write(random_bytes(1_MiB + 3));
    const std::uint64_t operations = disk.operations() - begin;
    ASSERT_GE(operations, 7u);  // open, truncate, 3 writes, sync, rename, sync of the folder
    for (const ErrorCode code : {ErrorCode::io, ErrorCode::capacity, ErrorCode::cancelled}) {
        for (std::uint64_t n = 1; n <= operations; ++n) {
            const auto copy = origin->clone();
            copy->fail_operation(n, code);
            const auto done = write_payload_file(*copy, kPath, header, bytes_of(random_bytes(1_MiB + 3)));
            EXPECT_EQ(done.has_value(), code == ErrorCode::cancelled) << n;
            if (done) continue;
            EXPECT_EQ(done.error().code, code);
            EXPECT_TRUE(copy->files().empty()) << "operation " << n;
        }
    }
}

TEST_F(PayloadFile, AFullDiskLeavesNothing) {
    for (std::uint64_t space = 0; space < 3 * 4096; space += 1000) {
        const auto copy = disk.clone();
        copy->set_space(1 << 20, space);
        const auto done = write_payload_file(*copy, kPath, header, bytes_of(random_bytes(2 * 4096)));
        ASSERT_FALSE(done.has_value());
        EXPECT_EQ(done.error().code, ErrorCode::capacity);
        EXPECT_TRUE(copy->files().empty());
    }
}

// The process or the machine ends at any operation: under its name the file is complete, or it is not there.
TEST_F(PayloadFile, AnEndInTheMiddleLeavesACompleteFileOrNone) {
    const auto origin = disk.clone();
    const std::uint64_t begin = disk.operations();
    write(random_bytes(5000));
    const std::uint64_t operations = disk.operations() - begin;
    int complete = 0, none = 0;
    for (std::uint64_t n = 1; n <= operations + 1; ++n) {
        for (std::uint64_t seed = 0; seed < 60; ++seed) {
            const auto copy = origin->clone();
            copy->fail_operation(n, ErrorCode::io, Repeat::for_ever);
            const auto done = write_payload_file(*copy, kPath, header, bytes_of(random_bytes(5000)));
            seed == 0 ? copy->kill() : copy->crash(seed);
            auto payload = open_payload_file(*copy, kPath);
            if (!payload) {
                ASSERT_EQ(payload.error().code, ErrorCode::not_found) << payload.error().what;
                ASSERT_FALSE(done.has_value()) << "it was said to be safe";
                ++none;
                continue;
            }
            const auto checked = payload->verify();
            ASSERT_TRUE(checked.has_value()) << n << ", " << seed << ": " << checked.error().what;
            ++complete;
        }
    }
    EXPECT_GT(complete, 60);  // at least those of the attempt that nothing stopped
    EXPECT_GT(none, 60);
}

TEST_F(PayloadFile, EveryErrorOfReadingIsHandedUp) {
    const std::string bytes = random_bytes(3_MiB);
    write(bytes);
    for (const int threads : {1, 4}) {
        const std::uint64_t begin = disk.operations();
        std::string read(bytes.size(), '\0');
        ASSERT_TRUE(read_on(std::move(*open_payload_file(disk, kPath)), read, threads).has_value());
        const std::uint64_t operations = disk.operations() - begin;
        for (std::uint64_t n = 1; n <= operations; ++n) {
            disk.fail_operation(n, ErrorCode::io);
            auto payload = open_payload_file(disk, kPath);
            const Status done = payload ? read_on(std::move(*payload), read, threads) : fail(payload.error());
            ASSERT_FALSE(done.has_value()) << n;
            EXPECT_EQ(done.error().code, ErrorCode::io);
            disk.clear_faults();
        }
    }
    EXPECT_EQ(open_payload_file(disk, "/cache/none").error().code, ErrorCode::not_found);
}

TEST_F(PayloadFile, ACopyUnderAnotherIdIsAsIfWrittenAnew) {
    const std::string bytes = random_bytes(2_MiB + 9);
    write(bytes);
    write(bytes, "/cache/anew", 12);
    const auto payload = open_payload_file(disk, kPath);
    ASSERT_TRUE(payload.has_value());
    ASSERT_TRUE(copy_payload_file(disk, "/cache/copy", *payload, 12).has_value());
    EXPECT_TRUE(disk.content("/cache/copy") == disk.content("/cache/anew"));
    ASSERT_TRUE(copy_payload_file(disk, "/cache/same", *payload, 7).has_value());
    EXPECT_TRUE(disk.content("/cache/same") == disk.content(kPath));
}

TEST_F(PayloadFile, DamageIsNotCopied) {
    write(random_bytes(2_MiB));
    const auto payload = open_payload_file(disk, kPath);
    ASSERT_TRUE(payload.has_value());
    disk.flip_bit(kPath, (4096 + 1_MiB + 17) * 8);
    const auto done = copy_payload_file(disk, "/cache/copy", *payload, 12);
    ASSERT_FALSE(done.has_value());
    EXPECT_EQ(done.error().code, ErrorCode::corrupt);
    EXPECT_EQ(disk.files(), std::vector<std::string>{kPath});
}

}  // namespace
}  // namespace cairn
