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
#include <vector>

#include "env/env.h"
#include "env/file_system.h"
#include "llama/llama_backend.h"
#include "store/cache_directory.h"
#include "store/disk_tier.h"
#include "store/payload_file.h"
#include "store/payload_reader.h"
#include "store/ram_arena.h"

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
        rows = room_for(backend->rows_size(SeqId(0), {0, kTokens}));
        boundary = room_for(backend->boundary_size(SeqId(0)));
        capture();
    }

    /// In the memory of a RAM tier.
    RamBlock room_for(const Result<std::size_t> &bytes) {
        auto block = arena.allocate(bytes.value_or(0));
        if (!block) error = block.error().what;
        return block ? std::move(*block) : RamBlock();
    }

    void capture() {
        const auto captured = backend->capture(SeqId(0), {0, kTokens}, rows.bytes(), boundary.bytes());
        if (!captured) {
            error = captured.error().what;
            return;
        }
        used = *captured;
    }

    void restore() {
        const RowsPayload payload{{0, kTokens}, 0, kTokens, rows.bytes().first(used.rows)};
        restore(std::span(&payload, used.rows > 0 ? 1 : 0), {});
    }
    void restore(std::span<const RowsPayload> chain, const PayloadReady &ready) {
        if (auto restored = backend->restore(SeqId(1), chain, boundary.bytes().first(used.boundary), kTokens, ready);
            !restored) {
            error = restored.error().what;
        }
    }

    /// Seconds that memcpy needs for the bytes of both payloads, between buffers that are there already.
    double memcpy_seconds() {
        copy_.resize(std::max(used.rows, used.boundary));
        const auto begin = std::chrono::steady_clock::now();
        std::memcpy(copy_.data(), rows.bytes().data(), used.rows);
        benchmark::ClobberMemory();
        std::memcpy(copy_.data(), boundary.bytes().data(), used.boundary);
        benchmark::ClobberMemory();
        return seconds(begin);
    }

    [[nodiscard]] std::size_t bytes() const { return used.rows + used.boundary; }

    RamArena arena{1_GiB};
    std::unique_ptr<Backend> backend;
    RamBlock rows;
    RamBlock boundary;
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

/// Payload files of a prefix in a folder of their own, read as the disk tier reads them. Its rows are so many segments:
/// a conversation leaves one for each of its checkpoints.
class PrefixOnDisk {
public:
    PrefixOnDisk(Prefix &prefix, TokenPos segments)
        : prefix_(prefix),
          folder_(std::filesystem::temp_directory_path() / ("cairn-state-bench-" + std::to_string(::getpid()))) {
        std::filesystem::create_directories(folder_);
        for (TokenPos i = 0; prefix.used.rows > 0 && i < segments; ++i)
            add_rows({i * kTokens / segments, (i + 1) * kTokens / segments});
        write("boundary", PayloadKind::boundary, {kTokens, kTokens},
              prefix.boundary.bytes().first(prefix.used.boundary));
    }
    ~PrefixOnDisk() { std::filesystem::remove_all(folder_); }
    PrefixOnDisk(const PrefixOnDisk &) = delete;
    PrefixOnDisk &operator=(const PrefixOnDisk &) = delete;

    void restore() {
        PayloadReader reader;
        std::vector<RowsPayload> chain;
        for (Segment &segment : segments_) {
            const MutableBytes bytes = segment.memory.bytes().first(segment.used);
            chain.push_back({segment.span, segment.span.begin, segment.span.end, bytes});
            add(reader, segment.name(), bytes);
        }
        if (prefix_.used.boundary > 0) add(reader, "boundary", prefix_.boundary.bytes().first(prefix_.used.boundary));
        prefix_.restore(chain, [&](std::size_t payload) { return reader.wait(payload); });
    }

private:
    struct Segment {
        TokenSpan span;
        RamBlock memory;
        std::size_t used = 0;
        [[nodiscard]] std::string name() const { return "rows-" + std::to_string(span.begin); }
    };

    void add_rows(TokenSpan span) {
        Segment segment{span, prefix_.room_for(prefix_.backend->rows_size(SeqId(0), span)), 0};
        const auto captured = prefix_.backend->capture(SeqId(0), span, segment.memory.bytes(), {});
        if (!captured) {
            prefix_.error = captured.error().what;
            return;
        }
        segment.used = captured->rows;
        write(segment.name(), PayloadKind::rows, span, segment.memory.bytes().first(segment.used));
        segments_.push_back(std::move(segment));
    }

    void write(const std::string &name, PayloadKind kind, TokenSpan span, Bytes bytes) {
        const NamespaceKey ns{prefix_.backend->layout().fingerprint, ""};
        const Tokens tokens(kTokens, 1);
        auto header = describe_payload(kind, 1, ns, tokens, span);
        auto done = write_payload_file(posix_file_system(), folder_ / name, std::move(header), bytes);
        if (!done) prefix_.error = done.error().what;
    }

    void add(PayloadReader &reader, const std::string &name, MutableBytes to) {
        auto payload = open_payload_file(posix_file_system(), folder_ / name);
        if (!payload) {
            prefix_.error = payload.error().what;
            return;
        }
        reader.add(std::move(*payload), to);
    }

    Prefix &prefix_;
    std::filesystem::path folder_;
    std::vector<Segment> segments_;
};

