// RowSegment: the rows of one span of tokens, stored once and shared by every snapshot whose prefix holds them.
//
//     position   0            300       500          800
//     root       |==========================|                    [0, 600)
//     child                             |------------|           [500, 800), cut 500 of root
//     snapshot A at 300   root, used up to 300
//     snapshot B at 800   root, used up to 500, then child
//
// A segment hangs on its parent at `cut`: the parent's rows from there on belong to another continuation. A fork in the
// middle of a segment refers to it with a cut and stores none of its rows again. A chain from the root to a segment,
// each used up to the next one's begin, covers [0, end) without a gap.
//
// Its bytes lie in RAM, in a file, or both. Snapshots are its users in the tiers they are in; a segment gives one copy
// up when no snapshot of that tier uses it and the other copy is there:
//
//     users in RAM   users on disk    RAM copy         file
//        > 0             any           stays            stays where there is no RAM copy, or users on disk
//         0              any           goes, where      stays
//                                      there is a file
//
// A file also stays while one of a child does: the catalogue names the parent of each.
//
// Ownership: shared. A segment lives as long as a snapshot or a child refers to it, and gives its memory back and its
// file up at once then. What a cut leaves behind (here [500, 600) once no snapshot of root lies there) stays until the
// segment goes: the bytes of a span cannot be split without the backend.
// Threads: one at a time for all segments of a store.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "cairn/types.h"
#include "model/backend.h"
#include "store/disk_file.h"
#include "store/ram_arena.h"

namespace cairn {

class RowSegment;
using RowSegmentPtr = std::shared_ptr<RowSegment>;

class RowSegment : public std::enable_shared_from_this<RowSegment> {
public:
    /// `parent` covers [0, span.begin) and is null when that is 0. `span` is not empty. In RAM, with its tokens: they
    /// go into the file, if one is written.
    RowSegment(RowSegmentPtr parent, TokenSpan span, RamBlock block, Tokens tokens);
    /// On disk.
    RowSegment(RowSegmentPtr parent, TokenSpan span, DiskFilePtr file);
    ~RowSegment();
    RowSegment(const RowSegment &) = delete;
    RowSegment &operator=(const RowSegment &) = delete;

    [[nodiscard]] const RowSegmentPtr &parent() const noexcept { return parent_; }
    [[nodiscard]] TokenSpan span() const noexcept { return span_; }
    [[nodiscard]] const RamBlock &block() const noexcept { return block_; }      ///< empty: not in RAM
    [[nodiscard]] const DiskFile *file() const noexcept { return file_.get(); }  ///< null: not on disk
    /// Of the span; none while it is not in RAM.
    [[nodiscard]] TokenView tokens() const noexcept { return tokens_; }
    void put_in_ram(RamBlock block, Tokens tokens);
    void put_on_disk(DiskFilePtr file);

    void add_user(Tier tier) noexcept;
    void remove_user(Tier tier) noexcept;
    [[nodiscard]] std::size_t users(Tier tier) const noexcept { return tier == Tier::disk ? disk_users_ : ram_users_; }

    /// A restore through it failed and none has succeeded since: nothing new is built on it.
    [[nodiscard]] bool suspect() const noexcept { return suspect_; }
    void mark_suspect(bool suspect) noexcept { suspect_ = suspect; }

private:
    void check_place() const;
    [[nodiscard]] bool file_is_spare() const noexcept;
    void lose_file() noexcept;

    RowSegmentPtr parent_;
    TokenSpan span_;
    RamBlock block_;
    Tokens tokens_;
    DiskFilePtr file_;
    std::size_t ram_users_ = 0;
    std::size_t disk_users_ = 0;
    std::size_t children_on_disk_ = 0;
    bool suspect_ = false;
};

/// Rows over [0, end): a segment and how far it is used. Empty for end 0.
struct RowsRef {
    RowSegmentPtr segment;
    TokenPos end = 0;

    /// The same rows up to `position` (at most end), referring to the segment that holds them last.
    [[nodiscard]] RowsRef cut(TokenPos position) const;
    /// The same rows, or fewer: up to the last segment of which at least half is used. Whoever refers to a segment
    /// keeps all of it, so what needs only a scrap had better have rows of its own.
    [[nodiscard]] RowsRef without_scraps() const;
    /// The segments from the root on.
    [[nodiscard]] std::vector<RowSegment *> chain() const;
    [[nodiscard]] bool all_in_ram() const noexcept;
    [[nodiscard]] bool all_on_disk() const noexcept;
    [[nodiscard]] bool suspect() const noexcept;
    void mark_suspect(bool suspect) const noexcept;
    void add_user(Tier tier) const noexcept;
    void remove_user(Tier tier) const noexcept;
};

/// A user of rows for as long as it lives, as a snapshot of the tier is: the copies there stay. Move-only.
class RowsUse {
public:
    RowsUse(RowsRef rows, Tier tier) : rows_(std::move(rows)), tier_(tier) { rows_.add_user(tier_); }
    RowsUse(RowsUse &&other) noexcept : rows_(std::exchange(other.rows_, RowsRef{})), tier_(other.tier_) {}
    RowsUse &operator=(RowsUse &&other) noexcept {
        RowsUse gone(std::move(other));
        std::swap(rows_, gone.rows_);
        std::swap(tier_, gone.tier_);
        return *this;
    }
    ~RowsUse() { rows_.remove_user(tier_); }
    [[nodiscard]] const RowsRef &rows() const noexcept { return rows_; }

private:
    RowsRef rows_;
    Tier tier_;
};

}  // namespace cairn
