#include "engine/engine_thread.h"

#include <gtest/gtest.h>

#include <future>
#include <latch>
#include <semaphore>
#include <thread>

#include "cache/prefix_cache.h"
#include "env/env.h"
#include "metrics/metrics.h"
#include "sim/sim_backend.h"
#include "tests/engine/loop_rig.h"

namespace cairn {
namespace {

class EngineOnThreads : public testing::Test {
protected:
    void SetUp() override { open({}); }

    void open(SimConfig config, std::optional<std::int32_t> most_waiting = {}) {
        engine_.reset();
        sim_ = endless(std::move(config));
        auto backend = open_sim_backend(sim_);
        ASSERT_TRUE(backend.has_value());
        SnapshotPolicy policy;
        policy.enabled = true;
        policy.ram_bytes = 8 << 20;
        auto cache = std::make_unique<PrefixCache>(**backend, policy, system_env(), metrics_);
        EngineConfig engine_config;
        engine_config.dynamic_batching.emplace().max_waiting_requests = most_waiting;
        engine_ = std::make_unique<EngineThread>(
            EngineDependencies{std::move(*backend), std::move(cache), engine_config, system_env(), metrics_});
    }

    struct Pending {
        std::shared_ptr<Answer> answer = std::make_shared<Answer>();
        std::shared_ptr<std::promise<void>> done = std::make_shared<std::promise<void>>();
        RequestId id;

        Answer &wait() const {
            done->get_future().wait();
            return *answer;
        }
    };

    Pending submit(Request request) {
        Pending pending;
        RequestEvents events = events_into(*pending.answer);
        events.finished = [inner = events.finished, pending](FinishReason reason, const Usage &usage,
                                                             const Timings &times) {
            inner(reason, usage, times);
            pending.done->set_value();
        };
        events.failed = [inner = events.failed, pending](const Error &error) {
            inner(error);
            pending.done->set_value();
        };
        auto id = engine_->submit(std::move(request), std::move(events));
        EXPECT_TRUE(id.has_value());
        if (id) pending.id = *id;
        return pending;
    }

