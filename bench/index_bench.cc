// PrefixCheckpointIndex at scale: a 100,000-token prompt among 1,000 to 1,000,000 checkpoints.
//
// The tree: `count` checkpoints in conversations of 8 turns, 60 tokens each, behind one of 100 system prompts of 500
// tokens; published turn by turn across all conversations, as they come in at a server, so that neighbours in a path
// are strangers in memory. Among them, in step with the others, one path of 100,000 tokens with a checkpoint every 500:
// the prompt that is looked up. Before each cold lookup other memory is read and written, as a forward pass would.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <cstring>
#include <memory>
#include <random>
#include <utility>
#include <vector>

#include "index/prefix_checkpoint_index.h"

namespace {

using cairn::NamespaceKey;
using cairn::Token;
using cairn::TokenPos;
using cairn::Tokens;
using cairn::TokenView;

struct Payload {};
using Entry = std::shared_ptr<Payload>;
struct Traits {
    static bool restorable(const Entry &entry) { return entry != nullptr; }
    static bool stale(const Entry &entry) { return entry == nullptr; }
};
using Index = cairn::PrefixCheckpointIndex<Entry, Traits>;

constexpr TokenPos kPromptTokens = 100'000;
constexpr TokenPos kPromptSpacing = 500;
constexpr std::int64_t kTurns = 8;
constexpr std::size_t kTurnTokens = 60;
constexpr std::size_t kSystemTokens = 500;
constexpr std::size_t kSystems = 100;

const NamespaceKey kHome{};

Tokens random_tokens(std::uint64_t seed, std::size_t count) {
    std::mt19937_64 random(seed);
    Tokens tokens(count);
    for (Token &token : tokens)
        token = static_cast<Token>(random() % 150'000);
    return tokens;
}

void append(Tokens &tokens, std::uint64_t seed, std::size_t count) {
    std::uint64_t x = seed * 0x9e3779b97f4a7c15u + 1;
    for (std::size_t i = 0; i < count; ++i) {
        x = x * 6364136223846793005u + 1442695040888963407u;
        tokens.push_back(static_cast<Token>((x >> 33) % 150'000));
    }
}

struct Tree {
    explicit Tree(std::int64_t checkpoints)
        : prompt(random_tokens(1, kPromptTokens)), entry(std::make_shared<Payload>()) {
        std::vector<Tokens> systems;
        for (std::size_t i = 0; i < kSystems; ++i)
            systems.push_back(random_tokens(100 + i, kSystemTokens));
        const std::int64_t conversations = checkpoints / kTurns;
        const std::int64_t between = checkpoints / (kPromptTokens / kPromptSpacing);
        TokenPos depth = 0;
        for (std::int64_t n = 0; n < conversations * kTurns; ++n) {
            publish(conversation(systems, n % conversations, 1 + n / conversations));
            if ((n + 1) % between != 0) continue;
            depth += kPromptSpacing;
            publish(TokenView(prompt).first(static_cast<std::size_t>(depth)));
        }
    }

    void publish(TokenView tokens) {
        auto reservation = index.reserve(kHome, tokens);
        index.publish(std::move(*reservation), entry);
    }

    static Tokens conversation(const std::vector<Tokens> &systems, std::int64_t number, std::int64_t turns) {
        Tokens tokens = systems[static_cast<std::size_t>(number) % kSystems];
        append(tokens, static_cast<std::uint64_t>(number), kTurnTokens * static_cast<std::size_t>(turns));
        return tokens;
    }

    Index index;
    Tokens prompt;
    Entry entry;
};

// The tree of the benchmark that runs now: one at a time, so that a million checkpoints are built once and fit.
Tree &tree_of(std::int64_t checkpoints) {
    static std::unique_ptr<Tree> tree;
    static std::int64_t size = 0;
    if (size != checkpoints) {
        tree.reset();
        tree = std::make_unique<Tree>(checkpoints);
        size = checkpoints;
    }
    return *tree;
}

void evict_caches() {
    static std::vector<std::uint64_t> other(std::size_t{16} << 20);
    for (std::size_t i = 0; i < other.size(); i += 8)
        other[i] += i;
    benchmark::ClobberMemory();
}

void report(benchmark::State &state, const Tree &tree, std::int64_t tokens) {
    state.counters["checkpoints"] = static_cast<double>(tree.index.size());
    state.counters["MiB"] = static_cast<double>(tree.index.memory_bytes()) / (1 << 20);
    state.SetItemsProcessed(state.iterations() * tokens);
}

// Arguments: checkpoints, tokens of the prompt.
void match(benchmark::State &state, bool cold) {
    Tree &tree = tree_of(state.range(0));
    const auto tokens = static_cast<TokenPos>(state.range(1));
    const TokenView prompt = TokenView(tree.prompt).first(static_cast<std::size_t>(tokens));
    for (auto _ : state) {
        if (cold) {
            state.PauseTiming();
            evict_caches();
            state.ResumeTiming();
        }
        auto found = tree.index.match(kHome, prompt, tokens);
        if (found.depth != tokens / kPromptSpacing * kPromptSpacing) state.SkipWithError("the wrong checkpoint");
        benchmark::DoNotOptimize(found);
    }
    report(state, tree, tokens);
}
void match_warm(benchmark::State &state) {
    match(state, false);
}
void match_cold(benchmark::State &state) {
    match(state, true);
}

// What a comparison of the same bytes costs on this machine: the floor for match_warm.
void memcmp_of_the_prompt(benchmark::State &state) {
    const Tokens a = random_tokens(1, static_cast<std::size_t>(state.range(0)));
    const Tokens b = a;
    for (auto _ : state)
        benchmark::DoNotOptimize(std::memcmp(a.data(), b.data(), a.size() * sizeof(Token)));
    state.SetItemsProcessed(state.iterations() * state.range(0));
}

// One more turn of the long prompt: reserve, publish, erase.
void publish_and_erase(benchmark::State &state) {
    Tree &tree = tree_of(state.range(0));
    Tokens tokens(tree.prompt.begin(), tree.prompt.begin() + state.range(1));
    append(tokens, 7, 100);
    for (auto _ : state) {
        auto reservation = tree.index.reserve(kHome, tokens);
        const auto published = tree.index.publish(std::move(*reservation), tree.entry);
        tree.index.erase(published.ref);
    }
    report(state, tree, state.range(1));
}

void build(benchmark::State &state) {
    for (auto _ : state) {
        const Tree tree(state.range(0));
        benchmark::DoNotOptimize(tree.index.size());
        report(state, tree, 0);
    }
    state.SetItemsProcessed(state.iterations() * state.range(0));
}

BENCHMARK(memcmp_of_the_prompt)->Arg(kPromptTokens)->Unit(benchmark::kMicrosecond);
BENCHMARK(match_warm)
    ->ArgsProduct({{1'000, 10'000, 100'000}, {kPromptTokens}})
    ->ArgsProduct({{1'000'000}, {1'000, 10'000, 30'000, kPromptTokens}})
    ->Unit(benchmark::kMicrosecond);
BENCHMARK(publish_and_erase)->ArgsProduct({{1'000'000}, {1'000, 10'000, kPromptTokens}})->Unit(benchmark::kMicrosecond);
BENCHMARK(match_cold)
    ->ArgsProduct({{1'000'000}, {1'000, 10'000, kPromptTokens}})
    ->ArgsProduct({{1'000, 10'000, 100'000}, {kPromptTokens}})
    ->Iterations(30)
    ->Unit(benchmark::kMicrosecond);
BENCHMARK(build)->Arg(1'000'000)->Iterations(1)->Unit(benchmark::kMillisecond);

}  // namespace
