#include <cstdio>

#include "app/commands.h"
#include "base/error_table.h"

namespace cairn {

int report(const Error &error) {
    std::fprintf(stderr, "cairn: %s\n", error.what.c_str());
    return row_of(error.code).exit_code;
}

}  // namespace cairn
