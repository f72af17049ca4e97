#include "store/catalogue.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "base/check.h"
#include "store/catalogue_load.h"
#include "store/catalogue_rows.h"
#include "store/catalogue_schema.h"
#include "store/catalogue_tree.h"
#include "store/sqlite_database.h"

namespace cairn {
namespace {

/// Compiled once: what put(), remove() and note_uses() do for each row.
struct Statements {
    SqliteStatement insert_namespace;
    SqliteStatement insert_payload;
    SqliteStatement insert_snapshot;
    SqliteStatement insert_state;
    SqliteStatement insert_fact;
    SqliteStatement find_payload;
    SqliteStatement find_state;
    SqliteStatement find_fact;
    SqliteStatement delete_namespace;
    SqliteStatement delete_payload;
    SqliteStatement delete_snapshot;
    SqliteStatement delete_state;
    SqliteStatement delete_fact;
};

template <class Row>
std::string insert_sql(const char *verb = "INSERT") {
    return fmt::format("{} INTO {}({}) VALUES({})", verb, Row::kTable, Row::kColumns, Row::kMarks);
}
template <class Row>
std::string find_sql(const char *key = "id") {
    return fmt::format("SELECT {} FROM {} WHERE {} = ?", Row::kColumns, Row::kTable, key);
}
template <class Row>
std::string delete_sql(const char *key = "id") {
    return fmt::format("DELETE FROM {} WHERE {} = ?", Row::kTable, key);
}

Result<Statements> prepare_all(SqliteDatabase &database) {
    Statements all;
    const std::pair<SqliteStatement *, std::string> wanted[] = {
        {&all.insert_namespace, insert_sql<NamespaceRow>("REPLACE")},
        {&all.insert_payload, insert_sql<PayloadRow>()},
        {&all.insert_snapshot, insert_sql<SnapshotRow>()},
        {&all.insert_state, insert_sql<StateRow>("REPLACE")},
        {&all.insert_fact, insert_sql<FactRow>("REPLACE")},
        {&all.find_payload, find_sql<PayloadRow>()},
        {&all.find_state, find_sql<StateRow>()},
        {&all.find_fact, find_sql<FactRow>("name")},
        {&all.delete_namespace, delete_sql<NamespaceRow>()},
        {&all.delete_payload, delete_sql<PayloadRow>()},
        {&all.delete_snapshot, delete_sql<SnapshotRow>()},
        {&all.delete_state, delete_sql<StateRow>()},
        {&all.delete_fact, delete_sql<FactRow>("name")},
    };
    for (const auto &[statement, sql] : wanted) {
        auto made = database.prepare(sql);
        if (!made) return fail(made.error());
        *statement = std::move(*made);
    }
    return all;
}

template <class Key>
Status delete_each(const SqliteStatement &statement, const std::vector<Key> &keys) {
    for (const Key &key : keys) {
        SqliteRun run = statement.run();
        run.bind(column_of(key));
        if (auto done = run.finish(); !done) return done;
    }
    return {};
}

}  // namespace

struct Catalogue::Impl {
    std::unique_ptr<SqliteDatabase> database;
    Statements statements;  // go before the database
    RowHash hash;

    // What is known without asking the database, from load() on and after each commit.
    bool loaded = false;
    CatalogueTree tree;
    std::map<NamespaceKey, NamespaceRow> namespaces;
    std::uint64_t last_namespace_id = 0;
    std::uint64_t last_id = 0;

