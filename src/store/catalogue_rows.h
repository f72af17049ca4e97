// The rows of the catalogue's tables: their columns, their checksums, and the rules that make a row whole.
//
//     RowHash hash;
//     SqliteRun run = insert.run();
//     auto done = write_row(run, hash, PayloadRow{...});         // binds all columns and the checksum, runs
//
//     PayloadRow row;
//     if (!read_row(run, hash, row)) ...                         // damaged: the checksum or a value's range is wrong
//
// A row's checksum is XXH3-64 over its table's name and all its other columns in their order: a number as 8 bytes,
// little-endian, two's complement; text, bytes and the table's name as their length (8 bytes) and themselves.
//
// Threads: values; a RowHash one at a time. Cost: a copy of the row's bytes and their hash.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "store/catalogue.h"
#include "store/sqlite_statement.h"

namespace cairn {

struct NamespaceRow {
    std::uint64_t id = 0;
    NamespaceKey key;
    std::string model;

    static constexpr const char *kTable = "namespaces";
    static constexpr const char *kColumns = "id, fingerprint, tenant, model, checksum";
    static constexpr const char *kMarks = "?, ?, ?, ?, ?";
    template <class Self, class Visit>
    static void each_column(Self &self, Visit &&visit) {
        visit(self.id);
        visit(self.key.model);
        visit(self.key.tenant);
        visit(self.model);
    }
};

struct PayloadRow {
    std::uint64_t ns = 0;  ///< id of its namespace
    StoredPayload payload;

    static constexpr const char *kTable = "payloads";
    static constexpr const char *kColumns =
        "id, namespace, kind, parent, span_begin, span_end, bytes, file_bytes, checksum";
    static constexpr const char *kMarks = "?, ?, ?, ?, ?, ?, ?, ?, ?";
    template <class Self, class Visit>
    static void each_column(Self &self, Visit &&visit) {
        visit(self.payload.id);
        visit(self.ns);
        visit(self.payload.kind);
        visit(self.payload.parent);
        visit(self.payload.span.begin);
        visit(self.payload.span.end);
        visit(self.payload.bytes);
        visit(self.payload.file_bytes);
    }
};

/// The path of a snapshot: it never changes. Of `snapshot`, only the columns' members count.
struct SnapshotRow {
    std::uint64_t ns = 0;  ///< id of its namespace
    StoredSnapshot snapshot;

    static constexpr const char *kTable = "snapshots";
    static constexpr const char *kColumns =
        "id, namespace, parent, position, tokens, kind, created_unix_s, text, checksum";
    static constexpr const char *kMarks = "?, ?, ?, ?, ?, ?, ?, ?, ?";
    template <class Self, class Visit>
    static void each_column(Self &self, Visit &&visit) {
        visit(self.snapshot.id);
        visit(self.ns);
        visit(self.snapshot.parent);
        visit(self.snapshot.position);
        visit(self.snapshot.tokens);
        visit(self.snapshot.kind);
        visit(self.snapshot.created_unix_s);
        visit(self.snapshot.text);
    }
};

/// What a live snapshot has beside its path. A row of its own, so that a use rewrites a few bytes instead of the
/// tokens, and becoming a path is the loss of a row.
struct StateRow {
    std::uint64_t id = 0;  ///< the snapshot's
    std::uint64_t rows = 0;
    std::uint64_t boundary = 0;
    std::int64_t last_use_unix_s = 0;
    std::uint32_t hits = 0;

    static constexpr const char *kTable = "states";
    static constexpr const char *kColumns = "id, rows_payload, boundary_payload, last_use_unix_s, hits, checksum";
    static constexpr const char *kMarks = "?, ?, ?, ?, ?, ?";
    template <class Self, class Visit>
    static void each_column(Self &self, Visit &&visit) {
        visit(self.id);
        visit(self.rows);
        visit(self.boundary);
        visit(self.last_use_unix_s);
        visit(self.hits);
    }
};

struct FactRow {
    std::string name;
    std::string value;

