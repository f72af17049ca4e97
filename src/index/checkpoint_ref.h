// CheckpointRef: names one published checkpoint of an index for as long as it is there.
//
// It survives every change of the tree around it. Once its checkpoint is erased, pruned or replaced it names nothing,
// for ever: stamps are never used twice, so a late erase() cannot hit a newcomer. Thread rule: a plain value.
#pragma once

#include <cstdint>

#include "index/pool.h"

namespace cairn {

struct CheckpointRef {
    PoolId node = kNoId;
    std::uint64_t stamp = 0;  ///< 0: names nothing

    friend bool operator==(const CheckpointRef &, const CheckpointRef &) = default;
};

}  // namespace cairn
