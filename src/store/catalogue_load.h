// CatalogueLoad: reads a whole catalogue, keeps what is whole, and lists the rows that are to go.
//
//     CatalogueLoad load(database);
//     if (auto read = load.read(); !read) return read;       // corrupt: the database is damaged as a whole
//     content = load.take_content();                         // after tree() and namespaces()
//
// What is dropped, in this order: rows whose checksum is wrong; payloads and snapshots whose parent or namespace is
// missing or does not fit; states whose payloads are missing, so that their snapshots become paths; paths that nothing
// builds on; payloads that no state needs; namespaces without snapshots. The first three count as damage.
//
// Each table is read once in the order of its ids. Ids that do not ascend mean that the tree of pages is damaged, and
// then nothing of it can be believed: corrupt.
//
// Threads: one at a time. Errors: those of SqliteDatabase. Cost: linear, with a binary search for each reference.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "store/catalogue_rows.h"
#include "store/catalogue_tree.h"
#include "store/sqlite_database.h"

namespace cairn {

/// Ids of rows to delete, for each table.
struct CatalogueSweep {
    std::vector<std::int64_t> namespaces;
    std::vector<std::int64_t> payloads;
    std::vector<std::int64_t> snapshots;
    std::vector<std::int64_t> states;
    std::vector<std::string> facts;

    [[nodiscard]] bool empty() const noexcept {
        return namespaces.empty() && payloads.empty() && snapshots.empty() && states.empty() && facts.empty();
    }
};

class CatalogueLoad {
public:
    /// The fact that holds the largest id ever used.
    static constexpr const char *kLastIdFact = "catalogue.last_id";

    explicit CatalogueLoad(SqliteDatabase &database) : database_(database) {}
    [[nodiscard]] Status read();

    [[nodiscard]] const CatalogueSweep &sweep() const noexcept { return sweep_; }
    [[nodiscard]] CatalogueTree tree() const;
    [[nodiscard]] std::map<NamespaceKey, NamespaceRow> namespaces() const;
    /// Largest id of a namespace that may still have rows.
    [[nodiscard]] std::uint64_t last_namespace_id() const noexcept { return last_namespace_id_; }
    [[nodiscard]] CatalogueContent take_content();

private:
    struct Namespace {
        NamespaceRow row;
        bool used = false;
        std::uint64_t id() const noexcept { return row.id; }
    };
    struct Payload {
        PayloadRow row;
        bool used = false;
        std::uint64_t id() const noexcept { return row.payload.id; }
    };
    struct State {
        StateRow row;
        bool used = false;
        std::uint64_t id() const noexcept { return row.id; }
    };
    struct Checkpoint {
        SnapshotRow row;
        std::size_t children = 0;
        bool kept = true;
        std::uint64_t id() const noexcept { return row.snapshot.id; }
    };

    template <class Row, class Keep>
    [[nodiscard]] Status scan(std::vector<std::int64_t> &dropped, Keep &&keep);
    [[nodiscard]] Status scan_facts();
    [[nodiscard]] bool keep(NamespaceRow &row);
    [[nodiscard]] bool keep(PayloadRow &row);
    [[nodiscard]] bool keep(StateRow &row);
    [[nodiscard]] bool keep(SnapshotRow &row);
    /// Gives the snapshot its state, where it has one whose payloads are there.
    void join_state(SnapshotRow &row);
    [[nodiscard]] bool has_payloads(const SnapshotRow &row, const StateRow &state);
    [[nodiscard]] const Payload *payload_of(std::uint64_t ns, std::uint64_t id);
    void mark_rows(std::uint64_t id);
    void drop_bare_paths();
    void drop_unused();

    SqliteDatabase &database_;
    RowHash hash_;
    std::vector<Namespace> namespaces_;  // each ascending by id
    std::vector<Payload> payloads_;
    std::vector<State> states_;
    std::vector<Checkpoint> checkpoints_;
    CatalogueSweep sweep_;
    std::uint64_t last_id_ = 0;
    std::uint64_t last_namespace_id_ = 0;
    std::size_t damaged_ = 0;
};

}  // namespace cairn
