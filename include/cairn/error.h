// Errors as values. Every expected failure is a `Result`; a broken invariant stops the program (base/check.h).
//
//     Result<Model> load(const Path &path);
//     auto model = load(path);
//     if (!model) return fail(model.error());          // hand the error up unchanged
//     return fail(ErrorCode::model_file, "{}: not a GGUF file", path);
//
// Thread rule: plain values. `what` is a whole sentence for the user: what failed and what to do about it.
#pragma once

#include <fmt/format.h>

#include <string>
#include <tl/expected.hpp>
#include <utility>

namespace cairn {

/// The kinds of failure a caller may want to tell apart. The table of names, HTTP statuses and exit codes is
/// src/base/error.cc.
enum class ErrorCode {
    invalid_argument,   ///< a value the caller gave is out of bounds or malformed
    not_found,          ///< a thing the caller named does not exist
    model_file,         ///< a model file is missing, truncated, foreign or damaged
    model_unsupported,  ///< a model is intact but cannot be served
    context_length,     ///< a prompt does not fit the context
    no_memory,          ///< memory of some kind could not be had
    capacity,           ///< a budget or queue is full: the same call may succeed later
    io,                 ///< a file or socket operation failed
    corrupt,            ///< stored bytes are not what was stored
    unsupported,        ///< the backend or model lacks this capability
    device,             ///< the device that computes failed: not a cache failure, it propagates
    cancelled,          ///< the caller asked for it
    shutting_down,      ///< the engine takes no more work
    internal,           ///< a defect of cairn
};

[[nodiscard]] const char *name_of(ErrorCode code) noexcept;

struct Error {
    ErrorCode code = ErrorCode::internal;
    std::string what;
};

template <class T>
using Result = tl::expected<T, Error>;
/// A Result without a value.
using Status = Result<void>;

[[nodiscard]] inline tl::unexpected<Error> fail(Error error) {
    return tl::unexpected<Error>(std::move(error));
}

template <class... Args>
[[nodiscard]] tl::unexpected<Error> fail(ErrorCode code, fmt::format_string<Args...> format, Args &&...args) {
    return tl::unexpected<Error>(Error{code, fmt::format(format, std::forward<Args>(args)...)});
}

}  // namespace cairn
