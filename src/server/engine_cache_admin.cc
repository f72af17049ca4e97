#include "server/engine_cache_admin.h"

#include <optional>
#include <utility>

#include "cache/prefix_cache.h"
#include "model/vocabulary.h"
#include "store/snapshot_archive.h"

namespace cairn {

struct EngineCacheAdmin::Warming {
    std::mutex mutex;  // guards all below
    std::condition_variable changed;
    std::optional<RequestId> running;
    std::optional<Result<TokenPos>> outcome;  // tokens that were not computed
    bool stopping = false;

    void end(Result<TokenPos> how) {
        {
            const std::lock_guard lock(mutex);
            outcome = std::move(how);
        }
        changed.notify_all();
    }
};

EngineCacheAdmin::EngineCacheAdmin(EngineThread &engine, FileSystem &files)
    : engine_(engine), files_(files), warming_(std::make_shared<Warming>()) {}
EngineCacheAdmin::~EngineCacheAdmin() = default;

template <class T, class Work>
Result<T> EngineCacheAdmin::ask(Work work) {
    std::optional<Result<T>> answer;
    if (auto done = engine_.with_cache([&](PrefixCache &cache) { answer = work(cache); }); !done) {
        return fail(done.error());
    }
    return std::move(*answer);
}

Result<SnapshotListing> EngineCacheAdmin::list() {
    return ask<SnapshotListing>([](PrefixCache &cache) { return cache.list(); });
}

Result<Tokens> EngineCacheAdmin::tokens_of(std::uint64_t id) {
    return ask<Tokens>([id](PrefixCache &cache) { return cache.tokens_of(id); });
}

Status EngineCacheAdmin::remove(std::span<const std::uint64_t> ids) {
    return ask<void>([ids](PrefixCache &cache) { return cache.remove(ids); });
}

Status EngineCacheAdmin::keep(std::uint64_t id) {
    return ask<void>([id](PrefixCache &cache) { return cache.keep(id); });
}

Result<ImportReport> EngineCacheAdmin::import_archive(const std::string &path, const ImportOptions &) {
    // All of it is read here once, so that the engine is not held up by what cannot be used.
    const auto header = read_archive_header(files_, path);
    if (!header) return fail(header.error());
    if (auto whole = verify_archive(files_, path, *header); !whole) return fail(whole.error());
    return ask<ImportReport>([&](PrefixCache &cache) { return cache.import_archive(path, *header); });
}

Result<WarmReport> EngineCacheAdmin::warm(const std::string &text) {
    auto tokens = engine_.vocabulary().tokenize(text, true, SpecialTokens::parse);
    if (!tokens) return fail(tokens.error());
    // The last token is computed anew whenever the prompt comes back, so the state before it is what is kept.
    if (tokens->size() < 2) {
        return fail(ErrorCode::invalid_argument, "the text is too short to be worth keeping: it has {} tokens",
                    tokens->size());
    }
    auto report = compute(*tokens);
    if (!report) return report;
    const auto prefix = TokenView(*tokens).first(tokens->size() - 1);
    const auto id = ask<std::uint64_t>([prefix](PrefixCache &cache) { return cache.keep("", prefix); });
    if (!id) return fail(id.error());
    report->id = *id;
    return report;
}

Result<WarmReport> EngineCacheAdmin::compute(const Tokens &tokens) {
    Request request;
    request.prompt = tokens;
    request.max_tokens = 0;
    RequestEvents events;
    events.finished = [state = warming_](FinishReason reason, const Usage &usage, const Timings &) {
        if (reason == FinishReason::cancelled) {
            state->end(fail(ErrorCode::cancelled, "the server is stopping: the text was not computed to its end"));
        } else {
            state->end(usage.cached_tokens);
        }
    };
    events.failed = [state = warming_](const Error &error) { state->end(fail(error)); };
    {
        const std::lock_guard lock(warming_->mutex);
        if (warming_->stopping) return fail(ErrorCode::shutting_down, "the server is stopping");
        warming_->outcome.reset();
    }
    // The engine is called without the lock: it has one of its own, and calls the events.
    const auto id = engine_.submit(std::move(request), std::move(events));
    if (!id) return fail(id.error());
    std::unique_lock lock(warming_->mutex);
    warming_->running = *id;
    if (warming_->stopping) {
        lock.unlock();
        engine_.cancel(*id);
        lock.lock();
    }
    warming_->changed.wait(lock, [this] { return warming_->outcome.has_value(); });
    warming_->running.reset();
    const Result<TokenPos> outcome = std::move(*warming_->outcome);
    if (!outcome) return fail(outcome.error());
    return WarmReport{.id = 0, .tokens = static_cast<TokenPos>(tokens.size()), .cached_tokens = *outcome};
}

void EngineCacheAdmin::stop() {
    std::optional<RequestId> running;
    {
        const std::lock_guard lock(warming_->mutex);
        warming_->stopping = true;
        running = warming_->running;
    }
    if (running) engine_.cancel(*running);
}

}  // namespace cairn
