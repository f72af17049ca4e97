// CAIRN_CHECK: broken invariants stop the program with their context.
//
//     CAIRN_CHECK(used <= budget, "used {} of {} bytes", used, budget);
//
// For what the program itself must guarantee, never for what a user or a file may get wrong: those are Results.
// Always on: the checks that matter cost nothing next to a forward pass.
#pragma once

#include <fmt/format.h>

#include <string>

namespace cairn {

/// Prints the condition, its place and the message to stderr, then aborts.
[[noreturn]] void check_failed(const char *condition, const char *file, int line, const std::string &message) noexcept;

}  // namespace cairn

#define CAIRN_CHECK(condition, ...)                                                               \
    do {                                                                                          \
        if (!(condition)) [[unlikely]] {                                                          \
            ::cairn::check_failed(#condition, __FILE__, __LINE__, ::fmt::format("" __VA_ARGS__)); \
        }                                                                                         \
    } while (false)
