#include "tests/server/scripted_service.h"

#include <chrono>
#include <utility>

namespace cairn {
namespace {

constexpr std::chrono::seconds kPatience{20};

}  // namespace

void ScriptedService::Call::start(TokenPos cached) const {
    ReuseReport report;
    report.prompt_tokens = static_cast<TokenPos>(request.prompt.size());
    report.cached_tokens = cached;
    if (cached > 0) report.tier = Tier::ram;
    events.started(report);
}

void ScriptedService::Call::finish(FinishReason reason) const {
    Usage usage;
    usage.prompt_tokens = static_cast<TokenPos>(request.prompt.size());
    usage.completion_tokens = 1;
    events.finished(reason, usage, Timings{});
}

ScriptedService::ScriptedService(Script script) : script_(std::move(script)) {
    if (script_) thread_ = std::thread([this] { run_scripts(); });
}

ScriptedService::~ScriptedService() {
    {
        const std::lock_guard lock(mutex_);
        stopping_ = true;
        for (const auto &call : calls_)
            call->cancelled = true;
    }
    changed_.notify_all();
    if (thread_.joinable()) thread_.join();
}

Result<RequestId> ScriptedService::submit(Request request, RequestEvents events) {
    const std::lock_guard lock(mutex_);
    if (refusal_) return fail(*refusal_);
    auto call = std::make_shared<Call>();
    call->id = RequestId{calls_.size() + 1};
    call->request = std::move(request);
    call->events = std::move(events);
    calls_.push_back(call);
    changed_.notify_all();
    return call->id;
}

void ScriptedService::cancel(RequestId id) {
    const std::lock_guard lock(mutex_);
    calls_[id.value() - 1]->cancelled = true;
    changed_.notify_all();
}

void ScriptedService::refuse(Error error, double retry_after_s) {
    const std::lock_guard lock(mutex_);
    retry_after_s_ = retry_after_s;
    refusal_ = std::move(error);
}

std::shared_ptr<ScriptedService::Call> ScriptedService::call(std::size_t index) {
    std::unique_lock lock(mutex_);
    if (!changed_.wait_for(lock, kPatience, [&] { return calls_.size() > index; })) return nullptr;
    return calls_[index];
}

bool ScriptedService::wait_until_cancelled(std::size_t index) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, kPatience, [&] { return calls_.size() > index && calls_[index]->cancelled; });
}

std::size_t ScriptedService::calls() const {
    const std::lock_guard lock(mutex_);
    return calls_.size();
}

void ScriptedService::run_scripts() {
    while (true) {
        std::shared_ptr<Call> call;
        {
            std::unique_lock lock(mutex_);
            changed_.wait(lock, [&] { return stopping_ || next_script_ < calls_.size(); });
            if (stopping_) return;
            call = calls_[next_script_++];
        }
        script_(*call);
    }
}

ScriptedService::Script say(std::string text, TokenPos cached) {
    return [text = std::move(text), cached](ScriptedService::Call &call) {
        call.start(cached);
        call.say(text);
        call.finish();
    };
}

}  // namespace cairn
