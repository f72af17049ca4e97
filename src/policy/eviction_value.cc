#include "policy/eviction_value.h"

namespace cairn {

double eviction_value(const SnapshotFacts &facts) noexcept {
    return facts.last_use_s - facts.now_s;
}

}  // namespace cairn
