#include "store/catalogue_load.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include <fmt/format.h>

namespace cairn {
namespace {

/// The one with this id of a vector that ascends by id.
template <class T>
T *find_by_id(std::vector<T> &sorted, std::uint64_t id) {
    const auto at = std::lower_bound(sorted.begin(), sorted.end(), id,
                                     [](const T &one, std::uint64_t wanted) { return one.id() < wanted; });
    return at == sorted.end() || at->id() != id ? nullptr : &*at;
}

}  // namespace

Status CatalogueLoad::read() {
    const auto keep_row = [this](auto &row) { return keep(row); };
    if (auto done = scan_facts(); !done) return done;
    if (auto done = scan<NamespaceRow>(sweep_.namespaces, keep_row); !done) return done;
    if (auto done = scan<PayloadRow>(sweep_.payloads, keep_row); !done) return done;
    if (auto done = scan<StateRow>(sweep_.states, keep_row); !done) return done;
    if (auto done = scan<SnapshotRow>(sweep_.snapshots, keep_row); !done) return done;
    drop_bare_paths();
    drop_unused();
    return {};
}

template <class Row, class Keep>
Status CatalogueLoad::scan(std::vector<std::int64_t> &dropped, Keep &&keep) {
    const auto statement = database_.prepare(fmt::format("SELECT {} FROM {} ORDER BY id", Row::kColumns, Row::kTable));
    if (!statement) return fail(statement.error());
    SqliteRun run = statement->run();
    std::int64_t last = std::numeric_limits<std::int64_t>::min();
    for (bool first = true;; first = false) {
        const auto more = run.step();
        if (!more) return fail(more.error());
        if (!*more) return {};
        const std::int64_t id = run.number(0);
        if (!first && id <= last) {
            return fail(ErrorCode::corrupt, "{}: rows of table {} are out of order: the file is damaged.",
                        database_.path(), Row::kTable);
        }
        last = id;
        Row row;
        if (read_row(run, hash_, row) && keep(row)) continue;
        dropped.push_back(id);
        ++damaged_;
    }
}

Status CatalogueLoad::scan_facts() {
    const auto statement = database_.prepare(fmt::format("SELECT {} FROM facts", FactRow::kColumns));
    if (!statement) return fail(statement.error());
    SqliteRun run = statement->run();
    for (;;) {
        const auto more = run.step();
        if (!more) return fail(more.error());
        if (!*more) return {};
        FactRow row;
        if (!read_row(run, hash_, row)) {
            sweep_.facts.emplace_back(run.text(0));
            ++damaged_;
        } else if (row.name == kLastIdFact) {
            std::from_chars(row.value.data(), row.value.data() + row.value.size(), last_id_);
        }
    }
}

bool CatalogueLoad::keep(NamespaceRow &row) {
    if (!is_id(row.id)) return false;
    last_namespace_id_ = std::max(last_namespace_id_, row.id);
    namespaces_.push_back({.row = std::move(row)});
    return true;
}

bool CatalogueLoad::keep(PayloadRow &row) {
    const StoredPayload &payload = row.payload;
    if (!is_whole(payload)) return false;
    last_id_ = std::max(last_id_, payload.id);
    if (find_by_id(namespaces_, row.ns) == nullptr) return false;
    if (payload.parent != 0) {
        const Payload *parent = payload_of(row.ns, payload.parent);
        if (parent == nullptr || !goes_on_from(payload, parent->row.payload)) return false;
    }
    payloads_.push_back({.row = row});
    return true;
}

bool CatalogueLoad::keep(StateRow &row) {
    if (!is_id(row.id)) return false;
    states_.push_back({.row = row});
    return true;
}

bool CatalogueLoad::keep(SnapshotRow &row) {
    const StoredSnapshot &snapshot = row.snapshot;
    if (!is_whole(snapshot)) return false;
    last_id_ = std::max(last_id_, snapshot.id);
    if (find_by_id(namespaces_, row.ns) == nullptr) return false;
    Checkpoint *parent = nullptr;
    if (snapshot.parent != 0) {
        parent = find_by_id(checkpoints_, snapshot.parent);
        if (parent == nullptr || parent->row.ns != row.ns) return false;
    }
    const TokenPos from = parent == nullptr ? 0 : parent->row.snapshot.position;
    if (snapshot.position - from != static_cast<std::int64_t>(snapshot.tokens.size())) return false;
    if (parent != nullptr) ++parent->children;
    join_state(row);
    checkpoints_.push_back({.row = std::move(row)});
    return true;
}

void CatalogueLoad::join_state(SnapshotRow &row) {
    StoredSnapshot &snapshot = row.snapshot;
    snapshot.live = false;
    snapshot.last_use_unix_s = snapshot.created_unix_s;
    State *state = find_by_id(states_, snapshot.id);
    if (state == nullptr || !has_payloads(row, state->row)) return;  // swept later, as a state nobody has
    state->used = true;
    snapshot.live = true;
    snapshot.rows = state->row.rows;
    snapshot.boundary = state->row.boundary;
    snapshot.last_use_unix_s = state->row.last_use_unix_s;
    snapshot.hits = state->row.hits;
}

bool CatalogueLoad::has_payloads(const SnapshotRow &row, const StateRow &state) {
    const TokenPos position = row.snapshot.position;
    if (state.rows == 0 && state.boundary == 0) return false;
    if (state.rows != 0) {
        const Payload *rows = payload_of(row.ns, state.rows);
        if (rows == nullptr || !are_rows_of(rows->row.payload, position)) return false;
    }
    if (state.boundary == 0) return true;
    const Payload *boundary = payload_of(row.ns, state.boundary);
    return boundary != nullptr && is_boundary_of(boundary->row.payload, position);
}

const CatalogueLoad::Payload *CatalogueLoad::payload_of(std::uint64_t ns, std::uint64_t id) {
    const Payload *found = find_by_id(payloads_, id);
    return found != nullptr && found->row.ns == ns ? found : nullptr;
}

void CatalogueLoad::mark_rows(std::uint64_t id) {
    // Where a payload is marked, so are those before it.
    for (Payload *at = find_by_id(payloads_, id); at != nullptr && !at->used;) {
        at->used = true;
        at = find_by_id(payloads_, at->row.payload.parent);
    }
}

void CatalogueLoad::drop_bare_paths() {
    for (auto at = checkpoints_.rbegin(); at != checkpoints_.rend(); ++at) {  // children before parents
        const StoredSnapshot &snapshot = at->row.snapshot;
        if (snapshot.live || at->children > 0) continue;
        at->kept = false;
        sweep_.snapshots.push_back(static_cast<std::int64_t>(snapshot.id));
        if (Checkpoint *parent = find_by_id(checkpoints_, snapshot.parent)) --parent->children;
    }
    std::erase_if(checkpoints_, [](const Checkpoint &one) { return !one.kept; });
}

void CatalogueLoad::drop_unused() {
    for (const State &state : states_) {
        if (state.used) continue;
        sweep_.states.push_back(static_cast<std::int64_t>(state.row.id));
        ++damaged_;
    }
    for (const Checkpoint &checkpoint : checkpoints_) {
        find_by_id(namespaces_, checkpoint.row.ns)->used = true;
        mark_rows(checkpoint.row.snapshot.rows);
        if (Payload *boundary = find_by_id(payloads_, checkpoint.row.snapshot.boundary)) boundary->used = true;
    }
    const auto drop = [](auto &rows, std::vector<std::int64_t> &dropped) {
        std::erase_if(rows, [&](const auto &one) {
            if (!one.used) dropped.push_back(static_cast<std::int64_t>(one.id()));
            return !one.used;
        });
    };
    drop(payloads_, sweep_.payloads);
    drop(namespaces_, sweep_.namespaces);
}

CatalogueTree CatalogueLoad::tree() const {
    CatalogueTree tree;
    tree.reserve(checkpoints_.size());
    for (const Checkpoint &checkpoint : checkpoints_) {
        const StoredSnapshot &snapshot = checkpoint.row.snapshot;
        tree.add(
            snapshot.id,
            {.parent = snapshot.parent, .ns = checkpoint.row.ns, .position = snapshot.position, .live = snapshot.live});
    }
    return tree;
}

std::map<NamespaceKey, NamespaceRow> CatalogueLoad::namespaces() const {
    std::map<NamespaceKey, NamespaceRow> by_key;
    for (const Namespace &one : namespaces_)
        by_key.emplace(one.row.key, one.row);
    return by_key;
}

CatalogueContent CatalogueLoad::take_content() {
    CatalogueContent content{.namespaces = {}, .last_id = last_id_, .dropped_rows = damaged_};
    std::map<std::uint64_t, std::size_t> places;  // by the namespace's id
    for (const Namespace &one : namespaces_) {
        places.emplace(one.row.id, content.namespaces.size());
        content.namespaces.push_back({.key = one.row.key, .model = one.row.model, .payloads = {}, .snapshots = {}});
    }
    for (const Payload &payload : payloads_)
        content.namespaces[places.at(payload.row.ns)].payloads.push_back(payload.row.payload);
    for (Checkpoint &checkpoint : checkpoints_)
        content.namespaces[places.at(checkpoint.row.ns)].snapshots.push_back(std::move(checkpoint.row.snapshot));
    checkpoints_.clear();
    return content;
}

}  // namespace cairn
