#include "cairn/error.h"

#include "base/error_table.h"

namespace cairn {

const ErrorRow &row_of(ErrorCode code) noexcept {
    for (const ErrorRow &row : kErrorTable) {
        if (row.code == code) return row;
    }
    return kErrorTable.back();
}

const char *name_of(ErrorCode code) noexcept {
    return row_of(code).name;
}

}  // namespace cairn
