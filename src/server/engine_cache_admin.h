// EngineCacheAdmin: the cache of an engine that runs, for `cairn cache`.
//
//     EngineCacheAdmin admin(engine);
//     admin.list();                       // between two steps of the engine
//     admin.warm("You are ...");          // as any request; its state is kept on disk
//
// Ownership: the engine outlives it. Threads: as CacheAdmin; not the engine's own.
// Errors: those of PrefixCache and of Engine; cancelled and shutting_down after stop().
// Cost: list, remove and keep hold the engine up for milliseconds, import for as long as the files take to be written.
#pragma once

#include <memory>
#include <string>

#include "engine/engine_thread.h"
#include "store/cache_admin.h"

namespace cairn {

class EngineCacheAdmin final : public CacheAdmin {
public:
    EngineCacheAdmin(EngineThread &engine, FileSystem &files);
    ~EngineCacheAdmin() override;

    [[nodiscard]] Result<SnapshotListing> list() override;
    [[nodiscard]] Result<Tokens> tokens_of(std::uint64_t id) override;
    [[nodiscard]] Status remove(std::span<const std::uint64_t> ids) override;
    [[nodiscard]] Status keep(std::uint64_t id) override;
    [[nodiscard]] Result<ImportReport> import_archive(const std::string &path, const ImportOptions &options) override;
    [[nodiscard]] Result<WarmReport> warm(const std::string &text) override;
    void stop() override;

private:
    /// How a request that warms ended.
    struct Warming;

    template <class T, class Work>
    [[nodiscard]] Result<T> ask(Work work);
    [[nodiscard]] Result<WarmReport> compute(const Tokens &tokens);

    EngineThread &engine_;
    FileSystem &files_;
    std::shared_ptr<Warming> warming_;  // shared with the events of requests that may come after this is gone
};

}  // namespace cairn
