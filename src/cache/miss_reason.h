// Why a lookup gave less than was asked for, from what the index knows. Pure.
//
// With `depth` tokens reused of `limit`, `common` the longest prefix that any known path shares with the prompt:
//
//     depth = limit                                   none           nothing more was asked for
//     no path in the namespace                        empty
//     an evicted checkpoint lies in (depth, limit]    evicted
//     depth < common                                  no_checkpoint  known tokens could not be reused
//     depth = common, known paths go on there         diverged       the prompt says something else
//     depth = common, known paths end there           none           the rest is new to everybody
#pragma once

#include "cairn/request.h"
#include "cairn/types.h"

namespace cairn {

struct LookupFacts {
    TokenPos limit = 0;
    TokenPos depth = 0;
    TokenPos common = 0;   ///< may exceed limit
    TokenPos evicted = 0;  ///< position of the deepest evicted checkpoint behind depth; 0: none
    bool namespace_known = false;
    bool path_goes_on = false;  ///< a known path is longer than `common` there
};

[[nodiscard]] MissReason miss_reason(const LookupFacts &facts) noexcept;

}  // namespace cairn
