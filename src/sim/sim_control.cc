#include <algorithm>
#include <utility>

#include "sim/sim_config.h"

namespace cairn {

const char *name_of(SimFamily family) noexcept {
    switch (family) {
        case SimFamily::attention: return "attention";
        case SimFamily::hybrid: return "hybrid";
        case SimFamily::recurrent: return "recurrent";
        case SimFamily::sliding_window: return "sliding_window";
        case SimFamily::whole: return "whole";
        case SimFamily::none: return "none";
    }
    return "unknown";
}

void SimControl::fail(SimCall call, std::uint64_t nth, Error error) {
    const std::lock_guard lock(mutex_);
    planned_.push_back({call, calls_[static_cast<std::size_t>(call)] + nth, std::move(error)});
}

void SimControl::before_run(RunHook hook) {
    const std::lock_guard lock(mutex_);
    before_run_ = std::move(hook);
}

void SimControl::after_capture(CaptureHook hook) {
    const std::lock_guard lock(mutex_);
    after_capture_ = std::move(hook);
}

SimCounters SimControl::counters() const {
    const std::lock_guard lock(mutex_);
    return counters_;
}

std::optional<Error> SimControl::enter(SimCall call) {
    const std::lock_guard lock(mutex_);
    const std::uint64_t now = ++calls_[static_cast<std::size_t>(call)];
    const auto planned =
        std::find_if(planned_.begin(), planned_.end(), [&](const Planned &p) { return p.call == call && p.at == now; });
    if (planned == planned_.end()) return std::nullopt;
    Error error = std::move(planned->error);
    planned_.erase(planned);
    return error;
}

void SimControl::call_before_run(const Batch &batch) const {
    std::unique_lock lock(mutex_);
    const RunHook hook = before_run_;
    lock.unlock();
    if (hook) hook(batch);
}

void SimControl::call_after_capture(MutableBytes rows, MutableBytes boundary) const {
    std::unique_lock lock(mutex_);
    const CaptureHook hook = after_capture_;
    lock.unlock();
    if (hook) hook(rows, boundary);
}

void SimControl::count(const std::function<void(SimCounters &)> &add) {
    const std::lock_guard lock(mutex_);
    add(counters_);
}

}  // namespace cairn
