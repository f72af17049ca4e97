// What the disk tier adds to the start of a server: a cache directory with N snapshots in chains of a hundred, opened,
// reconciled with its files and put into the index. The page cache is warm.
//
//     build/bin/start_bench
#include <benchmark/benchmark.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include "cache/prefix_cache.h"
#include "env/env.h"
#include "sim/sim_backend.h"
#include "store/cache_directory.h"
#include "store/disk_tier.h"
#include "store/payload_file.h"

namespace cairn {
namespace {

constexpr TokenPos kTurn = 200;  // tokens
constexpr std::int64_t kChain = 100;

std::unique_ptr<Backend> backend() {
    auto opened = open_sim_backend({.family = SimFamily::hybrid, .context = 1 << 20});
    return opened ? std::move(*opened) : nullptr;
}

SnapshotPolicy policy_for(const std::string &path) {
    SnapshotPolicy policy;
    policy.enabled = true;
    policy.ram_bytes = 64_MiB;
    policy.disk_bytes = std::size_t{1} << 50;
    policy.disk_path = path;
    return policy;
}

/// A directory of `count` snapshots, whose files have the right names and lengths and are read by nobody here.
class FullDirectory {
public:
    explicit FullDirectory(std::int64_t count)
        : path_(std::filesystem::temp_directory_path() / ("cairn-start-bench-" + std::to_string(::getpid()))) {
        const auto model = backend();
        auto directory = CacheDirectory::open(system_env().files(), path_, "bench");
        if (!directory) {
            error = directory.error().what;
            return;
        }
        const auto bytes_of = [&](std::size_t payload) { return payload_file_bytes(payload, kTurn); };
        std::uint64_t parent = 0;
        std::uint64_t rows = 0;
        for (std::int64_t i = 0; i < count && error.empty(); ++i) {
            if (i % kChain == 0) parent = rows = 0;
            const std::uint64_t id = static_cast<std::uint64_t>(i) * 3 + 1;
            const TokenPos begin = static_cast<TokenPos>(i % kChain) * kTurn;
            CatalogueEntry entry{
                .ns = {model->layout().fingerprint, ""}, .model = "bench", .snapshot = {}, .payloads = {}};
            entry.snapshot.id = id;
            entry.snapshot.parent = parent;
            entry.snapshot.position = begin + kTurn;
            for (TokenPos t = 0; t < kTurn; ++t)
                entry.snapshot.tokens.push_back(static_cast<Token>(i * 31 + t * 7));  // no two chains begin alike
            entry.snapshot.live = true;
            entry.snapshot.rows = id + 1;
            entry.snapshot.boundary = id + 2;
            entry.payloads = {
                {id + 1, PayloadKind::rows, rows, {begin, begin + kTurn}, 64, bytes_of(64)},
                {id + 2, PayloadKind::boundary, 0, {begin + kTurn, begin + kTurn}, 64, payload_file_bytes(64, 0)}};
            if (auto put = directory->catalogue.put(entry); !put) error = put.error().what;
            for (const StoredPayload &payload : entry.payloads) {
                const std::string file = directory->path_of(payload.id);
                std::filesystem::create_directories(std::filesystem::path(file).parent_path());
                std::ofstream(file) << "x";
            }
            parent = id;
            rows = id + 1;
        }
    }
    ~FullDirectory() { std::filesystem::remove_all(path_); }
    FullDirectory(const FullDirectory &) = delete;
    FullDirectory &operator=(const FullDirectory &) = delete;

    [[nodiscard]] const std::string &path() const { return path_; }
    std::string error;

private:
    std::string path_;
};

void start(benchmark::State &state) {
    const FullDirectory full(state.range(0));
    if (!full.error.empty()) return state.SkipWithError(full.error.c_str());
    for (auto _ : state) {
        const auto model = backend();
        Metrics metrics;
        const auto begin = std::chrono::steady_clock::now();
        auto directory = CacheDirectory::open(system_env().files(), full.path(), "bench");
        if (!directory) return state.SkipWithError(directory.error().what.c_str());
        auto disk = std::make_unique<DiskTier>(std::move(*directory), DiskLimits{std::size_t{1} << 50, 0}, system_env(),
                                               metrics);
        const PrefixCache cache(*model, policy_for(full.path()), system_env(), metrics, std::move(disk));
        state.SetIterationTime(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
        if (std::cmp_not_equal(cache.stats().snapshots, state.range(0))) {
            return state.SkipWithError(("found " + std::to_string(cache.stats().snapshots)).c_str());
        }
    }
    state.counters["snapshots"] = static_cast<double>(state.range(0));
}
BENCHMARK(start)->Arg(1'000)->Arg(10'000)->Arg(100'000)->Iterations(3)->UseManualTime()->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace cairn
