// write_aside: a file that appears under its name complete or not at all, whatever fails and whenever.
//
//     write_aside(files, "cache/7.rows", [&](File &file) { return write_all(file, 0, bytes); });
//
//     name + ".tmp"   made empty, filled, flushed to the disk
//     name            renamed to, which replaces what was there; then the folder is flushed, too
//
// Errors: those of `fill` and of the FileSystem. Nothing is left behind then as far as the file system still lets files
// be removed (a start clears away what ends in ".tmp"). What had the name before stays, save where only the folder's
// flush failed: then neither is there.
//
//     write_for_user(files, "handbook.cairn", Existing::refuse, [&](File &file) { ... });
//
// is the same for a name that a person gave, where anything may lie. It takes only what is free, or a file where that
// is to be replaced; a link, device, pipe or folder is refused. It is filled under a name that was free:
//
//     name + ".tmp", or ".1.tmp" and so on
//
// Errors: also invalid_argument where the name is taken or empty.
// Threads: any, one at a time for one name.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "cairn/error.h"
#include "env/file_system.h"

namespace cairn {

inline constexpr const char *kAsideSuffix = ".tmp";

/// Whether a file that is there already may be replaced.
enum class Existing : std::uint8_t { refuse, replace };

[[nodiscard]] Status write_aside(FileSystem &files, const std::string &path, const std::function<Status(File &)> &fill);
[[nodiscard]] Status write_for_user(FileSystem &files, const std::string &path, Existing existing,
                                    const std::function<Status(File &)> &fill);
/// That write_for_user() would begin, for who has long work to do before.
[[nodiscard]] Status check_target(FileSystem &files, const std::string &path, Existing existing);

}  // namespace cairn
