// The routes under /admin/cache, for `cairn cache`. They are there only where the server was given a CacheAdmin, and
// ask for its token, or for the API key where there is one. The table that names them is routes.cc.
//
//     GET  /admin/cache               SnapshotListing as JSON
//     GET  /admin/cache/tokens/{id}   {"tokens": [...]}
//     POST /admin/cache/remove        {"ids": [...]}                       -> {}
//     POST /admin/cache/keep          {"id": 7}                            -> {}
//     POST /admin/cache/warm          {"text": "..."}                      -> {"id", "tokens", "cached_tokens"}
//     POST /admin/cache/import        {"path": "...", "any_model": false}  -> {"id", "was_there"}
//
// Threads: one at a time, on a thread that may block: not on those of the sockets.
#pragma once

#include <string>
#include <string_view>

#include "server/reply.h"
#include "store/cache_admin.h"

namespace cairn {

/// `parameter`: what stands for "{...}", decoded.
using AdminHandler = Reply (*)(CacheAdmin &admin, std::string_view parameter, const std::string &body);

[[nodiscard]] Reply handle_cache_list(CacheAdmin &admin, std::string_view parameter, const std::string &body);
[[nodiscard]] Reply handle_cache_tokens(CacheAdmin &admin, std::string_view id, const std::string &body);
[[nodiscard]] Reply handle_cache_remove(CacheAdmin &admin, std::string_view parameter, const std::string &body);
[[nodiscard]] Reply handle_cache_keep(CacheAdmin &admin, std::string_view parameter, const std::string &body);
[[nodiscard]] Reply handle_cache_warm(CacheAdmin &admin, std::string_view parameter, const std::string &body);
[[nodiscard]] Reply handle_cache_import(CacheAdmin &admin, std::string_view parameter, const std::string &body);

}  // namespace cairn
