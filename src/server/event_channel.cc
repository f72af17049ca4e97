#include "server/event_channel.h"

#include <utility>

namespace cairn {

std::size_t size_of(const GenerationEvent &event) noexcept {
    std::size_t bytes = sizeof(GenerationEvent);
    const auto *delta = std::get_if<GenerationEvent::Delta>(&event.what);
    if (delta == nullptr) return bytes;
    bytes += delta->text.size();
    for (const TokenLogprobs &token : delta->logprobs) {
        bytes += sizeof(TokenLogprobs) + token.chosen.text.size();
        for (const TokenLogprob &top : token.top)
            bytes += sizeof(TokenLogprob) + top.text.size();
    }
    return bytes;
}

EventChannel::EventChannel(std::size_t max_bytes, std::function<void()> wake)
    : max_bytes_(max_bytes), wake_(std::move(wake)) {}

RequestEvents EventChannel::events_of(std::size_t choice) {
    auto self = shared_from_this();
    RequestEvents events;
    events.started = [self, choice](const ReuseReport &report) {
        self->put({choice, GenerationEvent::Started{report}});
    };
    events.delta = [self, choice](std::string_view text, const std::vector<TokenLogprobs> &logprobs, const Tokens &) {
        self->put({choice, GenerationEvent::Delta{std::string(text), logprobs}});
    };
    events.finished = [self, choice](FinishReason reason, const Usage &usage, const Timings &timings) {
        self->put({choice, GenerationEvent::Finished{reason, usage, timings}});
    };
    events.failed = [self, choice](const Error &error) { self->put({choice, GenerationEvent::Failed{error}}); };
    return events;
}

void EventChannel::put(GenerationEvent event) {
    const std::lock_guard lock(mutex_);
    if (state_ != State::open) return;
    const bool was_empty = waiting_.empty();
    waiting_bytes_ += size_of(event);
    if (waiting_bytes_ > max_bytes_) {
        state_ = State::overflowed;
        waiting_ = {};
        waiting_bytes_ = 0;
        wake_();
        return;
    }
    waiting_.push_back(std::move(event));
    if (was_empty) wake_();
}

std::vector<GenerationEvent> EventChannel::take() {
    const std::lock_guard lock(mutex_);
    waiting_bytes_ = 0;
    return std::exchange(waiting_, {});
}

bool EventChannel::overflowed() const {
    const std::lock_guard lock(mutex_);
    return state_ == State::overflowed;
}

void EventChannel::close() {
    const std::lock_guard lock(mutex_);
    state_ = State::closed;
    waiting_ = {};
    waiting_bytes_ = 0;
    wake_ = nullptr;
}

}  // namespace cairn
