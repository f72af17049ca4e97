// DiskBench: a PrefixCache with a disk tier on a simulated disk, over a simulated backend; it can be stopped, killed
// and started again on the same disk.
//
//     DiskBench bench(SimFamily::hybrid);
//     bench.serve(prompt, {prompt.size() - 1});
//     bench.settle();                       // time passes, the writer works
//     bench.kill();                         // the process ends; start() again on the same disk
//     bench.start();
//     EXPECT_EQ(bench.serve(prompt, {}).cached, prompt.size() - 1);
//
// Every serve() compares the logits with those of a cold run.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "cache/prefix_cache.h"
#include "sim/sim_backend.h"
#include "store/lease.h"
#include "tests/cache/cache_bench.h"
#include "tests/support/manual_env.h"
#include "tests/support/sim_file_system.h"

namespace cairn {

inline SnapshotPolicy disk_policy(std::size_t disk_bytes = 64_MiB, std::size_t ram_bytes = 16_MiB) {
    SnapshotPolicy policy;
    policy.enabled = true;
    policy.ram_bytes = ram_bytes;
    policy.disk_bytes = disk_bytes;
    return policy;
}

class DiskBench {
public:
    explicit DiskBench(SimConfig sim, SnapshotPolicy disk_and_ram = disk_policy())
        : config(std::move(sim)), policy(std::move(disk_and_ram)), disk(std::make_unique<SimFileSystem>()) {
        config.control = control;
        start();
    }
    explicit DiskBench(SimFamily family, SnapshotPolicy disk_and_ram = disk_policy())
        : DiskBench(SimConfig{.family = family}, std::move(disk_and_ram)) {}
    ~DiskBench() { stop(); }

    static constexpr const char *kPath = "/cache";

    /// The error of opening the directory; nothing where it opened.
    std::optional<Error> start() {
        backend = std::move(*open_sim_backend(config));
        auto opened = CacheDirectory::open(*disk, kPath, "pid 1, a test");
        std::unique_ptr<DiskTier> tier;
        if (opened) {
            notes = opened->notes;
            tier = std::make_unique<DiskTier>(std::move(*opened),
                                              DiskLimits{policy.disk_bytes, free_space_bytes, false}, env, metrics);
        }
        cache = std::make_unique<PrefixCache>(*backend, policy, env, metrics, std::move(tier));
        return opened ? std::nullopt : std::optional(opened.error());
    }
    /// A clean end.
    void stop() {
        if (cache == nullptr) return;
        cache->save(10);
        cache->check_invariants();
        cache.reset();
        backend.reset();
    }
    /// The process is gone: whatever the objects still do reaches a disk that nobody looks at.
    void kill() {
        auto left = disk->clone();
        cache.reset();
        backend.reset();
        disk = std::move(left);
    }
    /// So is the machine's power.
    void crash(std::uint64_t seed) {
        auto left = disk->clone();
        cache.reset();
        backend.reset();
        disk = std::move(left);
        disk->crash(seed);
    }
    /// Until the writer has nothing more to do, as an idle engine would.
    void settle() {
        constexpr double kWhileWriting = 0.1;  // what disk_wakes_in() says is below it then
        int quiet = 0;
        while (quiet < 8) {
            while (cache->idle_work()) {
            }
            cache->tend_disk();
            const auto wakes = cache->disk_wakes_in();
            if (!wakes) break;
            if (*wakes < kWhileWriting) {  // on the writer's thread, which knows nothing of the clock
                quiet = 0;
                std::this_thread::yield();
            } else {
                ++quiet;
                env.advance(1);
            }
        }
        cache->check_invariants();
    }

    /// One request, as CacheBench::serve.
    Served serve(const Tokens &prompt, const std::vector<TokenPos> &checkpoints, const std::string &tenant = "",
                 CheckpointKind kind = CheckpointKind::prompt_end, SeqId seq = SeqId(0)) {
        env.advance(1);
        backend->clear(seq);
        Lookup lookup = cache->find(tenant, prompt, static_cast<TokenPos>(prompt.size()) - 1);
        Served served{lookup.depth, lookup.tier, lookup.reason, lookup.first_difference};
        if (lookup.lease != nullptr && !cache->adopt(std::move(lookup), seq)) {
            served = Served{0, std::nullopt, MissReason::restore_failed, served.first_difference};
        }
        EXPECT_EQ(backend->length(seq), served.cached);
        for (const TokenPos checkpoint : checkpoints) {
            if (checkpoint <= served.cached || std::cmp_greater_equal(checkpoint, prompt.size())) continue;
            compute(prompt, checkpoint, seq);
            (void)cache->publish(tenant, TokenView(prompt).first(static_cast<std::size_t>(checkpoint)), seq, kind);
        }
        compute(prompt, static_cast<TokenPos>(prompt.size()) - 1, seq);
        expect_state_of(prompt, seq);
        cache->tend_disk();
        cache->check_invariants();
        return served;
    }
    Served serve_end(const Tokens &prompt, const std::string &tenant = "") {
        return serve(prompt, {static_cast<TokenPos>(prompt.size()) - 1}, tenant);
    }

    void compute(const Tokens &prompt, TokenPos end, SeqId seq) {
        while (backend->length(seq) < end) {
            const TokenPos begin = backend->length(seq);
            const TokenPos until = std::min(end, begin + 256);
            Batch batch;
            for (TokenPos pos = begin; pos < until; ++pos)
                batch.push_back({prompt[static_cast<std::size_t>(pos)], pos, seq, false});
            ASSERT_TRUE(backend->run(batch).has_value());
        }
    }
    /// Runs the last token of the prompt and compares its logits with those of a cold run.
    void expect_state_of(const Tokens &prompt, SeqId seq) {
        const TokenPos last = static_cast<TokenPos>(prompt.size()) - 1;
        ASSERT_EQ(backend->length(seq), last);
        ASSERT_TRUE(backend->run({{prompt.back(), last, seq, true}}).has_value());
        const auto warm = backend->logits(0);
        const auto cold = sim_logits(config, prompt);
        ASSERT_TRUE(std::equal(warm.begin(), warm.end(), cold.begin(), cold.end())) << "a wrong state was restored";
    }
    [[nodiscard]] std::vector<std::string> payload_files() const {
        std::vector<std::string> paths = disk->files();
        std::erase_if(paths, [](const std::string &path) { return !path.ends_with(".state"); });
        return paths;
    }

    SimConfig config;
    SnapshotPolicy policy;
    std::shared_ptr<SimControl> control = std::make_shared<SimControl>();
    std::unique_ptr<SimFileSystem> disk;
    std::uint64_t free_space_bytes = 0;
    ManualEnv env;
    Metrics metrics;
    std::vector<std::string> notes;
    std::unique_ptr<Backend> backend;
    std::unique_ptr<PrefixCache> cache;
};

}  // namespace cairn
