#include "cairn/engine.h"

#include <condition_variable>
#include <mutex>
#include <unordered_set>
#include <utility>

#include "library/model_impl.h"

namespace cairn {

namespace {

/// Begins the tenant of an engine that shares with nobody: no tenant that comes over the wire has it.
constexpr char kPrivate = '\n';

}  // namespace

struct Engine::Impl {
    Impl(std::shared_ptr<Model> given, EngineOptions wanted) : model(std::move(given)), options(std::move(wanted)) {}

    void note_end(RequestId id) {
        const std::lock_guard lock(mutex);
        running.erase(id);
        ended.notify_all();
    }

    const std::shared_ptr<Model> model;
    const EngineOptions options;
    std::mutex mutex;
    std::condition_variable ended;
    std::unordered_set<RequestId> running;
};

Engine::Engine(std::shared_ptr<Model> model, EngineOptions options)
    : impl_(std::make_unique<Impl>(std::move(model), std::move(options))) {}

Engine::~Engine() {
    std::unique_lock lock(impl_->mutex);
    for (const RequestId id : impl_->running)
        impl_->model->impl_->graph->engine->cancel(id);
    impl_->ended.wait(lock, [this] { return impl_->running.empty(); });
}

Result<RequestId> Engine::submit(Request request, RequestEvents events) {
    request.engine = impl_->options.name;
    if (impl_->options.scope == CacheScope::engine) {
        request.tenant = kPrivate + impl_->options.name + kPrivate + request.tenant;
    }
    const auto id = std::make_shared<RequestId>();
    // Until the id is known here its last event waits.
    const std::lock_guard lock(impl_->mutex);
    RequestEvents wrapped = events;
    wrapped.finished = [this, id, then = std::move(events.finished)](FinishReason reason, const Usage &usage,
                                                                     const Timings &timings) {
        if (then) then(reason, usage, timings);
        impl_->note_end(*id);
    };
    wrapped.failed = [this, id, then = std::move(events.failed)](const Error &error) {
        if (then) then(error);
        impl_->note_end(*id);
    };
    auto submitted = impl_->model->impl_->graph->engine->submit(std::move(request), std::move(wrapped));
    if (!submitted) return submitted;
    *id = *submitted;
    impl_->running.insert(*submitted);
    return submitted;
}

void Engine::cancel(RequestId id) {
    impl_->model->impl_->graph->engine->cancel(id);
}

const EngineOptions &Engine::options() const {
    return impl_->options;
}

const std::shared_ptr<Model> &Engine::model() const {
    return impl_->model;
}

}  // namespace cairn
