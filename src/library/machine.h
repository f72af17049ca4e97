// What the command line wants to know of the machine it runs on.
#pragma once

#include <cstddef>
#include <string>

#include "cairn/error.h"
#include "config/serve_defaults.h"
#include "env/file_system.h"

namespace cairn {

/// `cache_directory`: the one that the user named; empty: the user's own, $XDG_CACHE_HOME/cairn or ~/.cache/cairn.
[[nodiscard]] MachineFacts machine_facts(const std::string &cache_directory = "");
[[nodiscard]] std::string default_cache_directory();
/// Of the file system that `path` is on, or will be on once it is made.
[[nodiscard]] Result<SpaceInfo> space_around(FileSystem &files, std::string path);
/// Lets this process have `wanted` files open at a time, as far as the machine allows. Returns how many it may have
/// now.
std::size_t raise_file_limit(std::size_t wanted);

}  // namespace cairn
