// THE table of error kinds: their names, what an HTTP client and a shell see of them.
#pragma once

#include <array>

#include "cairn/error.h"

namespace cairn {

struct ErrorRow {
    ErrorCode code;
    const char *name;         ///< stable; the `code` field of an HTTP error body
    int http_status;          ///< status of an HTTP answer
    const char *openai_type;  ///< the `type` field of an HTTP error body
    int exit_code;            ///< exit status of the command line
};

inline constexpr std::array<ErrorRow, 14> kErrorTable{{
    {ErrorCode::invalid_argument, "invalid_argument", 400, "invalid_request_error", 2},
    {ErrorCode::not_found, "not_found", 404, "invalid_request_error", 2},
    {ErrorCode::model_file, "model_file", 500, "server_error", 3},
    {ErrorCode::model_unsupported, "model_unsupported", 500, "server_error", 3},
    {ErrorCode::context_length, "context_length_exceeded", 400, "invalid_request_error", 2},
    {ErrorCode::no_memory, "no_memory", 503, "server_error", 4},
    {ErrorCode::capacity, "capacity", 503, "server_error", 4},
    {ErrorCode::io, "io", 500, "server_error", 5},
    {ErrorCode::corrupt, "corrupt", 500, "server_error", 5},
    {ErrorCode::unsupported, "unsupported", 400, "invalid_request_error", 2},
    {ErrorCode::device, "device", 500, "server_error", 6},
    {ErrorCode::cancelled, "cancelled", 499, "server_error", 1},
    {ErrorCode::shutting_down, "shutting_down", 503, "server_error", 1},
    {ErrorCode::internal, "internal", 500, "server_error", 70},
}};

/// The row of `code`; the row of `internal` for a value outside the enum.
[[nodiscard]] const ErrorRow &row_of(ErrorCode code) noexcept;

}  // namespace cairn
