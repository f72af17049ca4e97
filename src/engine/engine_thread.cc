#include "engine/engine_thread.h"

#include <chrono>
#include <condition_variable>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/check.h"
#include "cache/prefix_cache.h"
#include "engine/engine_loop.h"

namespace cairn {

namespace {

/// As long as a server may take to read one request after another that were sent at once.
constexpr double kMostGatherSeconds = 0.01;

EngineLoopConfig loop_config(const EngineConfig &config, const BackendLimits &limits) {
    EngineLoopConfig loop;
    loop.checkpoint_interval = config.checkpoint_interval;
    loop.most_scheduled_tokens = limits.batch_tokens;
    loop.most_running = 1;  // without a batching section: one request at a time
    if (config.dynamic_batching) {
        loop.most_gather_s = kMostGatherSeconds;
        loop.most_running = config.dynamic_batching->max_batch_size.value_or(limits.live_sequences);
        loop.most_scheduled_tokens = config.dynamic_batching->max_scheduled_tokens.value_or(limits.batch_tokens);
        loop.most_waiting = config.dynamic_batching->max_waiting_requests.value_or(loop.most_waiting);
        if (const auto gap_ms = config.dynamic_batching->max_token_gap_ms) loop.most_token_gap_s = *gap_ms / 1000.0;
    }
    return loop;
}

}  // namespace

class EngineThread::Impl {
public:
    explicit Impl(EngineDependencies dependencies)
        : deps_(std::move(dependencies)),
          loop_(*deps_.backend, deps_.cache.get(), loop_config(deps_.config, deps_.backend->limits()), deps_.env,
                deps_.metrics),
          stats_(loop_.stats()),
          thread_([this] { work(); }) {}

    ~Impl() {
        {
            const std::lock_guard lock(mutex_);
            stopping_ = true;
            draining_ = true;
        }
        wake_.notify_all();
        thread_.join();
    }

    Result<RequestId> submit(Request request, RequestEvents events) {
        if (auto checked = check(request); !checked) {
            deps_.metrics.add(Metric::requests_total, 1, "refused");
            return fail(checked.error());
        }
        RequestId id;
        {
            const std::lock_guard lock(mutex_);
            if (draining_) return fail(ErrorCode::shutting_down, "the engine is shutting down: try another server");
            // Some of those that are counted as waiting only wait to be begun: a place is free for them.
            const std::int64_t there = std::ssize(incoming_) + stats_.waiting + stats_.running;
            if (there >= std::int64_t{stats_.live_sequences} + stats_.waiting_limit) {
                deps_.metrics.add(Metric::requests_total, 1, "refused");
                return fail(ErrorCode::capacity,
                            "{} requests are waiting already, which is the limit (--max-waiting): try again later",
                            stats_.waiting_limit);
            }
            id = RequestId(++last_id_);
            incoming_.push_back({id, std::move(request), std::move(events)});
        }
        wake_.notify_all();
        return id;
    }

    void cancel(RequestId id) {
        {
            const std::lock_guard lock(mutex_);
            cancelled_.push_back(id);
        }
        wake_.notify_all();
    }

    void drain(double deadline_s) {
        std::unique_lock lock(mutex_);
        draining_ = true;
        const auto deadline = std::chrono::steady_clock::now() + std::chrono::duration<double>(deadline_s);
        const auto is_idle = [this] { return idle_ && incoming_.empty(); };
        if (drained_.wait_until(lock, std::chrono::time_point_cast<std::chrono::steady_clock::duration>(deadline),
                                is_idle)) {
            return;
        }
        cancel_everything_ = true;
        wake_.notify_all();
        drained_.wait(lock, is_idle);
    }

    void save(double seconds) {
        std::unique_lock lock(mutex_);
        save_s_ = seconds;
        wake_.notify_all();
        drained_.wait(lock, [this] { return !save_s_.has_value(); });
    }

    Status with_cache(std::function<void(PrefixCache &)> work) {
        CAIRN_CHECK(std::this_thread::get_id() != thread_.get_id(), "the engine's thread waits for itself");
        if (deps_.cache == nullptr) return fail(ErrorCode::unsupported, "nothing is cached here: the cache is off");
        auto order = std::make_shared<std::packaged_task<void(PrefixCache &)>>(std::move(work));
        std::future<void> done = order->get_future();
        {
            const std::lock_guard lock(mutex_);
            if (stopping_) return fail(ErrorCode::shutting_down, "the engine is shutting down");
            cache_orders_.push_back([order](PrefixCache &cache) { (*order)(cache); });
        }
        wake_.notify_all();
        done.get();
        return {};
    }

    [[nodiscard]] EngineStats stats() const {
        const std::lock_guard lock(mutex_);
        return stats_;
    }

    [[nodiscard]] const Backend &backend() const { return *deps_.backend; }

private:
    struct Incoming {
        RequestId id;
        Request request;
        RequestEvents events;
    };