    SimConfig sim_;
    Metrics metrics_;
    std::unique_ptr<EngineThread> engine_;
};

TEST_F(EngineOnThreads, AnswersManyThreadsAtOnce) {
    std::vector<std::thread> threads;
    std::latch start(8);
    for (std::uint32_t i = 0; i < 8; ++i) {
        threads.emplace_back([&, i] {
            start.arrive_and_wait();
            for (std::uint32_t j = 0; j < 20; ++j) {
                const Tokens prompt = joined(tokens_of(j % 3, 100), tokens_of(i, 10));
                EXPECT_EQ(submit(LoopRig::greedy(prompt, 5)).wait().tokens, sim_continuation(sim_, prompt, 5));
            }
        });
    }
    for (std::thread &thread : threads)
        thread.join();
    engine_->drain(60);  // the counts are those of the last step: let it end
    EXPECT_EQ(engine_->stats().running, 0);
    EXPECT_EQ(metrics_.value(Metric::requests_total, "length"), 160);
}

TEST_F(EngineOnThreads, RefusesAtOnceWhatCanNeverRun) {
    EXPECT_EQ(engine_->submit(LoopRig::greedy({}, 5), {}).error().code, ErrorCode::invalid_argument);
    EXPECT_EQ(engine_->submit(LoopRig::greedy({100000}, 5), {}).error().code, ErrorCode::invalid_argument);
    EXPECT_EQ(engine_->submit(LoopRig::greedy({-1}, 5), {}).error().code, ErrorCode::invalid_argument);
    const Result<RequestId> too_long = engine_->submit(LoopRig::greedy(tokens_of(1, sim_.context), 5), {});
    EXPECT_EQ(too_long.error().code, ErrorCode::context_length);
    EXPECT_NE(too_long.error().what.find("8192"), std::string::npos) << too_long.error().what;
}

TEST_F(EngineOnThreads, TheQueueIsNoLongerWhileAStepRuns) {
    open({.live_sequences = 1}, 3);
    std::counting_semaphore<> said(0), goes_on(0);
    Answer answer, ignored;
    RequestEvents events = events_into(answer);
    events.delta = [&](std::string_view, const auto &, const Tokens &) {
        said.release();
        goes_on.acquire();
    };
    ASSERT_TRUE(engine_->submit(LoopRig::greedy(tokens_of(1, 20), 3), std::move(events)).has_value());
    const auto accepted = [&] {
        int count = 0;
        for (std::uint32_t i = 0; i < 10; ++i)
            count += engine_->submit(LoopRig::greedy(tokens_of(i, 10), 1), events_into(ignored)).has_value() ? 1 : 0;
        return count;
    };
    said.acquire();
    EXPECT_EQ(accepted(), 3);
    goes_on.release();
    said.acquire();  // the engine has taken them over, and has not yet come to say so
    EXPECT_EQ(accepted(), 0);
    EXPECT_NE(engine_->submit(LoopRig::greedy(tokens_of(9, 10), 1), {}).error().what.find("3 requests are waiting"),
              std::string::npos);
    goes_on.release(100);
    engine_.reset();
}

TEST_F(EngineOnThreads, OnlyWhatCannotBeBegunWaits) {
    open({.context = 1000000, .pool_cells = 4000000, .live_sequences = 4}, 1);
    Answer ignored;
    int accepted = 0;
    for (std::uint32_t i = 0; i < 20; ++i)
        accepted +=
            engine_->submit(LoopRig::greedy(tokens_of(i, 10), 900000), events_into(ignored)).has_value() ? 1 : 0;
    EXPECT_EQ(accepted, 4 + 1) << "however soon the engine takes them";
    engine_.reset();
}

TEST_F(EngineOnThreads, CancelsFromWithinAnEvent) {
    auto answer = std::make_shared<Answer>();
    std::promise<void> done;
    std::promise<RequestId> id;
    auto id_future = id.get_future().share();
    RequestEvents events = events_into(*answer);
    events.delta = [&](std::string_view, const auto &, const Tokens &) { engine_->cancel(id_future.get()); };
    events.finished = [&](FinishReason reason, const Usage &, const Timings &) {
        answer->reason = reason;
        done.set_value();
    };
    const auto submitted = engine_->submit(LoopRig::greedy(tokens_of(1, 20), 5000), std::move(events));
    ASSERT_TRUE(submitted.has_value());
    id.set_value(*submitted);
    done.get_future().wait();
    EXPECT_EQ(answer->reason, FinishReason::cancelled);
}

TEST_F(EngineOnThreads, CancelsWhatIsLeftWhenItGoesDown) {
    open({.context = 1000000, .pool_cells = 1000000});
    const Pending pending = submit(LoopRig::greedy(tokens_of(1, 20), 900000));
    engine_.reset();
    EXPECT_EQ(pending.wait().reason, FinishReason::cancelled);
}

TEST_F(EngineOnThreads, DrainsWhatRunsAndTakesNoMore) {
    const Pending pending = submit(LoopRig::greedy(tokens_of(1, 20), 50));
    engine_->drain(60);
    EXPECT_EQ(pending.wait().reason, FinishReason::length);
    EXPECT_EQ(engine_->submit(LoopRig::greedy(tokens_of(1, 20), 5), {}).error().code, ErrorCode::shutting_down);
}

TEST_F(EngineOnThreads, CancelsAtTheDeadlineOfADrain) {
    open({.context = 1000000, .pool_cells = 1000000});
    const Pending pending = submit(LoopRig::greedy(tokens_of(1, 20), 900000));
    engine_->drain(0);
    EXPECT_EQ(pending.wait().reason, FinishReason::cancelled);
}

}  // namespace
}  // namespace cairn
