#include "model/cell_ledger.h"

#include <algorithm>

#include "base/check.h"

namespace cairn {

CellLedger::CellLedger(std::int32_t live_holders, std::int32_t parked_holders)
    : live_holders_(live_holders),
      holders_(static_cast<std::size_t>(live_holders) + static_cast<std::size_t>(parked_holders)) {
    CAIRN_CHECK(live_holders >= 0 && parked_holders >= 0, "{} live, {} parked holders", live_holders, parked_holders);
}

HolderId CellLedger::live(std::int32_t index) const {
    CAIRN_CHECK(index >= 0 && index < live_holders_, "live holder {} of {}", index, live_holders_);
    return HolderId(index);
}

HolderId CellLedger::parked(std::int32_t index) const {
    const auto count = static_cast<std::int32_t>(holders_.size()) - live_holders_;
    CAIRN_CHECK(index >= 0 && index < count, "parked holder {} of {}", index, count);
    return HolderId(live_holders_ + index);
}

CellLedger::Holder &CellLedger::at(HolderId holder) {
    return const_cast<Holder &>(static_cast<const CellLedger *>(this)->at(holder));
}

const CellLedger::Holder &CellLedger::at(HolderId holder) const {
    const auto index = static_cast<std::size_t>(holder.value());
    CAIRN_CHECK(holder.value() >= 0 && index < holders_.size(), "holder {} of {}", holder.value(), holders_.size());
    return holders_[index];
}

void CellLedger::append(HolderId holder, TokenPos cells) {
    CAIRN_CHECK(cells >= 0, "{} cells", cells);
    if (cells == 0) return;
    Holder &own = at(holder);
    // Nobody else uses the last segment, so it ends where this holder's use of it ends.
    const bool can_grow = !own.pieces.empty() && own.pieces.back().segment->uses.size() == 1;
    if (!can_grow) own.pieces.push_back({std::make_shared<Segment>(), 0});
    Piece &last = own.pieces.back();
    last.cells += cells;
    own.length += cells;
    set_use(*last.segment, holder, last.cells);
}

void CellLedger::share(HolderId from, HolderId to) {
    Holder &target = at(to);
    CAIRN_CHECK(target.pieces.empty(), "holder {} has {} cells already", to.value(), target.length);
    const Holder &source = at(from);
    target = source;
    for (const Piece &piece : target.pieces)
        set_use(*piece.segment, to, piece.cells);
}

void CellLedger::cut(HolderId holder, TokenPos length) {
    Holder &own = at(holder);
    CAIRN_CHECK(length >= 0 && length <= own.length, "holder {} has {} cells, not {}", holder.value(), own.length,
                length);
    while (own.length > length) {
        Piece &last = own.pieces.back();
        const TokenPos dropped = std::min(last.cells, own.length - length);
        last.cells -= dropped;
        own.length -= dropped;
        set_use(*last.segment, holder, last.cells);
        if (last.cells == 0) own.pieces.pop_back();
    }
}

void CellLedger::clear(HolderId holder) {
    cut(holder, 0);
}

TokenPos CellLedger::length(HolderId holder) const {
    return at(holder).length;
}

TokenPos CellLedger::cells_to_park(HolderId holder) const {
    TokenPos cells = 0;
    for (const Piece &piece : at(holder).pieces) {
        cells += std::max(0, piece.cells - piece.segment->extent.parked);
    }
    return cells;
}

void CellLedger::set_use(Segment &segment, HolderId holder, TokenPos cells) {
    auto &uses = segment.uses;
    auto use = std::find_if(uses.begin(), uses.end(), [&](const Use &u) { return u.holder == holder; });
    if (use == uses.end()) use = uses.insert(uses.end(), Use{holder, 0});
    const TokenPos before = use->cells;
    use->cells = cells;
    if (cells == 0) {
        *use = uses.back();
        uses.pop_back();
    }
    Extent extent = segment.extent;
    TokenPos &longest = is_parked(holder) ? extent.parked : extent.live;
    if (cells >= longest) {
        longest = cells;
    } else if (before == longest) {
        longest = 0;
        for (const Use &u : uses) {
            if (is_parked(u.holder) == is_parked(holder)) longest = std::max(longest, u.cells);
        }
    }
    set_extent(segment, extent);
}

void CellLedger::set_extent(Segment &segment, Extent extent) {
    const auto cells = [](const Extent &e) { return std::max(e.live, e.parked); };
    totals_.used += cells(extent) - cells(segment.extent);
    totals_.live += extent.live - segment.extent.live;
    totals_.parked += extent.parked - segment.extent.parked;
    segment.extent = extent;
}

}  // namespace cairn
