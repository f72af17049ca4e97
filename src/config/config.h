// Config: everything a program is configured with, as one plain owned value, and how a file becomes one.
//
//     Result<Config> config = load_config_file("cairn.json");
//     if (!config) return fail(config.error());
//
// A file is JSON (comments allowed) with the sections of docs/configuration.md; what it leaves out keeps its default:
//
//     { "model": {"path": "models/demo.gguf"},
//       "engine": {"dynamic_batching": {"snapshot_ram_bytes": 1073741824}} }
//
// An empty section "dynamic_batching": {} counts as given. Order of strength: flags, then the file, then the defaults.
//
// Thread rule: plain values, free functions without state.
// Errors: invalid_argument for a syntax error, an unknown key (names the closest known one), a value of the wrong type
// or out of bounds; not_found or io for a file that cannot be read. Nothing is taken from a file that has an error.
#pragma once

#include <string>
#include <string_view>

#include "cairn/config.h"
#include "cairn/error.h"

namespace cairn {

struct Config {
    ModelConfig model;
    EngineConfig engine;
    ServerConfig server;
};

[[nodiscard]] Result<Config> load_config_file(const std::string &path);
/// `source` names the text in errors.
[[nodiscard]] Result<Config> parse_config(std::string_view json, std::string_view source = "configuration");

}  // namespace cairn
