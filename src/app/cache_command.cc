// `cairn cache`: looks after a cache directory. How to use it: docs/cache-command.md.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "app/cache_arguments.h"
#include "app/cache_export.h"
#include "app/cache_printer.h"
#include "app/cache_verify.h"
#include "app/cache_warm.h"
#include "app/commands.h"
#include "app/open_cache.h"
#include "app/stop_signals.h"
#include "base/json_text.h"
#include "config/cli.h"
#include "library/machine.h"
#include "store/gc_plan.h"

namespace cairn {

namespace {

using Json = nlohmann::ordered_json;

struct CacheOptions {
    std::string directory;
    bool json = false;
    bool fix = false;
    bool all = false;
    bool any_model = false;
    bool force = false;
    std::optional<std::string> model;
    std::optional<std::string> max_bytes;
    std::optional<std::string> older_than_days;
    std::vector<std::string> ids;
    std::string id;
    std::string file;
    std::vector<std::string> files;
    Config config;  // of warm
};

std::string directory_of(const CacheOptions &options) {
    return options.directory.empty() ? default_cache_directory() : options.directory;
}

Result<OpenCache> open(const CacheOptions &options, WhereMissing missing = WhereMissing::fail) {
    return open_cache(system_env(), directory_of(options), missing);
}

void print(const std::string &text) {
    std::fwrite(text.data(), 1, text.size(), stdout);
}

void print_json(const Json &json) {
    print(json_text(json) + '\n');
}

/// 0: not a terminal, no limit.
std::size_t terminal_width() {
    winsize size{};
    return isatty(STDOUT_FILENO) == 1 && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

/// For commands that print something else: what opening the directory found wrong is not to pass unnoticed.
void print_notes(const SnapshotListing &listing) {
    for (const std::string &note : listing.notes)
        fmt::print(stderr, "note  {}\n", escaped(note));
}

// -- looking -------------------------------------------------------------------------------------------------------

int show(const CacheOptions &options, std::string (*as_json)(const SnapshotListing &),
         std::string (*as_text)(const SnapshotListing &)) {
    auto cache = open(options);
    if (!cache) return report(cache.error());
    const auto listing = cache->admin->list();
    if (!listing) return report(listing.error());
    print(options.json ? as_json(*listing) + '\n' : as_text(*listing));
    return 0;
}

std::string table_text(const SnapshotListing &listing) {
    print_notes(listing);
    return snapshot_table(listing, terminal_width());
}

std::string table_json(const SnapshotListing &listing) {
    print_notes(listing);
    return to_json(listing);
}

int list(const CacheOptions &options) {
    return show(options, table_json, table_text);
}

int statistics(const CacheOptions &options) {
    return show(options, statistics_json, statistics_text);
}

VerifyProgress verify_progress() {
    if (isatty(STDERR_FILENO) != 1) return {};
    return [shown = -1](std::uint64_t done, std::uint64_t all) mutable {
        const int percent = all == 0 ? 100 : static_cast<int>(done * 100 / all);
        if (percent == shown) return;
        shown = percent;
        constexpr int kWidth = 30;
        const int filled = percent * kWidth / 100;
        fmt::print(stderr, "\rreading [{:#<{}}{:.<{}}] {:3} %{}", "", filled, "", kWidth - filled, percent,
                   done == all ? "\n" : "");
        std::fflush(stderr);
    };
}

/// Removes those of `ids` that are listed, and returns the bytes that frees on disk. A server that is busy evicts some
/// meanwhile: they are as good as removed.
Result<std::uint64_t> remove_listed(CacheAdmin &admin, SnapshotListing listing, std::vector<std::uint64_t> ids) {
    constexpr int kTries = 20;
    for (int i = 1;; ++i) {
        std::erase_if(ids, [&](std::uint64_t id) { return find_listed(listing, id).snapshot == nullptr; });
        if (ids.empty()) return 0;
        const std::uint64_t freed = footprint_of(payloads_freed(listing, ids));
        const auto done = admin.remove(ids);
        if (done) return freed;
        if (done.error().code != ErrorCode::not_found || i == kTries) return fail(done.error());
        auto again = admin.list();
        if (!again) return fail(again.error());
        listing = std::move(*again);
    }
}

int verify(const CacheOptions &options) {
    auto cache = open(options);
    if (!cache) return report(cache.error());
    const auto listing = cache->admin->list();
    if (!listing) return report(listing.error());
    const VerifyReport found = verify_payloads(system_env().files(), *listing, verify_progress());
    std::vector<std::uint64_t> removed;
    if (options.fix) removed = damaged_snapshots(found);
    if (!removed.empty()) {
        if (auto done = remove_listed(*cache->admin, *listing, removed); !done) return report(done.error());
    }
    const bool lost = cache->lost_something;
    print(options.json ? verify_json(found, removed, listing->notes, lost) + '\n'
                       : verify_text(found, listing->notes, lost));
    if (!options.json && !removed.empty()) print(fmt::format("removed: {}\n", fmt::join(removed, ", ")));
    return found.damaged.empty() && !lost ? 0 : 1;
}

// -- removing ------------------------------------------------------------------------------------------------------

int remove(OpenCache &cache, const SnapshotListing &listing, const std::vector<std::uint64_t> &ids, bool json) {
    print_notes(listing);
    const auto freed = remove_listed(*cache.admin, listing, ids);
    if (!freed) return report(freed.error());
    if (json) {
        print_json({{"removed", ids}, {"freed_bytes", *freed}, {"removed_files", cache.removed_files}});
        return 0;
    }
    print(fmt::format("removed {} snapshot{}, {} on disk\n", ids.size(), ids.size() == 1 ? "" : "s",
                      human_bytes(*freed)));
    if (cache.removed_files > 0) {
        print(fmt::format("removed {} file{} that nothing named\n", cache.removed_files,
                          cache.removed_files == 1 ? "" : "s"));
    }
    return 0;
}

Status check_model(const SnapshotListing &listing, const std::string &model) {
    for (const ListedNamespace &ns : listing.namespaces) {
        if (is_model(ns, model)) return {};
    }
    return fail(ErrorCode::not_found, "nothing of a model {} is in {}: `cairn cache stat` lists those that are there",
                model, listing.directory);
}

int collect(const CacheOptions &options) {
    const auto max_bytes = parse_max_bytes(options.max_bytes);
    if (!max_bytes) return report(max_bytes.error());
    const auto older_than_s = parse_older_than(options.older_than_days);
    if (!older_than_s) return report(older_than_s.error());
    if (auto named = check_model_name(options.model); !named) return report(named.error());
    if (!*max_bytes && !*older_than_s) {
        return report(
            {ErrorCode::invalid_argument,
             "gc needs a limit: say how much may stay (--max-bytes SIZE), or since when what goes was not used "
             "(--older-than DAYS)"});
    }
    const GcLimits limits{.max_bytes = *max_bytes, .older_than_s = *older_than_s, .model = options.model.value_or("")};
    auto cache = open(options);
    if (!cache) return report(cache.error());
    const auto listing = cache->admin->list();
    if (!listing) return report(listing.error());
    if (!limits.model.empty()) {
        if (auto known = check_model(*listing, limits.model); !known) return report(known.error());
    }
    return remove(*cache, *listing, plan_gc(*listing, limits), options.json);
}

int remove_named(const CacheOptions &options) {
    const int ways = (options.all ? 1 : 0) + (options.model ? 1 : 0) + (options.ids.empty() ? 0 : 1);
    if (ways == 0) {
        return report({ErrorCode::invalid_argument, "say what to remove: ids of snapshots, --model NAME, or --all"});
    }
    if (ways > 1) {
        return report({ErrorCode::invalid_argument,
                       "ids of snapshots, --model NAME and --all exclude each other: give one of them"});
    }
    const auto named = parse_ids(options.ids);
    if (!named) return report(named.error());
    if (auto good = check_model_name(options.model); !good) return report(good.error());
    auto cache = open(options);
    if (!cache) return report(cache.error());
    const auto listing = cache->admin->list();
    if (!listing) return report(listing.error());
    if (auto known = check_listed(*listing, *named); !known) return report(known.error());
    if (options.model) {
        if (auto known = check_model(*listing, *options.model); !known) return report(known.error());
    }
    std::vector<std::uint64_t> ids = *named;
    for (const ListedNamespace &ns : listing->namespaces) {
        if (!options.all && (!options.model || !is_model(ns, *options.model))) continue;
        for (const ListedSnapshot &snapshot : ns.snapshots)
            ids.push_back(snapshot.id);
    }
    return remove(*cache, *listing, ids, options.json);
}

// -- bringing in and out -------------------------------------------------------------------------------------------

int warm(const CacheOptions &options) {
    const auto &batching = options.config.engine.dynamic_batching;
    const bool named = batching && batching->snapshot_disk_path && !batching->snapshot_disk_path->empty();
    const std::string directory = named ? *batching->snapshot_disk_path : default_cache_directory();
    const auto texts = read_texts(system_env().files(), options.files);
    if (!texts) return report(texts.error());
    auto cache = open_cache(system_env(), directory, WhereMissing::make);
    if (!cache) return report(cache.error());
    Result<WarmOutcome> warmed = fail(ErrorCode::internal, "nothing was warmed");
    if (cache->running) {
        warmed = warm_running(*cache->admin, *texts);
    } else {
        cache->admin.reset();  // the engine takes the lock
        warmed = warm_stopped(options.config, directory, *texts);
    }
    if (!warmed) return report(warmed.error());
    Json json = Json::array();
    for (const WarmedFile &file : warmed->files) {
        const WarmReport &r = file.report;
        json.push_back({{"file", file.path}, {"id", r.id}, {"tokens", r.tokens}, {"cached_tokens", r.cached_tokens}});
        if (options.json) continue;
        print(fmt::format("{}: snapshot {}, {} tokens, {} of them were cached\n", file.path, r.id, r.tokens,
                          r.cached_tokens));
    }
    if (options.json) print_json(json);
    return warmed->error ? report(*warmed->error) : 0;
}

int export_to_file(const CacheOptions &options) {
    const auto id = parse_id(options.id);
    if (!id) return report(id.error());
    const Existing existing = options.force ? Existing::replace : Existing::refuse;
    if (auto free = check_target(system_env().files(), options.file, existing); !free) return report(free.error());
    auto cache = open(options);
    if (!cache) return report(cache.error());
    const auto bytes = export_snapshot(system_env().files(), *cache->admin, *id, options.file, existing);
    if (!bytes) return report(bytes.error());
    if (options.json) {
        print_json({{"id", *id}, {"file", options.file}, {"bytes", *bytes}});
    } else {
        print(fmt::format("snapshot {} is in {} now, {}\n", *id, options.file, human_bytes(*bytes)));
    }
    return 0;
}

int import_from_file(const CacheOptions &options) {
    const auto max_bytes = parse_max_bytes(options.max_bytes);
    if (!max_bytes) return report(max_bytes.error());
    const ImportOptions how{.any_model = options.any_model, .max_bytes = max_bytes->value_or(0)};
    if (options.file.empty()) return report({ErrorCode::invalid_argument, "the file's name is empty: name an archive"});
    if (auto good = check_is_archive(system_env().files(), options.file); !good) return report(good.error());
    auto cache = open(options, WhereMissing::make);
    if (!cache) return report(cache.error());
    const auto imported = cache->admin->import_archive(options.file, how);
    if (!imported) return report(imported.error());
    if (options.json) {
        print_json({{"id", imported->id}, {"was_there", imported->was_there}});
    } else if (imported->was_there) {
        print(fmt::format("the same prefix is cached already, as snapshot {}: nothing was imported\n", imported->id));
    } else {
        print(fmt::format("imported as snapshot {}\n", imported->id));
    }
    return 0;
}

// -- the command line ----------------------------------------------------------------------------------------------

using Run = int (*)(const CacheOptions &);

struct Subcommand {
    CLI::App *app;
    Run run;
};

CLI::App *add(CLI::App &parent, CacheOptions &options, const char *name, const char *help) {
    CLI::App *app = parent.add_subcommand(name, help);
    app->add_option("--cache-dir", options.directory, "The cache directory; default: the user's own.");
    app->add_flag("--json", options.json, "Print JSON.");
    return app;
}

std::vector<Subcommand> add_looking(CLI::App &parent, CacheOptions &options) {
    CLI::App *listing = add(parent, options, "ls", "List what is cached, as a tree by prefix.");
    CLI::App *counting = add(parent, options, "stat", "Totals by model and tier, and budgets.");
    CLI::App *verifying = add(parent, options, "verify", "Read every file with all checksums.");
    verifying->add_flag("--fix", options.fix, "Remove the snapshots that need damaged files.");
    return {{listing, list}, {counting, statistics}, {verifying, verify}};
}

std::vector<Subcommand> add_removing(CLI::App &parent, CacheOptions &options) {
    CLI::App *collecting = add(parent, options, "gc", "Remove what was not used for longest.");
    collecting->add_option("--max-bytes", options.max_bytes, "Most that stays on disk: MiB, or with K, M or G behind.");
    collecting->add_option("--older-than", options.older_than_days, "Days since the last use.");
    collecting->add_option("--model", options.model, "Only of this model: its name, or how its fingerprint begins.");
    CLI::App *removing = add(parent, options, "rm", "Remove snapshots by id.");
    removing->add_option("ID", options.ids, "Ids, as `cairn cache ls` shows them.");
    removing->add_option("--model", options.model, "All of this model: its name, or how its fingerprint begins.");
    removing->add_flag("--all", options.all, "Everything.");
    return {{collecting, collect}, {removing, remove_named}};
}

std::vector<Subcommand> add_bringing(CLI::App &parent, CacheOptions &options) {
    CLI::App *warming = parent.add_subcommand("warm", "Compute texts and keep their states on disk.");
    add_options(*warming, options.config, {OptionGroup::model, OptionGroup::engine});
    warming->add_flag("--json", options.json, "Print JSON.");
    warming->add_option("FILE", options.files, "Texts, each a prompt's beginning as it is.")->required();
    CLI::App *exporting = add(parent, options, "export", "Write one snapshot, with all it needs, to a file.");
    exporting->add_option("ID", options.id, "The snapshot.")->required();
    exporting->add_option("FILE", options.file, "The file to write.")->required();
    exporting->add_flag("--force", options.force, "Replace the file if it is there.");
    CLI::App *importing = add(parent, options, "import", "Take in a snapshot from a file that `export` wrote.");
    importing->add_option("FILE", options.file, "The file.")->required();
    importing->add_flag("--any-model", options.any_model, "Also of a model that nothing is cached of.");
    importing->add_option("--max-bytes", options.max_bytes,
                          "Most on disk afterwards, where no server has a limit of its own.");
    return {{warming, warm}, {exporting, export_to_file}, {importing, import_from_file}};
}

}  // namespace

Command add_cache_command(CLI::App &parent) {
    CLI::App *app = parent.add_subcommand("cache", "Look after the cache directory, a running server's too.");
    app->require_subcommand(1);
    auto options = std::make_shared<CacheOptions>();
    std::vector<Subcommand> subcommands;
    for (const auto &added : {add_looking, add_removing, add_bringing}) {
        const auto more = added(*app, *options);
        subcommands.insert(subcommands.end(), more.begin(), more.end());
    }
    return {app, [options, subcommands] {
                ignore_file_size_signal();
                for (const Subcommand &subcommand : subcommands) {
                    if (subcommand.app->parsed()) return subcommand.run(*options);
                }
                return 2;
            }};
}

}  // namespace cairn
