// EventChannel: carries the events of an engine's requests to the connection that asked for them.
//
//     auto channel = std::make_shared<EventChannel>(max_bytes, [=] { asio::post(strand, ...); });
//     service.submit(request, channel->events_of(0));          // the engine's thread puts
//     for (GenerationEvent &event : channel->take()) ...       // the connection takes, when woken
//
//     open --close()--> closed        takes nothing more, wakes nobody
//     open --overflow-> overflowed    the same, after one last wake
//
// The engine never waits here: what does not fit `max_bytes` overflows the channel for good and drops what it holds.
// Threads: any. `wake` is called on the putting thread, when something comes into an empty channel and on overflow; it
// must not call back. After close() has returned it is not called any more.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <variant>
#include <vector>

#include "cairn/request.h"

namespace cairn {

/// One event of one choice (the index of a request within its call).
struct GenerationEvent {
    struct Started {
        ReuseReport report;
    };
    struct Delta {
        std::string text;
        std::vector<TokenLogprobs> logprobs;
    };
    struct Finished {
        FinishReason reason = FinishReason::stop;
        Usage usage;
        Timings timings;
    };
    struct Failed {
        Error error;
    };

    std::size_t choice = 0;
    std::variant<Started, Delta, Finished, Failed> what;
};

/// About the memory an event takes while it waits. Unit: bytes.
[[nodiscard]] std::size_t size_of(const GenerationEvent &event) noexcept;

class EventChannel : public std::enable_shared_from_this<EventChannel> {
public:
    EventChannel(std::size_t max_bytes, std::function<void()> wake);

    /// Callbacks that put the events of choice `choice` here. They keep the channel alive.
    [[nodiscard]] RequestEvents events_of(std::size_t choice);
    void put(GenerationEvent event);
    /// Everything that waits, in order.
    [[nodiscard]] std::vector<GenerationEvent> take();
    [[nodiscard]] bool overflowed() const;
    void close();

private:
    enum class State { open, overflowed, closed };

    const std::size_t max_bytes_;
    mutable std::mutex mutex_;  // guards all below
    std::function<void()> wake_;
    State state_ = State::open;
    std::vector<GenerationEvent> waiting_;
    std::size_t waiting_bytes_ = 0;
};

}  // namespace cairn
