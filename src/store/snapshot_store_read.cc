// SnapshotStore's restores from bytes: pieces that are on disk alone come to memory first.
#include <algorithm>
#include <memory>
#include <thread>
#include <utility>

#include "base/check.h"
#include "store/snapshot_store.h"

namespace cairn {
namespace {

int reader_threads() {
    return static_cast<int>(std::clamp(std::thread::hardware_concurrency(), 1u, 4u));
}

}  // namespace

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
class SnapshotStore::Loading {
public:
    Loading(SnapshotStore &store, const SnapshotLease &lease)
        : store_(store),
          snapshot_(lease.snapshot()),
          use_(snapshot_.rows().cut(snapshot_.rows().end == 0 ? 0 : lease.length()), Tier::ram),
          rows_(use_.rows()) {}

    Status run() {
        collect();
        if (missing_.empty()) return {};
        take_memory();
        const SnapshotOrigin origin = store_.advisor_.origin_of(snapshot_);
        const double start = store_.env_.now_s();
        std::size_t bytes = 0;
        for (Piece &piece : missing_) {
            if (auto read = read_piece(piece, origin); !read) return give_up(piece, read.error());
            bytes += piece.file->bytes();
        }
        const double seconds = store_.env_.now_s() - start;
        store_.metrics_.add(Metric::disk_read_bytes_total, static_cast<double>(bytes));
        store_.metrics_.observe(Metric::disk_read_seconds, seconds);
        store_.advisor_.note_read(bytes, seconds);
        return {};
    }

    /// Good until the next allocation in the RAM tier.
    [[nodiscard]] std::vector<RowsPayload> rows() const {
        std::vector<RowsPayload> payloads;
        const std::vector<RowSegment *> chain = rows_.chain();
        for (std::size_t i = 0; i < chain.size(); ++i) {
            const RowSegment &segment = *chain[i];
            const TokenPos end = i + 1 < chain.size() ? chain[i + 1]->span().begin : rows_.end;
            payloads.push_back({segment.span(), segment.span().begin, end, bytes_of(&segment, segment.block())});
        }
        return payloads;
    }
    void mark_suspect(bool suspect) const { rows_.mark_suspect(suspect); }
    /// After run() has failed: the rows that could not be read, if it was rows.
    [[nodiscard]] const RowSegment *lost_rows() const { return lost_rows_; }
    [[nodiscard]] Bytes boundary() const { return bytes_of(nullptr, snapshot_.boundary_block()); }

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
    struct Piece {
        RowSegment *segment = nullptr;  // null: the boundary
        const DiskFile *file = nullptr;
        TokenPos use_end = 0;
        Tokens tokens;  // of the segment, once it is read
        RamBlock block;
        std::unique_ptr<std::byte[]> own_memory;

        [[nodiscard]] MutableBytes bytes() {
            return own_memory ? MutableBytes(own_memory.get(), file->bytes()) : block.bytes();
        }
        [[nodiscard]] Bytes bytes() const {
            return own_memory ? Bytes(own_memory.get(), file->bytes()) : block.bytes();
        }
    };

    void collect() {
        TokenPos use_end = rows_.end;
        for (RowSegment *at = rows_.segment.get(); at != nullptr; at = at->parent().get()) {
            if (at->block().empty()) missing_.push_back({at, at->file(), use_end, {}, {}, nullptr});
            use_end = at->span().begin;
        }
        if (snapshot_.boundary_block().empty() && snapshot_.boundary_file() != nullptr) {
            missing_.push_back({nullptr, snapshot_.boundary_file(), snapshot_.position(), {}, {}, nullptr});
        }
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
                piece.own_memory.reset(new std::byte[piece.file->bytes()]);
            }
        }
    }

    Status read_piece(Piece &piece, const SnapshotOrigin &origin) {
        auto payload = store_.disk_->open(*piece.file);
        if (!payload) return fail(payload.error());
        const PayloadOrigin expected{piece.file->facts().kind, piece.file->id(), piece.file->facts().span, &origin.ns};
        if (auto ours = check_origin(payload->header, expected, origin.tokens, piece.use_end); !ours) return ours;
        if (payload->header.bytes != piece.file->bytes()) {
            return fail(ErrorCode::corrupt, "The payload {} has {} bytes, and its row says {}.", piece.file->id(),
                        payload->header.bytes, piece.file->bytes());
        }
        piece.tokens = std::move(payload->header.tokens);
        return payload->read(piece.bytes(), reader_threads());
    }

    Status give_up(const Piece &piece, const Error &error) {
        store_.metrics_.add(Metric::disk_failures_total, 1, std::string("read_") + name_of(error.code));
        lost_rows_ = piece.segment;
        return fail(error);
    }

    [[nodiscard]] Bytes bytes_of(const RowSegment *segment, const RamBlock &block) const {
        for (const Piece &piece : missing_) {
            if (piece.segment == segment) return piece.bytes();
        }
        return block.bytes();
    }

    SnapshotStore &store_;
    Snapshot &snapshot_;
    RowsUse use_;  // so that no block leaves while others are brought
    const RowsRef &rows_;
    std::vector<Piece> missing_;
    const RowSegment *lost_rows_ = nullptr;
};

Status SnapshotStore::restore_bytes(const SnapshotLease &lease, SeqId seq) {
    Loading loading(*this, lease);
    auto done = loading.run();
    if (!done) {
        if (loading.lost_rows() != nullptr) lose_rows(*loading.lost_rows());
        return done;
    }
    done = backend_.restore(seq, loading.rows(), loading.boundary(), lease.length());
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
