#include "server/event_channel.h"

#include <gtest/gtest.h>

#include <string>
#include <thread>

namespace cairn {
namespace {

GenerationEvent text_event(std::string text) {
    return {0, GenerationEvent::Delta{std::move(text), {}}};
}

struct EventChannelTest : testing::Test {
    int wakes = 0;
    std::shared_ptr<EventChannel> make(std::size_t max_bytes) {
        return std::make_shared<EventChannel>(max_bytes, [this] { ++wakes; });
    }
};

TEST_F(EventChannelTest, events_come_out_in_the_order_they_went_in) {
    auto channel = make(1 << 20);
    const RequestEvents first = channel->events_of(0);
    const RequestEvents second = channel->events_of(1);
    ReuseReport report;
    report.prompt_tokens = 3;
    first.started(report);
    second.delta("b", {}, {});
    first.finished(FinishReason::length, {.completion_tokens = 9}, {});
    second.failed({ErrorCode::device, "gone"});

    const auto events = channel->take();
    ASSERT_EQ(events.size(), 4U);
    EXPECT_EQ(std::get<GenerationEvent::Started>(events[0].what).report.prompt_tokens, 3);
    EXPECT_EQ(events[1].choice, 1U);
    EXPECT_EQ(std::get<GenerationEvent::Delta>(events[1].what).text, "b");
    EXPECT_EQ(std::get<GenerationEvent::Finished>(events[2].what).reason, FinishReason::length);
    EXPECT_EQ(std::get<GenerationEvent::Failed>(events[3].what).error.code, ErrorCode::device);
    EXPECT_TRUE(channel->take().empty());
}

TEST_F(EventChannelTest, only_the_first_event_that_waits_wakes) {
    auto channel = make(1 << 20);
    channel->put(text_event("a"));
    channel->put(text_event("b"));
    EXPECT_EQ(wakes, 1);
    EXPECT_EQ(channel->take().size(), 2U);
    channel->put(text_event("c"));
    EXPECT_EQ(wakes, 2);
}

TEST_F(EventChannelTest, what_does_not_fit_ends_it_once_and_for_all) {
    const std::size_t one = size_of(text_event("0123456789"));
    auto channel = make(2 * one);
    channel->put(text_event("0123456789"));
    channel->put(text_event("0123456789"));
    EXPECT_FALSE(channel->overflowed());
    channel->put(text_event("0123456789"));
    EXPECT_TRUE(channel->overflowed());
    EXPECT_EQ(wakes, 2);
    EXPECT_TRUE(channel->take().empty());
    channel->put(text_event("x"));
    EXPECT_TRUE(channel->take().empty());
    EXPECT_EQ(wakes, 2);
}

TEST_F(EventChannelTest, what_is_taken_makes_room) {
    const std::size_t one = size_of(text_event("0123456789"));
    auto channel = make(2 * one);
    for (int i = 0; i < 100; ++i) {
        channel->put(text_event("0123456789"));
        EXPECT_EQ(channel->take().size(), 1U);
    }
    EXPECT_FALSE(channel->overflowed());
}

TEST_F(EventChannelTest, a_closed_one_takes_nothing_and_wakes_nobody) {
    auto channel = make(1 << 20);
    const RequestEvents events = channel->events_of(0);
    channel->close();
    events.delta("late", {}, {});
    EXPECT_EQ(wakes, 0);
    EXPECT_TRUE(channel->take().empty());
}

TEST_F(EventChannelTest, log_probabilities_count) {
    GenerationEvent plain = text_event("a");
    TokenLogprobs token;
    token.top.resize(20);
    const GenerationEvent rich{0, GenerationEvent::Delta{"a", {token}}};
    EXPECT_GE(size_of(rich), size_of(plain) + 20 * sizeof(TokenLogprob));
}

TEST_F(EventChannelTest, nothing_is_lost_between_two_threads) {
    constexpr int kEvents = 20'000;
    auto channel = make(std::size_t{1} << 30);
    std::thread engine([events = channel->events_of(0)] {
        for (int i = 0; i < kEvents; ++i)
            events.delta(std::to_string(i), {}, {});
    });
    int next = 0;
    while (next < kEvents) {
        for (const auto &event : channel->take()) {
            ASSERT_EQ(std::get<GenerationEvent::Delta>(event.what).text, std::to_string(next));
            ++next;
        }
        std::this_thread::yield();
    }
    engine.join();
}

}  // namespace
}  // namespace cairn
