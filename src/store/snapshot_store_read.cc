// SnapshotStore's restores from bytes: pieces that are on disk alone come to memory first.
#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "base/check.h"
#include "store/aligned_bytes.h"
#include "store/payload_reader.h"
#include "store/snapshot_store.h"

namespace cairn {

std::size_t SnapshotStore::bytes_to_read(const Snapshot &snapshot) const {
    std::size_t bytes = 0;
    for (const RowSegment *at = snapshot.rows().segment.get(); at != nullptr; at = at->parent().get()) {
        if (at->block().empty() && at->file() != nullptr) bytes += at->file()->bytes();
    }
    if (snapshot.boundary_block().empty() && snapshot.boundary_file() != nullptr) {
        bytes += snapshot.boundary_file()->bytes();
    }
    return bytes;
}

/// Brings those pieces of a snapshot to memory that a restore of `length` tokens needs and that are on disk alone: into
/// blocks of the RAM tier, which stay where the restore succeeds; where that has no room, into memory of its own.
///
///     Loading loading(store, lease);
///     auto done = backend.restore(seq, loading.rows(), loading.boundary(), length,
///                                 [&](std::size_t i) { return loading.ready(i); });
///
/// Pieces are read while those before them are copied into the sequence.
class SnapshotStore::Loading {
public:
    Loading(SnapshotStore &store, const SnapshotLease &lease)
        : store_(store),
          snapshot_(lease.snapshot()),
          use_(snapshot_.rows().cut(snapshot_.rows().end == 0 ? 0 : lease.length()), Tier::ram),
          rows_(use_.rows()),
          chain_(rows_.chain()) {
        collect();
        if (missing_.empty()) return;
        reader_.emplace(reader_threads());
        take_memory();
        origin_ = store_.advisor_.origin_of(snapshot_);
    }

    /// Good until the next allocation in the RAM tier. The bytes of a payload are there once ready() has said so.
    [[nodiscard]] std::vector<RowsPayload> rows() const {
        std::vector<RowsPayload> payloads;
        for (std::size_t i = 0; i < chain_.size(); ++i) {
            const TokenSpan span = chain_[i]->span();
            payloads.push_back({span, span.begin, use_end(i), bytes_of(i, chain_[i]->block())});
        }
        return payloads;
    }
    [[nodiscard]] Bytes boundary() const { return bytes_of(chain_.size(), snapshot_.boundary_block()); }

    /// Until the i-th of the rows, or the boundary behind them, is there.
    Status ready(std::size_t i) {
        if (!missing_at_[i]) return {};
        const double start_s = store_.env_.now_s();
        const std::size_t wanted = *missing_at_[i];
        while (reader_->pieces() < std::min(missing_.size(), wanted + 1 + kPiecesAhead)) {
            const std::size_t next = reader_->pieces();
            if (auto opened = open(missing_[next]); !opened) return give_up(next, opened.error());
        }
        if (auto read = reader_->wait(wanted); !read) return give_up(reader_->failed_piece(), read.error());
        waited_s_ += store_.env_.now_s() - start_s;
        if (wanted + 1 == missing_.size()) note_read();
        return {};
    }
    /// A piece could not be read: nothing is known against the others.
    [[nodiscard]] bool failed() const { return failed_; }
    /// Then: the rows that could not be read, if it was rows.
    [[nodiscard]] const RowSegment *lost_rows() const { return lost_rows_; }
    void mark_suspect(bool suspect) const { rows_.mark_suspect(suspect); }

    /// The restore has succeeded: what was read into the RAM tier stays there.
    void keep() {
        const bool all = std::all_of(missing_.begin(), missing_.end(), [](const Piece &p) { return !p.own_memory; });
        if (missing_.empty() || !all) return;
        RamBlock boundary;
        for (Piece &piece : missing_) {
            if (piece.segment != nullptr) {
                piece.segment->put_in_ram(std::move(piece.block), std::move(piece.tokens));
            } else {
                boundary = std::move(piece.block);
            }
        }
        if (snapshot_.in_ram() || rows_.end != snapshot_.rows().end) return;
        snapshot_.put_in_ram(rows_, std::move(boundary));
        store_.settle_place(snapshot_);
    }

private:
    /// Files that are open at a time, but for the one that is waited for.
    static constexpr std::size_t kPiecesAhead = 8;

    struct Piece {
        RowSegment *segment = nullptr;  // null: the boundary
        const DiskFile *file = nullptr;
        TokenPos use_end = 0;
        Tokens tokens;  // of the segment, once it is open
        RamBlock block;
        AlignedBytes own_memory;

        [[nodiscard]] MutableBytes bytes() {
            return own_memory ? MutableBytes(own_memory.get(), file->bytes()) : block.bytes();
        }
        [[nodiscard]] Bytes bytes() const {
            return own_memory ? Bytes(own_memory.get(), file->bytes()) : block.bytes();
        }
    };

    [[nodiscard]] TokenPos use_end(std::size_t i) const {
        return i + 1 < chain_.size() ? chain_[i + 1]->span().begin : rows_.end;
    }

