// RowSegment: the rows of one span of tokens in RAM, stored once and shared by every snapshot whose prefix holds them.
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
// Ownership: shared. A segment lives as long as a snapshot or a child refers to it, and gives its memory back at once
// then. What a cut leaves behind (here [500, 600) once no snapshot of root lies there) stays until the segment goes:
// the bytes of a span cannot be split without the backend.
// Threads: one at a time for all segments of an arena.
#pragma once

#include <memory>
#include <vector>

#include "cairn/types.h"
#include "model/backend.h"
#include "store/ram_arena.h"

namespace cairn {

class RowSegment;
using RowSegmentPtr = std::shared_ptr<RowSegment>;

class RowSegment {
public:
    /// `parent` covers [0, span.begin) and is null when that is 0. `span` is not empty.
    RowSegment(RowSegmentPtr parent, TokenSpan span, RamBlock block);
    ~RowSegment();
    RowSegment(const RowSegment &) = delete;
    RowSegment &operator=(const RowSegment &) = delete;

    [[nodiscard]] const RowSegmentPtr &parent() const noexcept { return parent_; }
    [[nodiscard]] TokenSpan span() const noexcept { return span_; }
    [[nodiscard]] const RamBlock &block() const noexcept { return block_; }
    /// A restore through it failed and none has succeeded since: nothing new is built on it.
    [[nodiscard]] bool suspect() const noexcept { return suspect_; }
    void mark_suspect(bool suspect) noexcept { suspect_ = suspect; }

private:
    RowSegmentPtr parent_;
    TokenSpan span_;
    RamBlock block_;
    bool suspect_ = false;
};

/// Rows over [0, end): a segment and how far it is used. Empty for end 0.
struct RowsRef {
    RowSegmentPtr segment;
    TokenPos end = 0;

    /// The same rows up to `position` (at most end), referring to the segment that holds them last.
    [[nodiscard]] RowsRef cut(TokenPos position) const;
    /// What Backend::restore takes: from the root on, without a gap.
    [[nodiscard]] std::vector<RowsPayload> payloads() const;
    [[nodiscard]] bool suspect() const noexcept;
    void mark_suspect(bool suspect) const noexcept;
};

}  // namespace cairn