    [[nodiscard]] Result<CatalogueContent> load();
    [[nodiscard]] Status ensure_loaded();
    void sweep(const CatalogueSweep &sweep);
    [[nodiscard]] NamespaceRow namespace_of(const CatalogueEntry &entry) const;
    [[nodiscard]] Status check_snapshot(const CatalogueEntry &entry, std::uint64_t ns) const;
    [[nodiscard]] Status check_payloads(const CatalogueEntry &entry, std::uint64_t ns);
    [[nodiscard]] Result<StoredPayload> payload_for(const CatalogueEntry &entry, std::uint64_t ns, std::uint64_t id);
    [[nodiscard]] Status insert(const CatalogueEntry &entry, const NamespaceRow &ns);
    [[nodiscard]] Status raise_last_id(const CatalogueEntry &entry);
    [[nodiscard]] Status delete_rows(const RemovalPlan &plan, const std::vector<std::uint64_t> &payloads);
    [[nodiscard]] Status note_use(const SnapshotUse &use);
    /// False: there is no such row, or it is damaged.
    template <class Row, class Key>
    [[nodiscard]] Result<bool> find(const SqliteStatement &statement, const Key &key, Row &row) {
        SqliteRun run = statement.run();
        run.bind(column_of(key));
        const auto more = run.step();
        if (!more) return fail(more.error());
        return *more && read_row(run, hash, row);
    }
};

Catalogue::Catalogue(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Catalogue::~Catalogue() = default;
Catalogue::Catalogue(Catalogue &&) noexcept = default;
Catalogue &Catalogue::operator=(Catalogue &&) noexcept = default;

// -- open ----------------------------------------------------------------------------------------------------------

Result<Catalogue> Catalogue::open(FileSystem &files, const std::string &path) {
    auto impl = std::make_unique<Impl>();
    auto database = open_catalogue_file(files, path);
    if (!database) return fail(database.error());
    impl->database = std::move(*database);
    auto statements = prepare_all(*impl->database);
    if (!statements) return fail(statements.error());
    impl->statements = std::move(*statements);
    return Catalogue(std::move(impl));
}

// -- load ----------------------------------------------------------------------------------------------------------

Result<CatalogueContent> Catalogue::load() {
    impl_->database->begin_operation("Loading the catalogue");
    return impl_->load();
}

Result<CatalogueContent> Catalogue::Impl::load() {
    loaded = false;
    CatalogueLoad load(*database);
    if (auto read = load.read(); !read) return fail(read.error());
    tree = load.tree();
    namespaces = load.namespaces();
    last_namespace_id = load.last_namespace_id();
    CatalogueContent content = load.take_content();
    last_id = content.last_id;
    loaded = true;
    sweep(load.sweep());
    return content;
}

Status Catalogue::Impl::ensure_loaded() {
    if (loaded) return {};
    const auto content = load();
    if (!content) return fail(content.error());
    return {};
}

/// Best effort: what stays is dropped again by the next load. Until then nothing here names it.
void Catalogue::Impl::sweep(const CatalogueSweep &sweep) {
    if (sweep.empty()) return;
    (void)database->in_transaction([&]() -> Status {
        if (auto done = delete_each(statements.delete_state, sweep.states); !done) return done;
        if (auto done = delete_each(statements.delete_snapshot, sweep.snapshots); !done) return done;
        if (auto done = delete_each(statements.delete_payload, sweep.payloads); !done) return done;
        if (auto done = delete_each(statements.delete_namespace, sweep.namespaces); !done) return done;
        return delete_each(statements.delete_fact, sweep.facts);
    });
}

// -- put -----------------------------------------------------------------------------------------------------------

Status Catalogue::put(const CatalogueEntry &entry) {
    Impl &impl = *impl_;
    impl.database->begin_operation("Storing a snapshot in the catalogue");
    if (auto loaded = impl.ensure_loaded(); !loaded) return loaded;
    const NamespaceRow ns = impl.namespace_of(entry);
    if (auto whole = impl.check_snapshot(entry, ns.id); !whole) return whole;
    const Status done = impl.database->in_transaction([&]() -> Status {
        if (auto whole = impl.check_payloads(entry, ns.id); !whole) return whole;
        return impl.insert(entry, ns);
    });
    if (!done) return done;
    impl.namespaces.insert_or_assign(ns.key, ns);
    impl.last_namespace_id = std::max(impl.last_namespace_id, ns.id);
    const StoredSnapshot &snapshot = entry.snapshot;
    impl.tree.add(snapshot.id,
                  {.parent = snapshot.parent, .ns = ns.id, .position = snapshot.position, .live = snapshot.live});
    impl.last_id = std::max(impl.last_id, snapshot.id);
    for (const StoredPayload &payload : entry.payloads)
        impl.last_id = std::max(impl.last_id, payload.id);
    return {};
}

NamespaceRow Catalogue::Impl::namespace_of(const CatalogueEntry &entry) const {
    const auto at = namespaces.find(entry.ns);
    const std::uint64_t id = at == namespaces.end() ? last_namespace_id + 1 : at->second.id;
    return {.id = id, .key = entry.ns, .model = entry.model};
}

Status Catalogue::Impl::check_snapshot(const CatalogueEntry &entry, std::uint64_t ns) const {
    const StoredSnapshot &snapshot = entry.snapshot;
    const auto refuse = [&](const char *why) {
        return fail(ErrorCode::invalid_argument, "Snapshot {} cannot be stored: {}.", snapshot.id, why);
    };
    if (!is_whole(snapshot)) return refuse("its id, its parent's id, or its position is not possible");
    // With room for the other columns.
    constexpr std::size_t kMost = SqliteDatabase::kMaxRowBytes - 4096;
    if (snapshot.tokens.size() > kMost / sizeof(Token) ||
        snapshot.tokens.size() * sizeof(Token) + snapshot.text.size() > kMost)
        return refuse("it has too many tokens for one row");
    if (entry.ns.tenant.size() + entry.model.size() > kMost) return refuse("its namespace is too large for one row");
    if (tree.find(snapshot.id) != nullptr) return refuse("its id is taken");
    const CheckpointNode *parent = tree.find(snapshot.parent);
    if (snapshot.parent != 0 && (parent == nullptr || parent->ns != ns)) return refuse("its parent is not stored");
    const TokenPos from = parent == nullptr ? 0 : parent->position;
    if (snapshot.position - from != static_cast<std::int64_t>(snapshot.tokens.size()))
        return refuse("its tokens do not reach from its parent's position to its own");
    if (!snapshot.live && (snapshot.rows != 0 || snapshot.boundary != 0)) return refuse("a path has no payloads");
    if (snapshot.live && snapshot.rows == 0 && snapshot.boundary == 0) return refuse("it has no payload at all");
    return {};
}

Result<StoredPayload> Catalogue::Impl::payload_for(const CatalogueEntry &entry, std::uint64_t ns, std::uint64_t id) {
    for (const StoredPayload &payload : entry.payloads) {
        if (payload.id == id) return payload;
    }
    PayloadRow row;
    const auto found = find(statements.find_payload, id, row);
    if (!found) return fail(found.error());
    if (*found && row.ns == ns) return row.payload;
    return fail(ErrorCode::invalid_argument, "Snapshot {} cannot be stored: its payload {} is not.", entry.snapshot.id,
                id);
}

Status Catalogue::Impl::check_payloads(const CatalogueEntry &entry, std::uint64_t ns) {
    const StoredSnapshot &snapshot = entry.snapshot;
    const auto refuse = [&](std::uint64_t payload) {
        return fail(ErrorCode::invalid_argument, "Snapshot {} cannot be stored: its payload {} does not fit.",
                    snapshot.id, payload);
    };
    for (const StoredPayload &payload : entry.payloads) {
        if (!is_whole(payload)) return refuse(payload.id);
        if (payload.parent == 0) continue;
        const auto parent = payload_for(entry, ns, payload.parent);
        if (!parent) return fail(parent.error());
        if (!goes_on_from(payload, *parent)) return refuse(payload.id);
    }
    if (snapshot.rows != 0) {
        const auto rows = payload_for(entry, ns, snapshot.rows);
        if (!rows) return fail(rows.error());
        if (!are_rows_of(*rows, snapshot.position)) return refuse(snapshot.rows);
    }
    if (snapshot.boundary == 0) return {};
    const auto boundary = payload_for(entry, ns, snapshot.boundary);
    if (!boundary) return fail(boundary.error());
    if (!is_boundary_of(*boundary, snapshot.position)) return refuse(snapshot.boundary);
    return {};
}

Status Catalogue::Impl::insert(const CatalogueEntry &entry, const NamespaceRow &ns) {
    const StoredSnapshot &snapshot = entry.snapshot;
    const auto known = namespaces.find(ns.key);
    if (known == namespaces.end() || known->second.model != ns.model) {
        if (auto done = write_row(statements.insert_namespace.run(), hash, ns); !done) return done;
    }
    for (const StoredPayload &payload : entry.payloads) {
        const PayloadRow row{.ns = ns.id, .payload = payload};
        if (auto done = write_row(statements.insert_payload.run(), hash, row); !done) return done;
    }
    const SnapshotRow row{.ns = ns.id, .snapshot = snapshot};
    if (auto done = write_row(statements.insert_snapshot.run(), hash, row); !done) return done;
    if (snapshot.live) {
        const StateRow state{.id = snapshot.id,
                             .rows = snapshot.rows,
                             .boundary = snapshot.boundary,
                             .last_use_unix_s = snapshot.last_use_unix_s,
                             .hits = snapshot.hits};
        if (auto done = write_row(statements.insert_state.run(), hash, state); !done) return done;
    }
    return raise_last_id(entry);
}

Status Catalogue::Impl::raise_last_id(const CatalogueEntry &entry) {
    std::uint64_t largest = entry.snapshot.id;
    for (const StoredPayload &payload : entry.payloads)
        largest = std::max(largest, payload.id);
    if (largest <= last_id) return {};
    const FactRow fact{.name = CatalogueLoad::kLastIdFact, .value = std::to_string(largest)};
    return write_row(statements.insert_fact.run(), hash, fact);
}

// -- remove, uses, facts -------------------------------------------------------------------------------------------

Status Catalogue::remove(std::span<const std::uint64_t> snapshots, std::span<const std::uint64_t> payloads) {
    Impl &impl = *impl_;
    impl.database->begin_operation("Removing snapshots from the catalogue");
    if (auto loaded = impl.ensure_loaded(); !loaded) return loaded;
    const RemovalPlan plan = impl.tree.plan_removal(snapshots);
    if (plan.gone.empty() && plan.paths.empty() && payloads.empty()) return {};
    const std::vector<std::uint64_t> payload_ids(payloads.begin(), payloads.end());
    const Status done = impl.database->in_transaction([&] { return impl.delete_rows(plan, payload_ids); });
    if (done) impl.tree.apply(plan);
    return done;
}

Status Catalogue::Impl::delete_rows(const RemovalPlan &plan, const std::vector<std::uint64_t> &payloads) {
    if (auto done = delete_each(statements.delete_state, plan.paths); !done) return done;
    if (auto done = delete_each(statements.delete_state, plan.gone); !done) return done;
    if (auto done = delete_each(statements.delete_snapshot, plan.gone); !done) return done;
    return delete_each(statements.delete_payload, payloads);
}

Status Catalogue::note_uses(std::span<const SnapshotUse> uses) {
    Impl &impl = *impl_;
    if (uses.empty()) return {};
    impl.database->begin_operation("Noting uses in the catalogue");
    if (auto loaded = impl.ensure_loaded(); !loaded) return loaded;
    return impl.database->in_transaction([&]() -> Status {
        for (const SnapshotUse &use : uses) {
            if (auto done = impl.note_use(use); !done) return done;
        }
        return {};
    });
}

Status Catalogue::Impl::note_use(const SnapshotUse &use) {
    const CheckpointNode *node = tree.find(use.id);
    if (node == nullptr || !node->live) return {};
    StateRow state;
    const auto found = find(statements.find_state, use.id, state);
    if (!found) return fail(found.error());
    if (!*found) return {};  // damaged since it was loaded: writing it anew would give it a right checksum
    state.last_use_unix_s = use.last_use_unix_s;
    state.hits = use.hits;
    return write_row(statements.insert_state.run(), hash, state);
}

Status Catalogue::set_fact(const std::string &name, const std::string &value) {
    Impl &impl = *impl_;
    constexpr std::size_t kMost = 1 << 20;
    if (name.starts_with("catalogue.") || name.size() + value.size() > kMost) {
        return fail(ErrorCode::invalid_argument,
                    "The fact {} cannot be stored: its name is the catalogue's own, or it "
                    "is too long.",
                    name.substr(0, 64));
    }
    impl.database->begin_operation("Storing a fact in the catalogue");
    return impl.database->in_transaction(
        [&] { return write_row(impl.statements.insert_fact.run(), impl.hash, FactRow{.name = name, .value = value}); });
}

Result<std::string> Catalogue::fact(const std::string &name) {
    Impl &impl = *impl_;
    impl.database->begin_operation("Reading a fact of the catalogue");
    FactRow row;
    const auto found = impl.find(impl.statements.find_fact, name, row);
    if (!found) return fail(found.error());
    return *found ? std::move(row.value) : std::string();
}

Status Catalogue::tidy() {
    impl_->database->begin_operation("Tidying the catalogue");
    return impl_->database->tidy();
}

}  // namespace cairn
