#include "app/cache_warm.h"

#include <fmt/format.h>
#include <unistd.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "app/cache_export.h"
#include "app/load_progress.h"
#include "base/json_text.h"
#include "library/composition.h"
#include "library/machine.h"
#include "server/engine_cache_admin.h"

namespace cairn {
namespace {

/// A server writes one state after the other, while requests leave it time.
constexpr double kPatienceSeconds = 300;
constexpr double kSaveSeconds = 3600;
constexpr std::size_t kMostTextBytes = std::size_t{256} << 20;

/// Through JSON, which is how a text reaches a server.
std::string as_utf8(const std::string &bytes) {
    using Json = nlohmann::json;
    return Json::parse(json_text(Json(bytes))).get<std::string>();
}

/// Ends at the first error; what was computed before is worth keeping.
WarmOutcome warm_all(CacheAdmin &cache, const std::vector<WarmText> &texts) {
    WarmOutcome outcome;
    for (const WarmText &text : texts) {
        const auto report = cache.warm(text.text);
        if (!report) {
            outcome.error = Error{report.error().code, fmt::format("{}: {}", text.path, report.error().what)};
            break;
        }
        outcome.files.push_back({text.path, *report});
    }
    return outcome;
}

std::vector<std::uint64_t> ids_of(const std::vector<WarmedFile> &warmed) {
    std::vector<std::uint64_t> ids;
    for (const WarmedFile &file : warmed)
        ids.push_back(file.report.id);
    return ids;
}

}  // namespace

Result<std::vector<WarmText>> read_texts(FileSystem &files, const std::vector<std::string> &paths) {
    std::vector<WarmText> texts;
    for (const std::string &path : paths) {
        if (path.empty()) return fail(ErrorCode::invalid_argument, "the name of a text is empty: name a file");
        auto text = read_text(files, path, kMostTextBytes);
        if (!text) return fail(text.error());
        texts.push_back({path, as_utf8(*text)});
    }
    return texts;
}

Result<WarmOutcome> warm_running(CacheAdmin &cache, const std::vector<WarmText> &texts) {
    auto outcome = warm_all(cache, texts);
    if (outcome.files.empty()) return outcome;
    const auto listing = wait_until_on_disk(cache, ids_of(outcome.files), kPatienceSeconds);
    // What ended it early is the news, and what comes after may follow from it.
    if (!listing && !outcome.error) return fail(listing.error());
    if (!listing) outcome.files.clear();
    return outcome;
}

Result<WarmOutcome> warm_stopped(Config config, const std::string &directory, const std::vector<WarmText> &texts) {
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
    EngineThread &engine = *(*graph)->engine;
    EngineCacheAdmin admin(engine, (*graph)->env.files());
    auto outcome = warm_all(admin, texts);
    engine.drain(0);
    engine.save(kSaveSeconds);
    const auto listing = admin.list();
    if (!listing) return fail(outcome.error.value_or(listing.error()));
    for (const WarmedFile &file : outcome.files) {
        const ListedSnapshot *snapshot = find_listed(*listing, file.report.id).snapshot;
        if (snapshot != nullptr && snapshot->is_in(Tier::disk)) continue;
        return fail(ErrorCode::capacity,
                    "the state of {} does not fit on disk beside the others: give more room with "
                    "--cache-disk, or remove some with `cairn cache gc`",
                    file.path);
    }
    return outcome;
}

}  // namespace cairn
