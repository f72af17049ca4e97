#include "engine/prefix_sharing.h"

#include <algorithm>

namespace cairn {

namespace {

std::optional<SharedPrefix> offer_of(const LeaderFacts &leader, const NewcomerFacts &newcomer) {
    const TokenPos most = std::min(leader.common, newcomer.limit);
    if (!leader.waits && (leader.reached == most || (leader.reached > most && newcomer.can_rewind))) {
        const bool gains = most > newcomer.have || (most == newcomer.have && !newcomer.have_is_free);
        if (most <= 0 || !gains) return std::nullopt;
        return SharedPrefix{0, most, true};
    }
    const TokenPos at = std::min(most, leader.will_reach);
    const bool nearer = leader.reached >= newcomer.have;
    const bool ahead = at > leader.reached || (at == leader.reached && leader.waits);
    if (!nearer || !ahead || at - newcomer.have < kLeastShared) return std::nullopt;
    return SharedPrefix{0, at, false};
}

}  // namespace

std::optional<SharedPrefix> choose_leader(std::span<const LeaderFacts> leaders, const NewcomerFacts &newcomer) {
    std::optional<SharedPrefix> best;
    for (std::size_t i = 0; i < leaders.size(); ++i) {
        auto offer = offer_of(leaders[i], newcomer);
        if (!offer) continue;
        offer->leader = i;
        if (!best || offer->at > best->at || (offer->at == best->at && offer->now && !best->now)) best = offer;
    }
    return best;
}

}  // namespace cairn
