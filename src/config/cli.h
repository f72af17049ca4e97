// The command line's side of the options table.
//
//     CLI::App app{"cairn"};
//     Config config;
//     auto *serve = app.add_subcommand("serve", "...");
//     add_options(*serve, config, {OptionGroup::model, OptionGroup::engine, OptionGroup::server});
//     try { parse_command_line(app, argc, argv); } catch (const CLI::ParseError &e) { return app.exit(e); }
//
// add_options also adds --config FILE. The file is read first and the flags override it, wherever they stand; a flag
// given twice counts as given last, except --lora and --lora-scaled, which add up (and replace the file's adapters).
// Flags with several letters behind one dash (-ngl, -np: llama-server's) are unknown to CLI11: parse_command_line
// puts the long spelling in their place. The environment is never read.
//
// Ownership: the app keeps references to `config`, which must outlive the parse.
// Errors: CLI::ParseError, CLI11's own way; its text is the Error's, its exit code that of base/error_table.h.
#pragma once

#include <initializer_list>
#include <string>
#include <vector>

#include "config/config.h"
#include "config/options.h"

namespace CLI {
class App;
}

namespace cairn {

void add_options(CLI::App &app, Config &config, std::initializer_list<OptionGroup> groups);

/// `args` (without the program's name) with the multi-letter short flags of the table spelled out. What follows a flag
/// of the table or of `app` and its subcommands that takes a value, and whatever follows "--", is left as it is.
[[nodiscard]] std::vector<std::string> expand_short_flags(const CLI::App &app, std::vector<std::string> args);

void parse_command_line(CLI::App &app, int argc, const char *const *argv);

}  // namespace cairn