/// From files that the page cache holds, every byte checked.
void restore_from_disk_2048(benchmark::State &state) {
    Prefix &prefix = shared_prefix();
    if (!prefix.error.empty()) return state.SkipWithError(prefix.error.c_str());
    PrefixOnDisk disk(prefix, static_cast<TokenPos>(state.range(0)));
    against_memcpy(
        state, prefix, [&] { disk.restore(); }, [&] { prefix.backend->clear(SeqId(1)); });
}
BENCHMARK(restore_from_disk_2048)->Arg(1)->Arg(4)->UseManualTime()->Unit(benchmark::kMillisecond);

void capture_2048(benchmark::State &state) {
    Prefix &prefix = shared_prefix();
    if (!prefix.error.empty()) return state.SkipWithError(prefix.error.c_str());
    against_memcpy(
        state, prefix, [&] { prefix.capture(); }, [] {});
}
BENCHMARK(capture_2048)->UseManualTime()->Unit(benchmark::kMillisecond);

/// Decoding of 32 tokens, alone and while the disk tier writes behind it: one state of 2,048 tokens (arg 1), or one
/// after another without a pause (arg 2). `slowdown`: of the sums of all rounds, in turn.
class WriteBehind {
public:
    explicit WriteBehind(Prefix &prefix)
        : prefix_(prefix),
          folder_(std::filesystem::temp_directory_path() / ("cairn-write-bench-" + std::to_string(::getpid()))) {
        auto directory = CacheDirectory::open(posix_file_system(), folder_, "bench");
        if (!directory) {
            prefix.error = directory.error().what;
            return;
        }
        disk_ = std::make_unique<DiskTier>(std::move(*directory), DiskLimits{std::size_t{1} << 40, 0}, system_env(),
                                           metrics_);
    }
    ~WriteBehind() {
        disk_.reset();
        std::filesystem::remove_all(folder_);
    }
    WriteBehind(const WriteBehind &) = delete;
    WriteBehind &operator=(const WriteBehind &) = delete;

    /// Seconds for kDecoded tokens. `again`: as soon as one state is written, the next is.
    double decode(bool writes, bool again) {
        (void)prefix_.backend->fork(SeqId(0), SeqId(1));
        if (writes) order();
        const auto begin = std::chrono::steady_clock::now();
        for (TokenPos i = 0; i < kDecoded; ++i) {
            if (auto ran = prefix_.backend->run({{7 + i, kTokens + i, SeqId(1), true}}); !ran)
                prefix_.error = ran.error().what;
            if (writes && again && !disk_->writing()) order();
            if (auto outcome = disk_->poll()) note(*outcome);
        }
        const double took = seconds(begin);
        if (auto outcome = disk_->wait()) note(*outcome);
        prefix_.backend->clear(SeqId(1));
        return took;
    }

    std::size_t written_bytes = 0;

private:
    static constexpr TokenPos kDecoded = 32;

    void order() {
        WriteOrder order;
        const Tokens tokens(kTokens, 1);
        order.entry.ns = {prefix_.backend->layout().fingerprint, ""};
        order.entry.snapshot.id = disk_->next_id();
        order.entry.snapshot.position = kTokens;
        order.entry.snapshot.tokens = tokens;
        order.entry.snapshot.live = true;
        const auto add = [&](PayloadKind kind, TokenSpan span, Bytes bytes, std::uint64_t &id) {
            if (bytes.empty()) return;
            id = disk_->next_id();
            auto header = describe_payload(kind, id, order.entry.ns, tokens, span);
            header.bytes = bytes.size();
            const std::size_t file_bytes = payload_file_bytes(bytes.size(), header.tokens.size());
            order.entry.payloads.push_back({id, kind, 0, span, bytes.size(), file_bytes});
            order.pieces.push_back({std::move(header), bytes});
        };
        add(PayloadKind::rows, {0, kTokens}, prefix_.rows.bytes().first(prefix_.used.rows), order.entry.snapshot.rows);
        add(PayloadKind::boundary, {kTokens, kTokens}, prefix_.boundary.bytes().first(prefix_.used.boundary),
            order.entry.snapshot.boundary);
        disk_->write(std::move(order));
    }
    void note(const WriteOutcome &outcome) {
        if (!outcome.status) prefix_.error = outcome.status.error().what;
        written_bytes += outcome.bytes;
    }

    Prefix &prefix_;
    std::filesystem::path folder_;
    Metrics metrics_;
    std::unique_ptr<DiskTier> disk_;
};

void decode_beside_writing(benchmark::State &state) {
    Prefix &prefix = shared_prefix();
    if (!prefix.error.empty()) return state.SkipWithError(prefix.error.c_str());
    WriteBehind bench(prefix);
    double alone = 0;
    double beside = 0;
    for (auto _ : state) {
        // In the order alone, beside, beside, alone, so that a drift of the machine counts for both.
        double took[4];
        for (const int round : {0, 1, 2, 3}) {
            took[round] = bench.decode(round == 1 || round == 2, state.range(0) == 2);
            if (!prefix.error.empty()) return state.SkipWithError(prefix.error.c_str());
        }
        alone += took[0] + took[3];
        beside += took[1] + took[2];
        state.SetIterationTime(took[1]);
    }
    state.counters["slowdown"] = beside / alone - 1;
    state.counters["written_bytes"] = static_cast<double>(bench.written_bytes);
}
BENCHMARK(decode_beside_writing)->Arg(1)->Arg(2)->Iterations(6)->UseManualTime()->Unit(benchmark::kMillisecond);

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
