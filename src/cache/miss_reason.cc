#include "cache/miss_reason.h"

namespace cairn {

MissReason miss_reason(const LookupFacts &facts) noexcept {
    if (facts.depth >= facts.limit) return MissReason::none;
    if (!facts.namespace_known) return MissReason::empty;
    if (facts.evicted > facts.depth) return MissReason::evicted;
    if (facts.common > facts.depth) return MissReason::no_checkpoint;
    return facts.path_goes_on ? MissReason::diverged : MissReason::none;
}

}  // namespace cairn