    static constexpr const char *kTable = "facts";
    static constexpr const char *kColumns = "name, value, checksum";
    static constexpr const char *kMarks = "?, ?, ?";
    template <class Self, class Visit>
    static void each_column(Self &self, Visit &&visit) {
        visit(self.name);
        visit(self.value);
    }
};

/// Collects a row in its canonical encoding. Its memory is used again for the next row.
class RowHash {
public:
    void begin(std::string_view table) {
        bytes_.clear();
        add(table);
    }
    void add(std::int64_t number) { append(&number, sizeof number); }
    void add(std::string_view text) {
        add(static_cast<std::int64_t>(text.size()));
        append(text.data(), text.size());
    }
    void add(Bytes bytes) { add(std::string_view(reinterpret_cast<const char *>(bytes.data()), bytes.size())); }
    [[nodiscard]] std::int64_t checksum() const;
    [[nodiscard]] std::string_view bytes() const noexcept { return bytes_; }

private:
    static_assert(std::endian::native == std::endian::little, "numbers and tokens are stored as they lie in memory");
    void append(const void *data, std::size_t size) {
        if (size > 0) bytes_.append(static_cast<const char *>(data), size);
    }
    std::string bytes_;
};

/// A column's value as SQLite and the hash take it.
template <class T>
[[nodiscard]] auto column_of(const T &value) {
    if constexpr (std::is_same_v<T, std::string>) {
        return std::string_view(value);
    } else if constexpr (std::is_same_v<T, Tokens>) {
        return Bytes(std::as_bytes(std::span(value)));
    } else if constexpr (std::is_same_v<T, Fingerprint>) {
        return Bytes(std::as_bytes(std::span(value.bytes)));
    } else {
        return static_cast<std::int64_t>(value);
    }
}

/// Takes a number out of a column; false where `to` cannot hold it.
template <class T>
[[nodiscard]] bool take_column(std::int64_t value, T &to) {
    to = static_cast<T>(value);
    if constexpr (std::is_unsigned_v<T>) {
        return value >= 0 && static_cast<std::uint64_t>(value) <= std::numeric_limits<T>::max();
    } else {
        return static_cast<std::int64_t>(to) == value;
    }
}
[[nodiscard]] bool take_column(std::int64_t value, PayloadKind &to);
[[nodiscard]] bool take_column(std::int64_t value, CheckpointKind &to);
[[nodiscard]] bool take_column(Bytes value, Tokens &to);
[[nodiscard]] bool take_column(Bytes value, Fingerprint &to);
[[nodiscard]] bool take_column(std::string_view value, std::string &to);

template <class Row>
[[nodiscard]] std::int64_t checksum_of(RowHash &hash, const Row &row) {
    hash.begin(Row::kTable);
    Row::each_column(row, [&](const auto &value) { hash.add(column_of(value)); });
    return hash.checksum();
}

/// Binds all columns. `row` must outlive the run.
template <class Row>
void bind_row(SqliteRun &run, RowHash &hash, const Row &row) {
    Row::each_column(row, [&](const auto &value) { run.bind(column_of(value)); });
    run.bind(checksum_of(hash, row));
}

template <class Row>
[[nodiscard]] Status write_row(SqliteRun run, RowHash &hash, const Row &row) {
    bind_row(run, hash, row);
    return run.finish();
}

/// Reads the row that a run stands on. False: it is damaged, and `row` holds anything.
template <class Row>
[[nodiscard]] bool read_row(const SqliteRun &run, RowHash &hash, Row &row) {
    int column = 0;
    bool fits = true;
    hash.begin(Row::kTable);
    Row::each_column(row, [&]<class T>(T &to) {
        using Column = decltype(column_of(to));
        Column value;
        if constexpr (std::is_same_v<Column, std::int64_t>) {
            value = run.number(column);
        } else if constexpr (std::is_same_v<Column, std::string_view>) {
            value = run.text(column);
        } else {
            value = run.bytes(column);
        }
        hash.add(value);
        fits = take_column(value, to) && fits;
        ++column;
    });
    return fits && run.number(column) == hash.checksum();
}

// -- what makes a row whole: put() refuses what load() would drop
// --------------------------------------------------------

/// An id that a table can hold, and that names something.
[[nodiscard]] constexpr bool is_id(std::uint64_t id) noexcept {
    return id > 0 && id <= static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
}
/// Whole by itself: its id, its span, and that it has a parent exactly where it needs one.
[[nodiscard]] bool is_whole(const StoredPayload &payload) noexcept;
/// Rows that go on from the rows of `parent` without a gap.
[[nodiscard]] bool goes_on_from(const StoredPayload &payload, const StoredPayload &parent) noexcept;
/// Whole by itself: its id, its parent's id, and a position that its tokens can reach.
[[nodiscard]] bool is_whole(const StoredSnapshot &snapshot) noexcept;
/// Rows whose chain ends with this payload reach `position`, and need this payload for it.
[[nodiscard]] bool are_rows_of(const StoredPayload &payload, TokenPos position) noexcept;
[[nodiscard]] bool is_boundary_of(const StoredPayload &payload, TokenPos position) noexcept;

}  // namespace cairn
