// The disk lies, fails, tears and is mutated: requests go on, no wrong state is ever restored, all is accounted for.
#include <gtest/gtest.h>

#include <random>

#include "tests/cache/disk_bench.h"

namespace cairn {
namespace {

/// A conversation with a fork and another one: what each of these tests disturbs.
const std::vector<Tokens> &prompts() {
    static const std::vector<Tokens> all = [] {
        const Tokens first = text(260);
        return std::vector<Tokens>{first, first + text(40, 2), first_of(first, 130) + text(60, 3), text(90, 7)};
    }();
    return all;
}

/// Serves all prompts, twice; every answer is compared with the cold one in serve().
void serve_all(DiskBench &bench, int rounds = 2) {
    for (int round = 0; round < rounds; ++round) {
        for (const Tokens &prompt : prompts()) {
            bench.serve(prompt, {120, static_cast<TokenPos>(prompt.size()) - 1});
            bench.settle();
        }
    }
}

/// Operations on files that serving all prompts takes.
std::uint64_t operations_of(SimFamily family, int rounds) {
    DiskBench bench(family);
    const std::uint64_t before = bench.disk->operations();
    serve_all(bench, rounds);
    return bench.disk->operations() - before;
}

/// The cache is whole, gives everything up, and nothing is left of it in memory or in the accounts.
void expect_nothing_leaks(DiskBench &bench) {
    bench.cache->check_invariants();
    bench.cache->clear();
    bench.cache->check_invariants();
    const CacheStats stats = bench.cache->stats();
    EXPECT_EQ(stats.snapshots + stats.ram_bytes + stats.disk_bytes + stats.device_bytes + stats.leases, 0u);
}

class FaultyDisk : public testing::TestWithParam<SimFamily> {};

INSTANTIATE_TEST_SUITE_P(Families, FaultyDisk, testing::Values(SimFamily::attention, SimFamily::hybrid),
                         [](const auto &param) { return std::string(name_of(param.param)); });

// Each operation in turn, once and from then on for ever: no request fails, no answer is wrong.
TEST_P(FaultyDisk, AFailureAtAnyOperationCostsNoAnswer) {
    const std::uint64_t operations = operations_of(GetParam(), 2);
    ASSERT_GT(operations, 50u);
    for (std::uint64_t n = 1; n <= operations; ++n) {
        for (const ErrorCode code : {ErrorCode::capacity, ErrorCode::io}) {
            SCOPED_TRACE(testing::Message() << "operation " << n << ", " << name_of(code));
            DiskBench bench(GetParam());
            bench.disk->fail_operation(n, code, n % 3 == 0 ? Repeat::for_ever : Repeat::once);
            serve_all(bench);
            bench.disk->clear_faults();
            serve_all(bench, 1);
            expect_nothing_leaks(bench);
            if (testing::Test::HasFailure()) return;
        }
    }
}

TEST_P(FaultyDisk, AFailureWhileOpeningIsAnErrorOrAnEmptyCacheNeverAWrongOne) {
    DiskBench bench(GetParam());
    serve_all(bench);
    bench.stop();
    const auto saved = bench.disk->clone();
    const std::uint64_t before = bench.disk->operations();
    bench.start();
    const std::uint64_t operations = bench.disk->operations() - before;
    bench.stop();
    for (std::uint64_t n = 1; n <= operations; ++n) {
        for (const ErrorCode code : {ErrorCode::capacity, ErrorCode::io}) {
            SCOPED_TRACE(testing::Message() << "operation " << n << ", " << name_of(code));
            bench.disk = saved->clone();
            bench.disk->fail_operation(n, code);
            bench.start();
            serve_all(bench, 1);
            bench.stop();
            if (testing::Test::HasFailure()) return;
        }
    }
}

TEST_P(FaultyDisk, ReadsThatFailAreMisses) {
    DiskBench bench(GetParam());
    serve_all(bench);
    bench.stop();
    const auto saved = bench.disk->clone();
    for (std::uint64_t n = 1; n <= 12; ++n) {
        SCOPED_TRACE(n);
        bench.disk = saved->clone();
        bench.start();
        bench.disk->fail_operation(n, ErrorCode::io);
        serve_all(bench, 1);
        expect_nothing_leaks(bench);
        bench.stop();
    }
}

TEST_P(FaultyDisk, ShortAndInterruptedTransfersChangeNothing) {
    DiskBench bench(GetParam());
    for (std::uint64_t seed = 1; seed <= 6; ++seed) {
        bench.disk->set_short_io(seed);
        serve_all(bench, 1);
        bench.stop();
        bench.disk->set_short_io(seed + 100);
        EXPECT_EQ(bench.start(), std::nullopt);
        EXPECT_EQ(bench.serve_end(prompts()[1]).cached, 299);
    }
    EXPECT_EQ(bench.metrics.value(Metric::disk_failures_total, "write_io"), 0);
}

/// The process ends at each operation in turn; `end` says how. The next start serves what is whole.
template <class End>
void end_at_each_operation(SimFamily family, End end) {
    const std::uint64_t operations = operations_of(family, 1);
    for (std::uint64_t n = 1; n <= operations; ++n) {
        SCOPED_TRACE(n);
        DiskBench bench(family);
        bench.disk->fail_operation(n, ErrorCode::io, Repeat::for_ever);  // from here on the process is no more
        serve_all(bench, 1);
        end(bench, n);
        ASSERT_EQ(bench.start(), std::nullopt);
        serve_all(bench, 1);
        expect_nothing_leaks(bench);
        if (testing::Test::HasFailure()) return;
    }
}

TEST_P(FaultyDisk, AKillAtAnyOperationLeavesADirectoryThatOpens) {
    end_at_each_operation(GetParam(), [](DiskBench &bench, std::uint64_t) { bench.kill(); });
}

TEST_P(FaultyDisk, ALossOfPowerAtAnyOperationLeavesADirectoryThatOpens) {
    end_at_each_operation(GetParam(), [](DiskBench &bench, std::uint64_t n) { bench.crash(n); });
}

/// One change to one file of the directory.
void mutate(SimFileSystem &disk, std::mt19937_64 &random) {
    std::vector<std::string> files = disk.files();
    const auto any = [&](std::size_t count) { return static_cast<std::size_t>(random() % count); };
    const std::string path = files[any(files.size())];
    const std::string content = disk.content(path);
    switch (any(8)) {
        case 0:
        case 1:
        case 2:
            if (!content.empty()) disk.flip_bit(path, any(content.size() * 8));
            break;
        case 3: disk.set_content(path, content.substr(0, content.empty() ? 0 : any(content.size()))); break;
        case 4: disk.set_content(path, disk.content(files[any(files.size())])); break;
        case 5: (void)disk.remove(path); break;
        case 6: disk.replace_with_directory(path); break;
        case 7: disk.set_read_only(path, true); break;
    }
}

// CAIRN_MUTATIONS in the environment of `make soak` makes it more.
TEST_P(FaultyDisk, NoMutationOfTheDirectoryIsAccepted) {
    const char *wanted = std::getenv("CAIRN_MUTATIONS");
    const int mutations = wanted != nullptr ? std::atoi(wanted) : 400;
    DiskBench bench(GetParam());
    bench.config.checks_payloads = false;  // the backend believes what it is given: only the disk tier can tell
    bench.stop();
    bench.start();
    serve_all(bench);
    bench.stop();
    const auto saved = bench.disk->clone();
    std::mt19937_64 random(20261129);
    int opened = 0;
    for (int i = 0; i < mutations; ++i) {
        SCOPED_TRACE(i);
        bench.disk = saved->clone();
        mutate(*bench.disk, random);
        const auto error = bench.start();
        opened += error ? 0 : 1;
        serve_all(bench, 1);  // compares every answer with the cold one
        bench.stop();
        if (testing::Test::HasFailure()) return;
    }
    EXPECT_GT(opened, mutations * 3 / 4);
}

}  // namespace
}  // namespace cairn
