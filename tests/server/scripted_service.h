// ScriptedService: a GenerationService whose events the test makes.
//
//     ScriptedService service(say("Hello"));               // every call is answered by the script, on a thread of it
//     ScriptedService service;                             // by hand:
//     auto call = service.call(0);                         // waits until it has been submitted
//     call->events.started({}); call->events.delta("Hi", {}, {}); call->finish();
//
// Waits have a deadline and fail the test when it passes.
// Threads: every call from any.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "server/generation_service.h"

namespace cairn {

class ScriptedService final : public GenerationService {
public:
    struct Call {
        RequestId id;
        Request request;
        RequestEvents events;
        std::atomic<bool> cancelled{false};

        void start(TokenPos cached = 0) const;
        void say(std::string_view text) const { events.delta(text, {}, {}); }
        void finish(FinishReason reason = FinishReason::stop) const;
    };
    using Script = std::function<void(Call &)>;

    explicit ScriptedService(Script script = {});
    ~ScriptedService() override;

    [[nodiscard]] Result<RequestId> submit(Request request, RequestEvents events) override;
    void cancel(RequestId id) override;

    [[nodiscard]] double retry_after_s() const override { return retry_after_s_; }

    /// From now on every submit is refused so.
    void refuse(Error error, double retry_after_s = 0);
    /// The index-th request that was submitted; null when it does not come.
    [[nodiscard]] std::shared_ptr<Call> call(std::size_t index);
    [[nodiscard]] bool wait_until_cancelled(std::size_t index);
    [[nodiscard]] std::size_t calls() const;

private:
    void run_scripts();

    Script script_;
    mutable std::mutex mutex_;  // guards all below
    std::condition_variable changed_;
    std::vector<std::shared_ptr<Call>> calls_;
    std::size_t next_script_ = 0;
    std::optional<Error> refusal_;
    std::atomic<double> retry_after_s_{0};
    bool stopping_ = false;
    std::thread thread_;
};

/// A script: started, `text` in one delta, stop.
[[nodiscard]] ScriptedService::Script say(std::string text, TokenPos cached = 0);

}  // namespace cairn
