#include "store/row_segment.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace cairn {

RowSegment::RowSegment(RowSegmentPtr parent, TokenSpan span, RamBlock block, Tokens tokens)
    : parent_(std::move(parent)), span_(span) {
    check_place();
    put_in_ram(std::move(block), std::move(tokens));
}

RowSegment::RowSegment(RowSegmentPtr parent, TokenSpan span, DiskFilePtr file)
    : parent_(std::move(parent)), span_(span) {
    check_place();
    put_on_disk(std::move(file));
}

void RowSegment::check_place() const {
    CAIRN_CHECK(!span_.empty() && span_.begin >= 0, "rows [{}, {})", span_.begin, span_.end);
    CAIRN_CHECK((parent_ == nullptr) == (span_.begin == 0), "rows from {} on need what comes before", span_.begin);
    CAIRN_CHECK(parent_ == nullptr || (parent_->span().begin < span_.begin && span_.begin <= parent_->span().end),
                "rows from {} on hang on rows they do not touch", span_.begin);
}

RowSegment::~RowSegment() {
    // A conversation of thousands of turns is a chain as long: take it apart in a loop, not by recursion.
    lose_file();
    RowSegmentPtr up = std::move(parent_);
    while (up != nullptr && up.use_count() == 1) {
        up->lose_file();
        RowSegmentPtr next = std::move(up->parent_);
        up = std::move(next);
    }
}

void RowSegment::put_in_ram(RamBlock block, Tokens tokens) {
    CAIRN_CHECK(block_.empty() && !block.empty(), "rows [{}, {}) are in RAM already", span_.begin, span_.end);
    CAIRN_CHECK(std::cmp_equal(tokens.size(), span_.length()), "{} tokens for rows [{}, {})", tokens.size(),
                span_.begin, span_.end);
    block_ = std::move(block);
    tokens_ = std::move(tokens);
}

void RowSegment::put_on_disk(DiskFilePtr file) {
    CAIRN_CHECK(file_ == nullptr && file != nullptr, "rows [{}, {}) are on disk already", span_.begin, span_.end);
    file_ = std::move(file);
    if (parent_ != nullptr) ++parent_->children_on_disk_;
}

bool RowSegment::file_is_spare() const noexcept {
    return disk_users_ == 0 && children_on_disk_ == 0 && !block_.empty();
}

void RowSegment::lose_file() noexcept {
    for (RowSegment *at = this; at->file_ != nullptr; at = at->parent_.get()) {
        at->file_.reset();
        if (at->parent_ == nullptr) return;
        --at->parent_->children_on_disk_;
        if (!at->parent_->file_is_spare()) return;
    }
}

void RowSegment::add_user(Tier tier) noexcept {
    ++(tier == Tier::disk ? disk_users_ : ram_users_);
}

void RowSegment::remove_user(Tier tier) noexcept {
    std::size_t &users = tier == Tier::disk ? disk_users_ : ram_users_;
    CAIRN_CHECK(users > 0, "rows [{}, {}) lose a user they never had", span_.begin, span_.end);
    if (--users != 0) return;
    if (tier == Tier::ram && file_ != nullptr) {
        block_ = RamBlock{};
        tokens_ = Tokens{};
    }
    if (tier == Tier::disk && file_is_spare()) lose_file();
}

RowsRef RowsRef::cut(TokenPos position) const {
    CAIRN_CHECK(position >= 0 && position <= end, "cutting {} rows at {}", end, position);
    RowsRef ref{segment, position};
    while (ref.segment != nullptr && ref.segment->span().begin >= position)
        ref.segment = ref.segment->parent();
    return ref;
}

RowsRef RowsRef::without_scraps() const {
    RowsRef rows = *this;
    while (rows.segment != nullptr) {
        const TokenSpan span = rows.segment->span();
        if (2 * (rows.end - span.begin) >= span.length()) break;
        rows = {rows.segment->parent(), span.begin};
    }
    return rows;
}

std::vector<RowSegment *> RowsRef::chain() const {
    std::vector<RowSegment *> chain;
    for (RowSegment *at = segment.get(); at != nullptr; at = at->parent().get())
        chain.push_back(at);
    std::reverse(chain.begin(), chain.end());
    return chain;
}

namespace {

template <class Predicate>
bool all_of_chain(const RowsRef &rows, Predicate holds) {
    for (const RowSegment *at = rows.segment.get(); at != nullptr; at = at->parent().get()) {
        if (!holds(*at)) return false;
    }
    return true;
}

}  // namespace

bool RowsRef::all_in_ram() const noexcept {
    return all_of_chain(*this, [](const RowSegment &s) { return !s.block().empty(); });
}

bool RowsRef::all_on_disk() const noexcept {
    return all_of_chain(*this, [](const RowSegment &s) { return s.file() != nullptr; });
}

bool RowsRef::suspect() const noexcept {
    return !all_of_chain(*this, [](const RowSegment &s) { return !s.suspect(); });
}

void RowsRef::mark_suspect(bool suspect) const noexcept {
    for (RowSegment *at = segment.get(); at != nullptr; at = at->parent().get())
        at->mark_suspect(suspect);
}

void RowsRef::add_user(Tier tier) const noexcept {
    for (RowSegment *at = segment.get(); at != nullptr; at = at->parent().get())
        at->add_user(tier);
}

void RowsRef::remove_user(Tier tier) const noexcept {
    for (RowSegment *at = segment.get(); at != nullptr; at = at->parent().get())
        at->remove_user(tier);
}

}  // namespace cairn
