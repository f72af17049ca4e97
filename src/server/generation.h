// Generation: the engine requests of one HTTP call, as one thing that is cancelled as a whole.
//
//     Generation generation(service, max_queued_bytes, wake);
//     if (Status status = generation.submit(std::move(call.requests)); !status) ...   // all or none
//     for (GenerationEvent &event : generation.take()) ...                            // whenever woken
//
// Ownership: its destructor cancels what still runs and closes the channel: no wake comes afterwards.
// Threads: belongs to the connection's strand; events come from the engine's thread through the channel.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "server/event_channel.h"
#include "server/generation_service.h"

namespace cairn {

class Generation {
public:
    Generation(GenerationService &service, std::size_t max_queued_bytes, std::function<void()> wake);
    ~Generation();
    Generation(const Generation &) = delete;
    Generation &operator=(const Generation &) = delete;

    /// Choice i is requests[i]. The first refusal cancels those before it and is returned.
    [[nodiscard]] Status submit(std::vector<Request> requests);
    [[nodiscard]] std::vector<GenerationEvent> take() { return channel_->take(); }
    /// The client does not read what is generated; the channel has given up.
    [[nodiscard]] bool overflowed() const { return channel_->overflowed(); }
    void cancel();

private:
    GenerationService &service_;
    std::shared_ptr<EventChannel> channel_;
    std::vector<RequestId> running_;
};

}  // namespace cairn
