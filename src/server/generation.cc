#include "server/generation.h"

#include <utility>

namespace cairn {

Generation::Generation(GenerationService &service, std::size_t max_queued_bytes, std::function<void()> wake)
    : service_(service), channel_(std::make_shared<EventChannel>(max_queued_bytes, std::move(wake))) {}

Generation::~Generation() {
    channel_->close();
    cancel();
}

Status Generation::submit(std::vector<Request> requests) {
    running_.reserve(requests.size());
    for (std::size_t choice = 0; choice < requests.size(); ++choice) {
        auto id = service_.submit(std::move(requests[choice]), channel_->events_of(choice));
        if (!id) {
            cancel();
            return fail(std::move(id).error());
        }
        running_.push_back(*id);
    }
    return {};
}

void Generation::cancel() {
    // Those that have ended are unknown to the engine, which then does nothing.
    for (const RequestId id : std::exchange(running_, {}))
        service_.cancel(id);
}

}  // namespace cairn