    [[nodiscard]] Status check(const Request &request) const {
        const Vocabulary &vocabulary = deps_.backend->vocabulary();
        if (request.prompt.empty())
            return fail(ErrorCode::invalid_argument, "the prompt is empty: send at least one token");
        for (const Token token : request.prompt) {
            if (!vocabulary.contains(token)) {
                return fail(ErrorCode::invalid_argument, "token {} is not in the vocabulary of {} tokens", token,
                            vocabulary.size());
            }
        }
        const TokenPos context = deps_.backend->limits().context;
        if (std::ssize(request.prompt) >= context) {
            return fail(
                ErrorCode::context_length,
                "the prompt has {} tokens, and the context holds {} with room for an answer: shorten the prompt, "
                "or start with a larger -c",
                request.prompt.size(), context);
        }
        return {};
    }

    /// Takes over what other threads left; waits while there is nothing to do. False: stop.
    bool take_orders(bool may_wait) {
        std::unique_lock lock(mutex_);
        stats_ = loop_.stats();
        idle_ = loop_.idle();
        if (idle_ && incoming_.empty()) drained_.notify_all();
        const auto has_orders = [this] {
            return stopping_ || cancel_everything_ || save_s_ || !incoming_.empty() || !cancelled_.empty() ||
                   !cache_orders_.empty();
        };
        if (may_wait) wait(lock, has_orders);
        const std::optional<double> save_s = save_s_;
        std::vector<Incoming> incoming = std::exchange(incoming_, {});
        stats_.waiting += static_cast<std::int32_t>(incoming.size());  // until the loop says how many still do
        std::vector<RequestId> cancelled = std::exchange(cancelled_, {});
        const auto cache_orders = std::exchange(cache_orders_, {});
        const bool everything = std::exchange(cancel_everything_, false) || stopping_;
        const bool stop = stopping_;
        if (!incoming.empty()) idle_ = false;
        lock.unlock();
        for (Incoming &order : incoming)
            loop_.add(order.id, std::move(order.request), std::move(order.events));
        for (const RequestId id : cancelled)
            loop_.cancel(id);
        if (everything) loop_.cancel_all();
        for (const auto &order : cache_orders)
            order(*deps_.cache);
        if (save_s) save_now(*save_s);
        return !stop;
    }

    template <class HasOrders>
    void wait(std::unique_lock<std::mutex> &lock, HasOrders has_orders) {
        if (const auto seconds = loop_.wakes_in()) {
            wake_.wait_for(lock, std::chrono::duration<double>(*seconds), has_orders);
        } else {
            wake_.wait(lock, has_orders);
        }
    }

    void save_now(double seconds) {
        loop_.save(seconds);
        const std::lock_guard lock(mutex_);
        save_s_.reset();
        drained_.notify_all();
    }

    void work() {
        bool may_wait = true;
        while (take_orders(may_wait)) {
            const bool stepped = loop_.step();
            validate(stepped);
            may_wait = !stepped && !loop_.idle_work();
        }
    }

    /// Every step in a debug build. Else once when it falls idle, and so seldom that it takes a hundredth of the time.
    void validate(bool stepped) {
#ifdef NDEBUG
        const bool fell_idle = !stepped && std::exchange(stepped_, false);
        stepped_ = stepped_ || stepped;
        const double start = deps_.env.now_s();
        if (!fell_idle || start < validate_again_s_) return;
        loop_.check_invariants();
        const double end = deps_.env.now_s();
        validate_again_s_ = end + 100 * (end - start);
#else
        (void)stepped;
        loop_.check_invariants();
#endif
    }

    EngineDependencies deps_;
    EngineLoop loop_;  // used on thread_ only

    bool stepped_ = false;         // since it was idle; on thread_ only
    double validate_again_s_ = 0;  // on thread_ only

    mutable std::mutex mutex_;  // guards everything below but thread_
    std::condition_variable wake_;
    std::condition_variable drained_;
    std::vector<Incoming> incoming_;
    std::vector<RequestId> cancelled_;
    std::vector<std::function<void(PrefixCache &)>> cache_orders_;  // somebody waits for each
    EngineStats stats_;
    std::uint64_t last_id_ = 0;
    bool draining_ = false;
    bool stopping_ = false;
    bool cancel_everything_ = false;
    bool idle_ = true;
    std::optional<double> save_s_;  // somebody waits for what is worth keeping to be written, for so many seconds

    std::thread thread_;  // last: everything it uses is there before it starts
};

EngineThread::EngineThread(EngineDependencies dependencies) : impl_(std::make_unique<Impl>(std::move(dependencies))) {}
EngineThread::~EngineThread() = default;

Result<RequestId> EngineThread::submit(Request request, RequestEvents events) {
    return impl_->submit(std::move(request), std::move(events));
}
void EngineThread::cancel(RequestId id) {
    impl_->cancel(id);
}
Status EngineThread::with_cache(std::function<void(PrefixCache &)> work) {
    return impl_->with_cache(std::move(work));
}
void EngineThread::drain(double deadline_s) {
    impl_->drain(deadline_s);
}
const ModelInfo &EngineThread::model() const {
    return impl_->backend().info();
}
const BackendLimits &EngineThread::limits() const {
    return impl_->backend().limits();
}
const StateLayout &EngineThread::layout() const {
    return impl_->backend().layout();
}
const Vocabulary &EngineThread::vocabulary() const {
    return impl_->backend().vocabulary();
}
void EngineThread::save(double seconds) {
    impl_->save(seconds);
}
EngineStats EngineThread::stats() const {
    return impl_->stats();
}

}  // namespace cairn
