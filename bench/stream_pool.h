// StreamPool: an EngineLoop over the simulated backend with any number of streams that decode, none of which ends by
// itself. For benches of what the engine adds to a forward pass.
//
//     StreamPool pool({.streams = 200, .steps = 2000});
//     pool.loop->step();          // one token of each
#pragma once

#include <memory>
#include <set>

#include "base/check.h"
#include "engine/engine_loop.h"
#include "env/env.h"
#include "metrics/metrics.h"
#include "sim/sim_backend.h"

namespace cairn {

/// A clock that goes on by a millisecond with each look, so that the same calls plan the same steps.
class SteadyEnv final : public Env {
public:
    [[nodiscard]] double now_s() const override { return now_s_ += 1e-3; }
    [[nodiscard]] std::int64_t unix_time_s() const override { return 1'700'000'000; }
    [[nodiscard]] std::uint64_t random_u64() override { return ++random_; }
    [[nodiscard]] FileSystem &files() override { return system_env().files(); }

private:
    mutable double now_s_ = 0;
    std::uint64_t random_ = 0;
};

class StreamPool {
public:
    struct Size {
        std::int32_t streams = 1;
        TokenPos steps = 1000;  ///< most that will be asked for once all streams decode
    };
    static constexpr TokenPos kPrompt = 64;
    static constexpr TokenPos kVocabulary = 260;

    explicit StreamPool(Size size) {
        const TokenPos context = kPrompt + size.steps + 4 * size.streams + 16;
        backend = open_sim_backend({.vocabulary = kVocabulary,
                                    .context = context,
                                    .pool_cells = context * size.streams,
                                    .live_sequences = size.streams,
                                    .batch_tokens = 2048,
                                    .forced_token = [](TokenPos) { return Token{'a'}; }})
                      .value();
        loop = std::make_unique<EngineLoop>(*backend, nullptr, EngineLoopConfig{}, env, metrics);
        const auto streams = static_cast<std::size_t>(size.streams);
        for (std::size_t i = 0; i < streams; ++i) {
            const auto on_text = [this, i](const auto &...) { decoding_.insert(i); };
            loop->add(RequestId(i + 1), request(static_cast<Token>(i)), {.delta = on_text});
        }
        while (decoding_.size() < streams)
            CAIRN_CHECK(loop->step(), "{} of {} streams have begun", decoding_.size(), streams);
    }

private:
    static Request request(Token number) {
        Request request;
        request.prompt = Tokens(static_cast<std::size_t>(kPrompt), Token{'b'});
        request.prompt.front() = number;
        request.sampling.temperature = 0;
        return request;
    }

    std::set<std::size_t> decoding_;

public:
    SteadyEnv env;
    Metrics metrics;
    std::unique_ptr<Backend> backend;
    std::unique_ptr<EngineLoop> loop;
};

}  // namespace cairn
