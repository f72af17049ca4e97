// hot_paths: runs what is done per token, step or request a fixed number of times, and has callgrind count the
// instructions of each. bench/gates runs it and compares the counts with those in bench/gates.json:
//
//     valgrind --tool=callgrind --instr-atstart=no --callgrind-out-file=counts build/bin/hot_paths
//
// Prints a line for each path: its name, and how many operations were counted. The counts lie in counts.1, counts.2,
// ..., each with the path's name behind "Client Request:". Without valgrind it runs and counts nothing.
#include <valgrind/callgrind.h>

#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "bench/chat_rig.h"
#include "bench/stream_pool.h"
#include "index/prefix_checkpoint_index.h"
#include "server/answer.h"
#include "server/event_channel.h"
#include "server/reply.h"
#include "state/prefix_hash.h"
#include "store/chunk_hash.h"

namespace cairn {
namespace {

template <class T>
void keep(const T &value) {
    asm volatile("" : : "r"(&value) : "memory");
}

/// Once uncounted, so that what is made on first use is there, then `operations` times counted.
template <class Operation>
void count(const char *name, int operations, Operation operation) {
    operation();
    CALLGRIND_START_INSTRUMENTATION;
    CALLGRIND_ZERO_STATS;
    for (int i = 0; i < operations; ++i)
        operation();
    CALLGRIND_STOP_INSTRUMENTATION;
    CALLGRIND_DUMP_STATS_AT(name);
    std::printf("%s %d\n", name, operations);
}

Tokens tokens_of(std::uint64_t seed, std::size_t size) {
    Tokens tokens;
    for (std::uint64_t x = seed * 0x9e3779b97f4a7c15u + 1; tokens.size() < size;) {
        x = x * 6364136223846793005u + 1442695040888963407u;
        tokens.push_back(static_cast<Token>((x >> 33) % 150'000));
    }
    return tokens;
}

struct Traits {
    static bool restorable(const std::shared_ptr<int> &entry) { return entry != nullptr; }
    static bool stale(const std::shared_ptr<int> &entry) { return entry == nullptr; }
};
using Index = PrefixCheckpointIndex<std::shared_ptr<int>, Traits>;

/// A prompt of 100,000 tokens with a checkpoint every 500, among 1,000 conversations.
void count_index() {
    const NamespaceKey ns{};
    const auto entry = std::make_shared<int>();
    Index index;
    const auto publish = [&](TokenView tokens) { return index.publish(index.reserve(ns, tokens).value(), entry).ref; };
    for (std::uint64_t i = 0; i < 1000; ++i)
        publish(tokens_of(i + 2, 600));
    const Tokens prompt = tokens_of(1, 100'000);
    for (std::size_t depth = 500; depth <= prompt.size(); depth += 500)
        publish(TokenView(prompt).first(depth));
    const auto limit = static_cast<TokenPos>(prompt.size());
    count("index_match_100000", 10, [&] { keep(index.match(ns, prompt, limit)); });
    count("index_match_1000", 100, [&] { keep(index.match(ns, TokenView(prompt).first(1000), 1000)); });
    Tokens longer(prompt.begin(), prompt.begin() + 2000);
    longer.insert(longer.end(), prompt.begin(), prompt.begin() + 100);
    count("index_publish_and_erase_2100", 100, [&] { index.erase(publish(longer)); });
}

void count_scheduler() {
    std::vector<SequenceFacts> facts;
    for (TokenPos i = 0; i < 200; ++i) {
        facts.push_back({.computed = 1000 + i, .size = 1001 + i, .cut = 1001 + i});
        facts.push_back({.computed = 0, .size = 1000 + i, .cut = 800, .urgency = static_cast<double>(i % 17)});
    }
    count("plan_step_200_streams", 100,
          [&] { keep(plan_step(facts, {.tokens = 2048, .prompt_tokens_beside_decode = 512})); });
    StreamPool pool({.streams = 16, .steps = 200});
    count("engine_step_16_streams", 100, [&] { pool.loop->step(); });
}

void count_wire() {
    const auto backend = open_sim_backend({}).value();
    const ChatRig rig(*backend);
    const std::string body = conversation_body(20);
    count("parse_chat_20_messages", 10, [&] { keep(parse_chat_completion(body, rig.api)); });
    const ChatInput input = conversation(20);
    count("chat_template_20_messages", 10, [&] { keep(rig.chat_template->render(input)); });

    const ApiCall call = parse_chat_completion(conversation_body(2), rig.api).value();
    Answer answer(call, rig.api, "chatcmpl-1", 1'700'000'000);
    answer.add({.choice = 0, .what = GenerationEvent::Started{}});
    keep(answer.take_text());
    const auto channel = std::make_shared<EventChannel>(1 << 20, [] {});
    const RequestEvents events = channel->events_of(0);
    count("stream_event_of_a_token", 1000, [&] {
        events.delta(" porter", {}, {});
        for (const GenerationEvent &event : channel->take())
            answer.add(event);
        keep(chunk_text(answer.take_text()));
    });
}

void count_hashes() {
    // Other instructions on other machines, so another count.
    const char *name = __builtin_cpu_supports("avx2") ? "chunk_hash_64_kib_avx2" : "chunk_hash_64_kib_sse2";
    const std::vector<std::byte> chunk(64 << 10, std::byte{7});
    count(name, 20, [&] { keep(chunk_hash(chunk, 1)); });
    const Tokens tokens = tokens_of(1, 2048);
    count("prefix_hash_2048", 100, [&] { keep(hash_of_prefix(tokens)); });
}

}  // namespace
}  // namespace cairn

int main() {
    cairn::count_index();
    cairn::count_scheduler();
    cairn::count_wire();
    cairn::count_hashes();
    return 0;
}
