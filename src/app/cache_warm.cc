#include "app/cache_warm.h"

#include <fmt/format.h>
#include <unistd.h>

#include <utility>

#include "app/cache_export.h"
#include "app/composition.h"
#include "app/load_progress.h"
#include "app/machine.h"
#include "server/engine_cache_admin.h"

namespace cairn {
namespace {

/// A server writes one state after the other, while requests leave it time.
constexpr double kPatienceSeconds = 300;
constexpr double kSaveSeconds = 3600;
constexpr std::size_t kMostTextBytes = std::size_t{256} << 20;

Result<std::vector<std::string>> read_all(FileSystem &files, const std::vector<std::string> &paths) {
    std::vector<std::string> texts;
    for (const std::string &path : paths) {
        auto text = read_text(files, path, kMostTextBytes);
        if (!text) return fail(text.error());
        texts.push_back(std::move(*text));
    }
    return texts;
}

Result<std::vector<WarmedFile>> warm_all(CacheAdmin &cache, FileSystem &files, const std::vector<std::string> &paths) {
    const auto texts = read_all(files, paths);  // all before any is computed
    if (!texts) return fail(texts.error());
    std::vector<WarmedFile> warmed;
    for (std::size_t i = 0; i < paths.size(); ++i) {
        const auto report = cache.warm((*texts)[i]);
        if (!report) return fail(report.error().code, "{}: {}", paths[i], report.error().what);
        warmed.push_back({paths[i], *report});
    }
    return warmed;
}

std::vector<std::uint64_t> ids_of(const std::vector<WarmedFile> &warmed) {
    std::vector<std::uint64_t> ids;
    for (const WarmedFile &file : warmed)
        ids.push_back(file.report.id);
    return ids;
}

}  // namespace

Result<std::vector<WarmedFile>> warm_running(CacheAdmin &cache, const std::vector<std::string> &paths) {
    auto warmed = warm_all(cache, system_env().files(), paths);
    if (!warmed) return warmed;
    const auto listing = wait_until_on_disk(cache, ids_of(*warmed), kPatienceSeconds);
    if (!listing) return fail(listing.error());
    return warmed;
}

Result<std::vector<WarmedFile>> warm_stopped(Config config, const std::string &directory,
                                             const std::vector<std::string> &paths) {
    if (config.model.path.empty()) {
        return fail(ErrorCode::invalid_argument,
                    "no server runs on {}, and no model is named: give the GGUF file with "
                    "-m FILE",
                    directory);
    }
    config.model.parallel = 1;
    apply_serve_defaults(config, machine_facts(directory));
    if (config.engine.dynamic_batching) config.engine.dynamic_batching->snapshot_disk_path = directory;
    const DiskOpening disk{fmt::format("pid {}, cairn cache warm -m {}\n", ::getpid(), config.model.path), true};
    auto graph = compose(config, show_load_progress(config.model.path, false), disk);
    if (!graph) return fail(graph.error());
    if ((*graph)->policy.disk_bytes == 0) {
        return fail(ErrorCode::unsupported, "nothing can be kept on disk: {}",
                    (*graph)->policy.enabled ? "the budget is 0 (--cache-disk)" : (*graph)->policy.why_off);
    }
    Engine &engine = *(*graph)->engine;
    EngineCacheAdmin admin(engine, (*graph)->env.files());
    auto warmed = warm_all(admin, (*graph)->env.files(), paths);
    if (!warmed) return warmed;
    engine.drain(0);
    engine.save(kSaveSeconds);
    const auto listing = admin.list();
    if (!listing) return fail(listing.error());
    for (const WarmedFile &file : *warmed) {
        const ListedSnapshot *snapshot = find_listed(*listing, file.report.id).snapshot;
        if (snapshot != nullptr && snapshot->is_in(Tier::disk)) continue;
        return fail(ErrorCode::capacity,
                    "the state of {} does not fit on disk beside the others: give more room with "
                    "--cache-disk, or remove some with `cairn cache gc`",
                    file.path);
    }
    return warmed;
}

}  // namespace cairn