    void collect() {
        missing_at_.resize(chain_.size() + 1);
        const auto add = [this](std::size_t i, Piece piece) {
            missing_at_[i] = missing_.size();
            missing_.push_back(std::move(piece));
        };
        for (std::size_t i = 0; i < chain_.size(); ++i) {
            if (chain_[i]->block().empty()) add(i, {chain_[i], chain_[i]->file(), use_end(i), {}, {}, nullptr});
        }
        if (snapshot_.boundary_block().empty() && snapshot_.boundary_file() != nullptr) {
            add(chain_.size(), {nullptr, snapshot_.boundary_file(), snapshot_.position(), {}, {}, nullptr});
        }
    }

    /// A thread has no less to do than a chunk.
    [[nodiscard]] int reader_threads() const {
        std::uint64_t chunks = 0;
        for (const Piece &piece : missing_)
            chunks += payload_chunks(piece.file->bytes());
        const auto most = static_cast<std::uint64_t>(PayloadReader::default_threads());
        return static_cast<int>(std::min(chunks, most));
    }

    void take_memory() {
        std::size_t bytes = 0;
        for (const Piece &piece : missing_)
            bytes += *checked_align_up(piece.file->bytes(), RamArena::kGranularity);
        const bool fits = store_.make_room(bytes, 0, rows_, std::nullopt).has_value();
        for (Piece &piece : missing_) {
            auto block = fits ? store_.arena_.allocate(piece.file->bytes()) : fail(ErrorCode::capacity, "no room");
            if (block) {
                piece.block = std::move(*block);
            } else {
                piece.own_memory = make_aligned_bytes(piece.file->bytes());
            }
        }
    }

    /// Gives a piece to the reader.
    Status open(Piece &piece) {
        auto payload = store_.disk_->open(*piece.file);
        if (!payload) return fail(payload.error());
        const PayloadOrigin expected{piece.file->facts().kind, piece.file->id(), piece.file->facts().span, &origin_.ns};
        if (auto ours = check_origin(payload->header, expected, origin_.tokens, piece.use_end); !ours) return ours;
        if (payload->header.bytes != piece.file->bytes()) {
            return fail(ErrorCode::corrupt, "The payload {} has {} bytes, and its row says {}.", piece.file->id(),
                        payload->header.bytes, piece.file->bytes());
        }
        piece.tokens = std::move(payload->header.tokens);
        reader_->add(std::move(*payload), piece.bytes());
        return {};
    }

    void note_read() {
        std::size_t bytes = 0;
        for (const Piece &piece : missing_)
            bytes += piece.file->bytes();
        store_.metrics_.add(Metric::disk_read_bytes_total, static_cast<double>(bytes));
        store_.metrics_.observe(Metric::disk_read_seconds, waited_s_);
        store_.advisor_.note_read(bytes, waited_s_);
    }

    Status give_up(std::size_t piece, const Error &error) {
        store_.metrics_.add(Metric::disk_failures_total, 1, std::string("read_") + name_of(error.code));
        failed_ = true;
        lost_rows_ = missing_[piece].segment;
        return fail(error);
    }

    [[nodiscard]] Bytes bytes_of(std::size_t i, const RamBlock &block) const {
        return missing_at_[i] ? missing_[*missing_at_[i]].bytes() : block.bytes();
    }

    SnapshotStore &store_;
    Snapshot &snapshot_;
    RowsUse use_;  // so that no block leaves while others are brought
    const RowsRef &rows_;
    const std::vector<RowSegment *> chain_;
    std::vector<Piece> missing_;                          // in the order of their use
    std::vector<std::optional<std::size_t>> missing_at_;  // of each of the chain, and of the boundary behind it
    SnapshotOrigin origin_;
    double waited_s_ = 0;  // what reading cost that copying did not hide
    bool failed_ = false;
    const RowSegment *lost_rows_ = nullptr;
    std::optional<PayloadReader> reader_;  // last: it ends before the memory that it fills
};

Status SnapshotStore::restore_bytes(const SnapshotLease &lease, SeqId seq) {
    Loading loading(*this, lease);
    auto done = backend_.restore(seq, loading.rows(), loading.boundary(), lease.length(),
                                 [&loading](std::size_t i) { return loading.ready(i); });
    if (loading.failed()) {
        if (loading.lost_rows() != nullptr) lose_rows(*loading.lost_rows());
        return done;
    }
    // Which payload of the chain is bad is not known. Nothing new is built on any of them until one is proven by use.
    if (done || !payload_is_innocent(done.error().code)) loading.mark_suspect(!done);
    if (done) loading.keep();
    return done;
}

void SnapshotStore::lose_rows(const RowSegment &segment) {
    finish_pending();
    std::vector<SnapshotPtr> losers;
    for (const SnapshotPtr &snapshot : live_) {
        for (const RowSegment *at = snapshot->rows().segment.get(); at != nullptr; at = at->parent().get()) {
            if (at == &segment) losers.push_back(snapshot);
        }
    }
    for (const SnapshotPtr &snapshot : losers) {
        if (snapshot->in_ram()) drop_ram(*snapshot);
        if (snapshot->on_disk()) drop_disk(*snapshot);
    }
}

}  // namespace cairn
