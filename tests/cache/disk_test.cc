// The cache with its disk tier: what is there after a restart, what survives which end, what damage does.
#include <gtest/gtest.h>

#include "tests/cache/disk_bench.h"

namespace cairn {
namespace {

class EveryFamilyOnDisk : public testing::TestWithParam<SimFamily> {};

INSTANTIATE_TEST_SUITE_P(Families, EveryFamilyOnDisk,
                         testing::Values(SimFamily::attention, SimFamily::hybrid, SimFamily::recurrent,
                                         SimFamily::sliding_window, SimFamily::whole),
                         [](const auto &param) { return std::string(name_of(param.param)); });

TEST_P(EveryFamilyOnDisk, ARestartComputesOneTokenOfAnIdenticalPrompt) {
    DiskBench bench(GetParam());
    const Tokens prompt = text(700);
    bench.serve(prompt, {300, 699});
    bench.stop();
    bench.start();
    const Served again = bench.serve_end(prompt);
    EXPECT_EQ(again.cached, 699);
    EXPECT_EQ(again.tier, Tier::disk);
    EXPECT_EQ(bench.serve_end(prompt + text(50, 9)).cached, 699);
    EXPECT_EQ(bench.serve_end(first_of(prompt, 300) + text(50, 8)).cached, 300);
}

TEST_P(EveryFamilyOnDisk, WhatHasSettledSurvivesAKill) {
    DiskBench bench(GetParam());
    const Tokens prompt = text(700);
    bench.serve_end(prompt);
    bench.settle();
    bench.kill();
    bench.start();
    EXPECT_EQ(bench.serve_end(prompt).cached, 699);
    EXPECT_TRUE(bench.notes.empty()) << bench.notes.front();
}

TEST_P(EveryFamilyOnDisk, APromotedStateIsRestoredFromRamTheNextTime) {
    DiskBench bench(GetParam());
    const Tokens prompt = text(400);
    bench.serve_end(prompt);
    bench.stop();
    bench.start();
    EXPECT_EQ(bench.serve_end(prompt).tier, Tier::disk);
    EXPECT_EQ(bench.serve_end(prompt).tier, Tier::ram);
    EXPECT_EQ(bench.cache->stats().ram_bytes > 0, true);
}

TEST_P(EveryFamilyOnDisk, AConversationStoresEachTurnsRowsOnce) {
    if (GetParam() == SimFamily::whole) return;  // nothing of it can be shared
    DiskBench bench(GetParam());
    Tokens prompt = text(500);
    bench.serve_end(prompt);
    bench.settle();
    for (std::size_t turn = 0; turn < 5; ++turn) {
        prompt = prompt + text(40, turn + 2);
        bench.serve_end(prompt);
        bench.settle();
    }
    // Each turn writes at most two files, with a header of 4 KiB and their tokens.
    const std::size_t rows_once = prompt.size() * (bench.config.row_bytes + sizeof(Token));
    const std::size_t most = rows_once + 6 * 2 * (4096 + 2 * bench.config.boundary_bytes);
    EXPECT_LE(bench.metrics.value(Metric::disk_written_bytes_total), static_cast<double>(most));
    bench.kill();
    bench.start();
    EXPECT_EQ(bench.serve_end(prompt).cached, static_cast<TokenPos>(prompt.size()) - 1);
}

TEST_P(EveryFamilyOnDisk, ANewTurnBuildsOnRowsThatAreOnDiskAlone) {
    // RAM holds one turn's new part, not the whole conversation.
    DiskBench bench(GetParam(), disk_policy(64_MiB, 48_KiB));
    Tokens prompt = text(600);
    bench.serve_end(prompt);
    bench.settle();
    for (std::size_t other = 0; other < 6; ++other) {
        bench.serve_end(text(600, 20 + other));
        bench.settle();
    }
    prompt = prompt + text(30, 3);
    EXPECT_EQ(bench.serve_end(prompt).cached, 599);
    bench.settle();
    bench.kill();
    bench.start();
    EXPECT_EQ(bench.serve_end(prompt).cached, 629);
}

TEST_P(EveryFamilyOnDisk, TenantsAndModelsShareADirectoryAndNothingElse) {
    DiskBench bench(GetParam());
    const Tokens prompt = text(300);
    bench.serve_end(prompt, "anna");
    bench.stop();
    bench.config.weights = "others";
    bench.start();
    EXPECT_EQ(bench.serve_end(prompt, "anna").cached, 0);
    bench.stop();
    bench.config.weights = "sim";
    bench.start();
    EXPECT_EQ(bench.serve_end(prompt, "bert").cached, 0);
    EXPECT_EQ(bench.serve_end(prompt, "anna").cached, 299);
}

TEST_P(EveryFamilyOnDisk, TheBudgetHoldsAndWhatIsLeftIsWhole) {
    DiskBench bench(GetParam(), disk_policy(200'000, 8_MiB));
    for (std::size_t i = 0; i < 30; ++i) {
        bench.serve_end(text(300, i));
        bench.settle();
        EXPECT_LE(bench.cache->stats().disk_bytes, 200'000u);
    }
    std::size_t bytes = 0;
    for (const std::string &path : bench.payload_files())
        bytes += (bench.disk->content(path).size() + 4095) / 4096 * 4096;
    EXPECT_LE(bytes, 200'000u);
    EXPECT_GT(bench.metrics.value(Metric::snapshots_evicted_total, "disk"), 0);
    bench.stop();
    bench.start();
    for (std::size_t i = 0; i < 30; ++i)
        bench.serve_end(text(300, i));
}

TEST_P(EveryFamilyOnDisk, ASmallerBudgetAtTheNextStartIsKept) {
    DiskBench bench(GetParam());
    for (std::size_t i = 0; i < 10; ++i) {
        bench.serve_end(text(300, i));
        bench.settle();
    }
    bench.stop();
    bench.policy.disk_bytes = 60'000;
    bench.start();
    EXPECT_LE(bench.cache->stats().disk_bytes, 60'000u);
    EXPECT_GT(bench.cache->stats().snapshots, 0u);
    bench.cache->check_invariants();
}

TEST_P(EveryFamilyOnDisk, DamagedFilesAreMissesThatAreCountedOnce) {
    for (const char *kind : {"flip", "truncate", "missing", "directory", "swap"}) {
        SCOPED_TRACE(kind);
        DiskBench bench(GetParam());
        const Tokens prompt = text(300), other = text(300, 5);
        bench.serve_end(prompt);
        bench.serve_end(other);
        bench.stop();
        const auto files = bench.payload_files();
        ASSERT_GE(files.size(), 2u);
        for (const std::string &path : files) {
            const std::string content = bench.disk->content(path);
            if (kind == std::string("flip")) bench.disk->flip_bit(path, content.size() * 8 - 5);
            if (kind == std::string("truncate")) bench.disk->set_content(path, content.substr(0, content.size() / 2));
            if (kind == std::string("missing")) (void)bench.disk->remove(path);
            if (kind == std::string("directory")) bench.disk->replace_with_directory(path);
            if (kind == std::string("swap")) bench.disk->set_content(path, bench.disk->content(files.front()));
        }
        if (kind == std::string("swap"))
            bench.disk->set_content(files.front(), bench.disk->content(files.back()) + "x");
        bench.start();
        EXPECT_EQ(bench.serve_end(prompt).cached, 0);
        EXPECT_EQ(bench.serve_end(other).cached, 0);
        EXPECT_EQ(bench.serve_end(prompt).cached, 299) << "computed again, it is cached again";
        bench.stop();
        bench.start();
        EXPECT_EQ(bench.serve_end(prompt).cached, 299);
    }
}

TEST_P(EveryFamilyOnDisk, ClearEmptiesTheDirectory) {
    DiskBench bench(GetParam());
    bench.serve_end(text(300));
    bench.settle();
    EXPECT_FALSE(bench.payload_files().empty());
    bench.cache->clear();
    bench.stop();
    EXPECT_TRUE(bench.payload_files().empty());
    bench.start();
    EXPECT_EQ(bench.cache->stats().snapshots, 0u);
    EXPECT_EQ(bench.cache->stats().disk_bytes, 0u);
}

TEST(DiskTier, ReadingThatIsSlowerThanComputingIsNotDone) {
    DiskBench bench(SimFamily::hybrid);
    const Tokens prompt = text(600);
    bench.serve_end(prompt);
    bench.stop();
    bench.start();
    bench.cache->note_prefill(8192, 1e-3);  // eight million tokens a second: nothing on disk is faster
    for (int i = 0; i < 2; ++i) {
        const Served served = bench.serve(prompt, {});
        if (i == 0) {
            EXPECT_EQ(served.cached, 599) << "the first read measures";
        } else {
            EXPECT_TRUE(served.cached == 599 || served.reason == MissReason::slower_to_load);
        }
    }
}

TEST(DiskTier, TheFreeSpaceOfTheFileSystemIsRespected) {
    DiskBench bench(SimFamily::hybrid);
    bench.stop();
    bench.free_space_bytes = 50_MiB;
    bench.start();
    bench.disk->set_space(100_MiB, 40_MiB);
    bench.serve_end(text(300));
    bench.settle();
    EXPECT_TRUE(bench.payload_files().empty());
    EXPECT_GT(bench.metrics.value(Metric::disk_failures_total, "write_capacity"), 0);
    EXPECT_EQ(bench.metrics.value(Metric::disk_bytes), 0) << "what was held for a write that failed";
    EXPECT_EQ(bench.serve_end(text(300)).cached, 299) << "RAM still has it";
}

TEST(DiskTier, ASecondWriterIsRefusedByNameAndLeavesEverythingAlone) {
    DiskBench bench(SimFamily::hybrid);
    const auto second = CacheDirectory::open(*bench.disk, DiskBench::kPath, "pid 2");
    ASSERT_FALSE(second.has_value());
    EXPECT_EQ(second.error().code, ErrorCode::capacity);
    EXPECT_NE(second.error().what.find("pid 1, a test"), std::string::npos) << second.error().what;
    EXPECT_EQ(holder_of(*bench.disk, DiskBench::kPath), "pid 1, a test");
}

TEST(DiskTier, StatesThatARunningConversationSupersedesAreNotWritten) {
    DiskBench bench(SimFamily::hybrid);
    Tokens prompt = text(200);
    for (std::size_t turn = 0; turn < 6; ++turn) {
        bench.serve_end(prompt);
        prompt = prompt + text(20, turn + 2);
    }
    bench.settle();
    EXPECT_EQ(bench.metrics.value(Metric::snapshots_written_total, "prompt_end"), 1);
}

TEST(DiskTier, TheEndOfAnAnswerDoesNotStandForItsPromptAfterAKill) {
    DiskBench bench(SimFamily::hybrid);
    const Tokens prompt = text(200);
    const Tokens answered = prompt + text(12, 7);
    bench.serve_end(prompt);
    bench.serve(answered, {211}, "", CheckpointKind::answer_end);
    bench.settle();
    EXPECT_EQ(bench.metrics.value(Metric::snapshots_written_total, "prompt_end"), 1);
    EXPECT_EQ(bench.metrics.value(Metric::snapshots_written_total, "answer_end"), 1);
    bench.kill();
    bench.start();
    const auto again = bench.serve_end(prompt);
    EXPECT_EQ(again.cached, 199);
    EXPECT_EQ(again.tier, Tier::disk);
}

TEST(DiskTier, OneShotPromptsStopBeingWritten) {
    DiskBench bench(SimConfig{.family = SimFamily::hybrid}, disk_policy(512_MiB, 64_MiB));
    for (std::size_t i = 0; i < 200; ++i) {
        bench.serve_end(text(64, i) + text(30, i * 3));
        bench.settle();
    }
    const double written = bench.metrics.value(Metric::snapshots_written_total, "prompt_end");
    EXPECT_GE(written, 16);
    EXPECT_LE(written, 100);
}

}  // namespace
}  // namespace cairn
