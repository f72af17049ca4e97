// A chat request becomes a prompt: the demo model's template and vocabulary, 1 to 100 messages of some 300 characters
// behind a system prompt of 1,200.
//
//     build/bin/chat_template_bench
//
// render: template and tokens. render_text: the template alone. parse: JSON, template and tokens.
#include <benchmark/benchmark.h>

#include "bench/chat_rig.h"
#include "bench/demo_backend.h"

namespace cairn {
namespace {

ChatRig &rig() {
    static ChatRig rig(demo_backend());
    return rig;
}

void render(benchmark::State &state) {
    const ChatInput input = conversation(static_cast<int>(state.range(0)));
    std::size_t tokens = 0;
    for (auto _ : state) {
        const auto prompt = rig().chat_template->render(input);
        if (!prompt) return state.SkipWithError(prompt.error().what.c_str());
        tokens = prompt->tokens.size();
    }
    state.counters["tokens"] = static_cast<double>(tokens);
}

void render_text(benchmark::State &state) {
    const ChatInput input = conversation(static_cast<int>(state.range(0)));
    for (auto _ : state) {
        const auto text = rig().chat_template->render_text(input);
        if (!text) return state.SkipWithError(text.error().what.c_str());
        benchmark::DoNotOptimize(text->data());
    }
}

void parse(benchmark::State &state) {
    const std::string body = conversation_body(static_cast<int>(state.range(0)));
    for (auto _ : state) {
        const auto call = parse_chat_completion(body, rig().api);
        if (!call) return state.SkipWithError(call.error().what.c_str());
        benchmark::DoNotOptimize(call->requests.data());
    }
    state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(body.size()));
}

BENCHMARK(render)->Arg(1)->Arg(2)->Arg(10)->Arg(30)->Arg(100)->Unit(benchmark::kMicrosecond);
BENCHMARK(render_text)->Arg(1)->Arg(2)->Arg(10)->Arg(30)->Arg(100)->Unit(benchmark::kMicrosecond);
BENCHMARK(parse)->Arg(1)->Arg(2)->Arg(10)->Arg(30)->Arg(100)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace cairn
