// Prefill and decode through cairn's engine with nothing to reuse, for comparison with llama-bench (bench/plain.py).
//
//     build/bin/plain -m model.gguf -t 2 -p 512 -n 128 -r 3 [--cache]
//
// Prints one JSON object: tokens per second of each repetition, prefill (prompt of -p tokens, one generated) and decode
// (-n tokens behind one token). With --cache each prompt is new, and its checkpoints are captured and published.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>

#include "cache/prefix_cache.h"
#include "engine/engine_loop.h"
#include "llama/llama_backend.h"

namespace cairn {
namespace {

struct PlainOptions {
    ModelConfig model;
    TokenPos prompt = 512;
    TokenPos generate = 128;
    int repetitions = 3;
    bool cache = false;
};

class PlainBench {
public:
    PlainBench(const PlainOptions &options, std::unique_ptr<Backend> backend)
        : options_(options), backend_(std::move(backend)) {
        if (options.cache) {
            SnapshotPolicy policy;
            policy.enabled = true;
            policy.ram_bytes = std::size_t{2} << 30;
            cache_ = std::make_unique<PrefixCache>(*backend_, policy, system_env(), metrics_);
        }
        loop_ = std::make_unique<EngineLoop>(*backend_, cache_.get(), EngineLoopConfig{}, system_env(), metrics_);
    }

    /// Tokens per second of the prefill of a prompt that shares nothing with another.
    double prefill() {
        Request request = make(options_.prompt, 1);
        return options_.prompt / run(std::move(request)).prefill_s;
    }

    double decode() {
        Request request = make(1, options_.generate + 1);
        return options_.generate / run(std::move(request)).decode_s;
    }

private:
    Request make(TokenPos size, TokenPos generate) {
        Request request;
        for (TokenPos i = 0; i < size; ++i) {
            request.prompt.push_back(static_cast<Token>((state_ = state_ * 1664525u + 1013904223u) >> 8) %
                                     backend_->vocabulary().size());
        }
        request.sampling.temperature = 0;
        request.max_tokens = generate;
        request.ignore_eos = true;
        return request;
    }

    Timings run(Request request) {
        Timings timings;
        RequestEvents events;
        events.finished = [&](FinishReason, const Usage &, const Timings &given) { timings = given; };
        loop_->add(RequestId(++id_), std::move(request), std::move(events));
        while (loop_->step()) {
        }
        return timings;
    }

    PlainOptions options_;
    std::unique_ptr<Backend> backend_;
    Metrics metrics_;
    std::unique_ptr<PrefixCache> cache_;
    std::unique_ptr<EngineLoop> loop_;
    std::uint32_t state_ = 1;
    std::uint64_t id_ = 0;
};

int run(const PlainOptions &options) {
    auto backend = open_llama_backend(options.model, {});
    if (!backend) {
        fmt::print(stderr, "plain: {}\n", backend.error().what);
        return 1;
    }
    PlainBench bench(options, std::move(*backend));
    bench.prefill();  // warm-up
    std::string prefill;
    std::string decode;
    for (int i = 0; i < options.repetitions; ++i) {
        prefill += fmt::format("{}{:.3f}", i == 0 ? "" : ", ", bench.prefill());
        decode += fmt::format("{}{:.3f}", i == 0 ? "" : ", ", bench.decode());
    }
    fmt::print("{{\"prefill\": [{}], \"decode\": [{}]}}\n", prefill, decode);
    return 0;
}

}  // namespace
}  // namespace cairn

int main(int argc, char **argv) {
    cairn::PlainOptions options;
    options.model.parallel = 1;
    CLI::App app{"Prefill and decode without reuse."};
    app.add_option("-m", options.model.path)->required();
    app.add_option("-t", options.model.threads);
    app.add_option("-p", options.prompt);
    app.add_option("-n", options.generate);
    app.add_option("-r", options.repetitions);
    app.add_flag("--cache", options.cache);
    CLI11_PARSE(app, argc, argv);
    options.model.context = options.prompt + options.generate + 64;
    return cairn::run(options);
}
