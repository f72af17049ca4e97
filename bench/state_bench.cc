// State in and out of a model's sequence, against memcpy of the same bytes in the same run.
//
//     build/bin/state_bench                                      the demo model, 2,048 tokens
//     CAIRN_BENCH_MODEL=model.gguf build/bin/state_bench         another model
//
// Counters: `of_memcpy` is the speed of the operation as a share of memcpy's for the same bytes (best of the rounds,
// each round times both); `copied_bytes` what an operation copied.
#include <benchmark/benchmark.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <limits>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "env/file_system.h"
#include "llama/llama_backend.h"
#include "store/payload_file.h"

namespace cairn {
namespace {

constexpr TokenPos kTokens = 2048;

double seconds(const std::chrono::steady_clock::time_point begin) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

/// A backend with kTokens tokens in sequence 0, and their payloads.
class Prefix {
public:
    Prefix() {
        const char *path = std::getenv("CAIRN_BENCH_MODEL");
        ModelConfig config;
        config.path = path == nullptr ? CAIRN_MODELS_DIR "/demo.gguf" : path;
        config.context = 3 * kTokens;
        auto opened = open_llama_backend(config, {.device_bytes = 256_MiB, .parked_sequences = 4});
        if (!opened) {
            error = opened.error().what;
            return;
        }
        backend = std::move(*opened);
        for (TokenPos begin = 0; begin < kTokens; begin += 512) {
            Batch batch;
            for (TokenPos i = begin; i < begin + 512; ++i) {
                batch.push_back({(i * 31 + 7) % backend->vocabulary().size(), i, SeqId(0), false});
            }
            if (auto ran = backend->run(batch); !ran) error = ran.error().what;
        }
        rows.resize(backend->rows_size(SeqId(0), {0, kTokens}).value_or(0));
        boundary.resize(backend->boundary_size(SeqId(0)).value_or(0));
        capture();
    }

    void capture() {
        const auto captured = backend->capture(SeqId(0), {0, kTokens}, rows, boundary);
        if (!captured) {
            error = captured.error().what;
            return;
        }
        used = *captured;
    }

    void restore() {
        const RowsPayload payload{{0, kTokens}, 0, kTokens, Bytes(rows).first(used.rows)};
        const std::span<const RowsPayload> chain(&payload, used.rows > 0 ? 1 : 0);
        if (auto restored = backend->restore(SeqId(1), chain, Bytes(boundary).first(used.boundary), kTokens);
            !restored) {
            error = restored.error().what;
        }
    }

    /// Seconds that memcpy needs for the bytes of both payloads, between buffers that are there already.
    double memcpy_seconds() {
        copy_.resize(std::max(rows.size(), boundary.size()));
        const auto begin = std::chrono::steady_clock::now();
        std::memcpy(copy_.data(), rows.data(), used.rows);
        benchmark::ClobberMemory();
        std::memcpy(copy_.data(), boundary.data(), used.boundary);
        benchmark::ClobberMemory();
        return seconds(begin);
    }

    [[nodiscard]] std::size_t bytes() const { return used.rows + used.boundary; }

