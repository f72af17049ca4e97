// Answer: what one call says to its client, put together from the events of its choices.
//
//     Answer answer(call, api, "chatcmpl-1", created);
//     answer.add(event) ...
//     if (answer.error()) ...                    // before anything was sent: an HTTP error; later: failure_text()
//     if (answer.started()) send the head with answer.cache_header(), then answer.take_text()
//     if (answer.ended()) send answer.take_end()
//
// An answer that was cut off though its client still listens has failed: the server is stopping.
// Pure: no sockets, no threads. Belongs to one connection's strand; `call` and `api` outlive it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "api/api.h"
#include "server/event_channel.h"

namespace cairn {

class Answer {
public:
    Answer(const ApiCall &call, const ApiContext &api, std::string id, std::int64_t created);

    void add(const GenerationEvent &event);

    /// Every choice has started: how much each reuses is known.
    [[nodiscard]] bool started() const noexcept { return started_ == choices_.size(); }
    /// Every choice has finished.
    [[nodiscard]] bool ended() const noexcept { return finished_ == choices_.size(); }
    [[nodiscard]] const std::optional<Error> &error() const noexcept { return error_; }

    [[nodiscard]] std::string cache_header() const;
    /// Server-sent events since the last call; empty for a call that is not streamed.
    [[nodiscard]] std::string take_text();
    /// What closes the stream, or the whole body of a call that is not streamed. Once, after ended().
    [[nodiscard]] std::string take_end() { return writer_.end(); }
    /// The error as a server-sent event.
    [[nodiscard]] std::string failure_text() { return writer_.failed(*error_); }

private:
    struct Choice {
        std::optional<ReuseReport> report;
        bool finished = false;
    };

    void on(std::size_t choice, const GenerationEvent::Started &event);
    void on(std::size_t choice, const GenerationEvent::Delta &event);
    void on(std::size_t choice, const GenerationEvent::Finished &event);
    void on(std::size_t choice, const GenerationEvent::Failed &event);

    ResponseWriter writer_;
    std::vector<Choice> choices_;
    std::size_t started_ = 0;
    std::size_t finished_ = 0;
    std::string text_;
    std::optional<Error> error_;
};

}  // namespace cairn
