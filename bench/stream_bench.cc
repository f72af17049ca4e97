// What a generated token costs between the sampler and the socket: text assembled, through the channel between the
// threads, into a server-sent event, as a chunk of HTTP.
//
//     build/bin/stream_bench
#include <benchmark/benchmark.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "bench/chat_rig.h"
#include "bench/demo_backend.h"
#include "engine/text_assembler.h"
#include "server/answer.h"
#include "server/event_channel.h"
#include "server/reply.h"

namespace cairn {
namespace {

ChatRig &rig() {
    static ChatRig rig(demo_backend());
    return rig;
}

ApiCall call_with(int alternatives) {
    ApiCall call = parse_chat_completion(conversation_body(2), rig().api).value();
    if (alternatives > 0) call.requests.front().logprobs = alternatives;
    return call;
}

std::vector<TokenLogprobs> logprobs_of(int alternatives) {
    if (alternatives == 0) return {};
    TokenLogprobs token{.chosen = {.token = 100, .text = " porter", .logprob = -0.25f}, .top = {}};
    for (int i = 0; i < alternatives; ++i)
        token.top.push_back({.token = 100 + i, .text = " porter", .logprob = -0.25f - static_cast<float>(i)});
    return {token};
}

/// Argument: alternatives with log-probabilities; 0: none are asked for.
void event_of_a_token(benchmark::State &state) {
    const int alternatives = static_cast<int>(state.range(0));
    const ApiCall call = call_with(alternatives);
    const auto logprobs = logprobs_of(alternatives);
    Answer answer(call, rig().api, "chatcmpl-1", 1'700'000'000);
    answer.add({.choice = 0, .what = GenerationEvent::Started{}});
    std::size_t bytes = answer.take_text().size();
    for (auto _ : state) {
        answer.add({.choice = 0, .what = GenerationEvent::Delta{" porter", logprobs}});
        const std::string chunk = chunk_text(answer.take_text());
        bytes = chunk.size();
        benchmark::DoNotOptimize(chunk.data());
    }
    state.counters["bytes"] = static_cast<double>(bytes);
}
BENCHMARK(event_of_a_token)->Arg(0)->Arg(5);

void token_through_the_channel(benchmark::State &state) {
    const auto channel = std::make_shared<EventChannel>(1 << 20, [] {});
    const RequestEvents events = channel->events_of(0);
    const Tokens tokens{100};
    for (auto _ : state) {
        events.delta(" porter", {}, tokens);
        const auto taken = channel->take();
        benchmark::DoNotOptimize(taken.data());
    }
}
BENCHMARK(token_through_the_channel);

/// Argument: stop strings.
void text_of_a_token(benchmark::State &state) {
    std::vector<std::string> stops;
    for (int i = 0; i < static_cast<int>(state.range(0)); ++i)
        stops.push_back("\nUser " + std::to_string(i) + ":");
    TextAssembler text(stops);
    for (auto _ : state) {
        const auto out = text.add(" porter");
        benchmark::DoNotOptimize(out.text.data());
    }
}
BENCHMARK(text_of_a_token)->Arg(0)->Arg(4);

}  // namespace
}  // namespace cairn
