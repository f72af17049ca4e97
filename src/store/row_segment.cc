#include "store/row_segment.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace cairn {

RowSegment::RowSegment(RowSegmentPtr parent, TokenSpan span, RamBlock block)
    : parent_(std::move(parent)), span_(span), block_(std::move(block)) {
    CAIRN_CHECK(!span_.empty() && span_.begin >= 0, "rows [{}, {})", span_.begin, span_.end);
    CAIRN_CHECK((parent_ == nullptr) == (span_.begin == 0), "rows from {} on need what comes before", span_.begin);
    CAIRN_CHECK(parent_ == nullptr || (parent_->span().begin < span_.begin && span_.begin <= parent_->span().end),
                "rows from {} on hang on rows they do not touch", span_.begin);
}

RowSegment::~RowSegment() {
    // A conversation of thousands of turns is a chain as long: take it apart in a loop, not by recursion.
    RowSegmentPtr up = std::move(parent_);
    while (up != nullptr && up.use_count() == 1) {
        RowSegmentPtr next = std::move(up->parent_);
        up = std::move(next);
    }
}

RowsRef RowsRef::cut(TokenPos position) const {
    CAIRN_CHECK(position >= 0 && position <= end, "cutting {} rows at {}", end, position);
    RowsRef ref{segment, position};
    while (ref.segment != nullptr && ref.segment->span().begin >= position)
        ref.segment = ref.segment->parent();
    return ref;
}

std::vector<RowsPayload> RowsRef::payloads() const {
    std::vector<RowsPayload> chain;
    TokenPos use_end = end;
    for (const RowSegment *at = segment.get(); at != nullptr; at = at->parent().get()) {
        chain.push_back({at->span(), at->span().begin, use_end, at->block().bytes()});
        use_end = at->span().begin;
    }
    std::reverse(chain.begin(), chain.end());
    return chain;
}

bool RowsRef::suspect() const noexcept {
    for (const RowSegment *at = segment.get(); at != nullptr; at = at->parent().get()) {
        if (at->suspect()) return true;
    }
    return false;
}

void RowsRef::mark_suspect(bool suspect) const noexcept {
    for (RowSegment *at = segment.get(); at != nullptr; at = at->parent().get())
        at->mark_suspect(suspect);
}

}  // namespace cairn