    std::unique_ptr<Backend> backend;
    std::vector<std::byte> rows;
    std::vector<std::byte> boundary;
    Backend::Captured used;
    std::string error;

private:
    std::vector<std::byte> copy_;
};

/// One for all: a large model takes its time to prefill, and the library calls each bench several times.
Prefix &shared_prefix() {
    static Prefix prefix;
    return prefix;
}

template <class Operation, class Undo>
void against_memcpy(benchmark::State &state, Prefix &prefix, Operation operation, Undo undo) {
    double best = std::numeric_limits<double>::max();
    double best_memcpy = best;
    for (auto _ : state) {
        best_memcpy = std::min(best_memcpy, prefix.memcpy_seconds());
        const auto begin = std::chrono::steady_clock::now();
        operation();
        const double took = seconds(begin);
        best = std::min(best, took);
        state.SetIterationTime(took);
        undo();
        if (!prefix.error.empty()) {
            state.SkipWithError(prefix.error.c_str());
            return;
        }
    }
    state.counters["of_memcpy"] = best_memcpy / best;
    state.counters["copied_bytes"] = static_cast<double>(prefix.bytes());
}

void restore_2048(benchmark::State &state) {
    Prefix &prefix = shared_prefix();
    if (!prefix.error.empty()) return state.SkipWithError(prefix.error.c_str());
    against_memcpy(
        state, prefix, [&] { prefix.restore(); }, [&] { prefix.backend->clear(SeqId(1)); });
}
BENCHMARK(restore_2048)->UseManualTime()->Unit(benchmark::kMillisecond);

/// Payload files of a prefix in a folder of their own, read as the disk tier reads them.
class PrefixOnDisk {
public:
    explicit PrefixOnDisk(Prefix &prefix)
        : prefix_(prefix),
          folder_(std::filesystem::temp_directory_path() / ("cairn-state-bench-" + std::to_string(::getpid()))) {
        std::filesystem::create_directories(folder_);
        const Tokens tokens(kTokens, 1);
        const NamespaceKey ns{prefix.backend->layout().fingerprint, ""};
        const auto write = [&](const char *name, PayloadKind kind, TokenSpan span, Bytes bytes) {
            auto header = describe_payload(kind, 1, ns, tokens, span);
            auto done = write_payload_file(posix_file_system(), folder_ / name, std::move(header), bytes);
            if (!done) prefix.error = done.error().what;
        };
        write("rows", PayloadKind::rows, {0, kTokens}, Bytes(prefix.rows).first(prefix.used.rows));
        write("boundary", PayloadKind::boundary, {kTokens, kTokens},
              Bytes(prefix.boundary).first(prefix.used.boundary));
    }
    ~PrefixOnDisk() { std::filesystem::remove_all(folder_); }
    PrefixOnDisk(const PrefixOnDisk &) = delete;
    PrefixOnDisk &operator=(const PrefixOnDisk &) = delete;

    void restore() {
        read("rows", MutableBytes(prefix_.rows).first(prefix_.used.rows));
        read("boundary", MutableBytes(prefix_.boundary).first(prefix_.used.boundary));
        prefix_.restore();
    }

private:
    void read(const char *name, MutableBytes to) {
        auto payload = open_payload_file(posix_file_system(), folder_ / name);
        const int threads = static_cast<int>(std::clamp(std::thread::hardware_concurrency(), 1u, 4u));
        if (!payload || !payload->read(to, threads)) prefix_.error = "a payload file could not be read";
    }

    Prefix &prefix_;
    std::filesystem::path folder_;
};

/// From files that the page cache holds, every byte checked.
void restore_from_disk_2048(benchmark::State &state) {
    Prefix &prefix = shared_prefix();
    if (!prefix.error.empty()) return state.SkipWithError(prefix.error.c_str());
    PrefixOnDisk disk(prefix);
    against_memcpy(
        state, prefix, [&] { disk.restore(); }, [&] { prefix.backend->clear(SeqId(1)); });
}
BENCHMARK(restore_from_disk_2048)->UseManualTime()->Unit(benchmark::kMillisecond);

void capture_2048(benchmark::State &state) {
    Prefix &prefix = shared_prefix();
    if (!prefix.error.empty()) return state.SkipWithError(prefix.error.c_str());
    against_memcpy(
        state, prefix, [&] { prefix.capture(); }, [] {});
}
BENCHMARK(capture_2048)->UseManualTime()->Unit(benchmark::kMillisecond);

/// Parking and adopting share cells: the pool's use stays, and so the bytes copied are none.
void park_and_adopt_2048(benchmark::State &state) {
    Prefix &prefix = shared_prefix();
    if (!prefix.error.empty()) return state.SkipWithError(prefix.error.c_str());
    const TokenPos before = prefix.backend->cells_used();
    TokenPos added = 0;
    for (auto _ : state) {
        const auto begin = std::chrono::steady_clock::now();
        const auto parked = prefix.backend->park(SeqId(0));
        const bool adopted = parked && prefix.backend->adopt(*parked, SeqId(1), kTokens).has_value();
        state.SetIterationTime(seconds(begin));
        if (!adopted) return state.SkipWithError("parking failed");
        added = std::max(added, prefix.backend->cells_used() - before);
        prefix.backend->clear(SeqId(1));
        prefix.backend->drop(*parked);
    }
    state.counters["cells_added"] = added;
}
BENCHMARK(park_and_adopt_2048)->UseManualTime()->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace cairn
