// CatalogueBench: entries for a catalogue, a script of transactions over all it can do, and contents as text, so that
// two of them can be compared and a difference can be read.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "store/catalogue.h"
#include "tests/support/sim_file_system.h"

namespace cairn::test {

inline constexpr const char *kCataloguePath = "/cache/catalogue.db";
inline constexpr const char *kCatalogueLog = "/cache/catalogue.db-wal";

[[nodiscard]] inline NamespaceKey namespace_key(std::uint8_t model = 1, const std::string &tenant = "") {
    NamespaceKey key{.model = {}, .tenant = tenant};
    key.model.bytes.fill(model);
    return key;
}

[[nodiscard]] inline Tokens tokens_of(std::size_t count, Token first) {
    Tokens tokens(count);
    for (std::size_t i = 0; i < count; ++i)
        tokens[i] = first + static_cast<Token>(i);
    return tokens;
}

/// Where a snapshot goes on from: ids of the parent, its rows, and its position.
struct Base {
    std::uint64_t snapshot = 0;
    std::uint64_t rows = 0;
    TokenPos position = 0;
};

/// Snapshot `id` with `count` tokens behind `base`: rows in payload id + 1, boundary in payload id + 2.
[[nodiscard]] inline CatalogueEntry entry_of(std::uint64_t id, const Base &base = {}, TokenPos count = 10,
                                             const NamespaceKey &ns = namespace_key()) {
    const TokenPos end = base.position + count;
    CatalogueEntry entry{.ns = ns, .model = "a model", .snapshot = {}, .payloads = {}};
    entry.snapshot = {.id = id,
                      .parent = base.snapshot,
                      .position = end,
                      .tokens = tokens_of(static_cast<std::size_t>(count), static_cast<Token>(id * 100)),
                      .kind = CheckpointKind::answer_end,
                      .live = true,
                      .rows = id + 1,
                      .boundary = id + 2,
                      .created_unix_s = 1'700'000'000 + static_cast<std::int64_t>(id),
                      .last_use_unix_s = 1'700'001'000 + static_cast<std::int64_t>(id),
                      .hits = static_cast<std::uint32_t>(id % 7),
                      .text = fmt::format("what snapshot {} says", id)};
    entry.payloads = {
        {id + 1, PayloadKind::rows, base.rows, {base.position, end}, 1000 + id, 5096 + id},
        {id + 2, PayloadKind::boundary, 0, {end, end}, 77, 4173},
    };
    return entry;
}
[[nodiscard]] inline Base base_of(const CatalogueEntry &entry) {
    return {entry.snapshot.id, entry.snapshot.rows, entry.snapshot.position};
}

[[nodiscard]] inline std::string line_of(const StoredPayload &p) {
    return fmt::format("payload {} kind {} parent {} [{}, {}) bytes {} file {}", p.id, static_cast<int>(p.kind),
                       p.parent, p.span.begin, p.span.end, p.bytes, p.file_bytes);
}
/// Tokens by number and hash: printed one by one they would take most of the tests' time.
[[nodiscard]] inline std::string path_line_of(const StoredSnapshot &s) {
    const std::string_view tokens(reinterpret_cast<const char *>(s.tokens.data()), s.tokens.size() * sizeof(Token));
    return fmt::format("snapshot {} parent {} at {} tokens {}/{:x} kind {} created {} text {}", s.id, s.parent,
                       s.position, s.tokens.size(), std::hash<std::string_view>{}(tokens), static_cast<int>(s.kind),
                       s.created_unix_s, s.text);
}
[[nodiscard]] inline std::string line_of(const StoredSnapshot &s) {
    return path_line_of(s) +
           (s.live ? fmt::format(" rows {} boundary {} used {} hits {}", s.rows, s.boundary, s.last_use_unix_s, s.hits)
                   : " path");
}
[[nodiscard]] inline std::string line_of(const StoredNamespace &ns) {
    return fmt::format("namespace {} tenant {} model {}", ns.key.model.hex(), ns.key.tenant, ns.model);
}
[[nodiscard]] inline std::string text_of(const CatalogueContent &content) {
    std::string text;
    for (const StoredNamespace &ns : content.namespaces) {
        text += line_of(ns) + "\n";
        for (const StoredPayload &payload : ns.payloads)
            text += "  " + line_of(payload) + "\n";
        for (const StoredSnapshot &snapshot : ns.snapshots)
            text += "  " + line_of(snapshot) + "\n";
    }
    return text + fmt::format("last id {}", content.last_id);
}

/// Everything that can be read, as text; "error: ..." where it cannot.
[[nodiscard]] inline std::string text_of(Catalogue &catalogue) {
    const auto content = catalogue.load();
    if (!content) return "error: " + content.error().what;
    if (content->dropped_rows > 0) return fmt::format("{} rows dropped", content->dropped_rows);
    const auto fact = catalogue.fact("rate");
    return text_of(*content) + " rate " + (fact ? *fact : "error: " + fact.error().what);
}

/// Opens and reads all.
[[nodiscard]] inline std::string text_at(FileSystem &files) {
    auto catalogue = Catalogue::open(files, kCataloguePath);
    return catalogue ? text_of(*catalogue) : "error: " + catalogue.error().what;
}

[[nodiscard]] inline std::unique_ptr<SimFileSystem> empty_disk() {
    auto disk = std::make_unique<SimFileSystem>();
    EXPECT_TRUE(disk->make_directories("/cache").has_value());
    disk->sync_all();
    return disk;
}

struct Step {
    std::function<Status(Catalogue &)> run;
    bool flushes = false;  ///< what was done up to here survives a loss of power
};

/// Transactions over everything: namespaces, chains, forks, rows on overflow pages, uses, removals, facts, flushes.
[[nodiscard]] inline std::vector<Step> script() {
    const auto put = [](const CatalogueEntry &entry) { return Step{[entry](Catalogue &c) { return c.put(entry); }}; };
    const auto remove = [](std::vector<std::uint64_t> snapshots, std::vector<std::uint64_t> payloads) {
        return Step{[=](Catalogue &c) { return c.remove(snapshots, payloads); }};
    };
    const auto fact = [](std::string value) { return Step{[=](Catalogue &c) { return c.set_fact("rate", value); }}; };
    const Step uses{[](Catalogue &c) {
        return c.note_uses(std::vector<SnapshotUse>{{10, 1'800'000'000, 5}, {20, 1'800'000'001, 6}, {999, 1, 1}});
    }};
    const Step tidy{[](Catalogue &c) { return c.tidy(); }, true};
    const CatalogueEntry a = entry_of(10);
    const CatalogueEntry b = entry_of(20, base_of(a), 2500);
    const CatalogueEntry c = entry_of(30, base_of(b), 7);
    const CatalogueEntry fork = entry_of(40, base_of(b), 40);
    const CatalogueEntry other = entry_of(50, {}, 12, namespace_key(2, "tenant"));
    const CatalogueEntry late = entry_of(60, base_of(c), 1200);
    const CatalogueEntry last = entry_of(70, base_of(other), 3, namespace_key(2, "tenant"));
    return {put(a),
            fact("1"),
            put(b),
            put(c),
            uses,
            put(fork),
            remove({20}, {22}),
            put(other),
            tidy,
            fact("2"),
            remove({40}, {41, 42}),
            put(late),
            uses,
            remove({30, 60}, {31, 32, 61, 62, 21}),
            put(last),
            tidy,
            put(entry_of(80, base_of(a), 300))};
}

/// The content after each number of steps: after none, after the first, ...
[[nodiscard]] inline std::vector<std::string> contents_of(const std::vector<Step> &steps) {
    const auto disk = empty_disk();
    std::vector<std::string> contents;
    auto catalogue = Catalogue::open(*disk, kCataloguePath);
    EXPECT_TRUE(catalogue.has_value()) << catalogue.error().what;
    contents.push_back(text_of(*catalogue));
    for (const Step &step : steps) {
        const Status done = step.run(*catalogue);
        EXPECT_TRUE(done.has_value()) << done.error().what;
        contents.push_back(text_of(*catalogue));
    }
    return contents;
}

}  // namespace cairn::test
