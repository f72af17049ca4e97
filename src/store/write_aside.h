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
// Threads: any, one at a time for one name.
#pragma once

#include <functional>
#include <string>

#include "cairn/error.h"
#include "env/file_system.h"

namespace cairn {

inline constexpr const char *kAsideSuffix = ".tmp";

[[nodiscard]] Status write_aside(FileSystem &files, const std::string &path, const std::function<Status(File &)> &fill);

}  // namespace cairn
