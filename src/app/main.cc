#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cstdio>
#include <exception>
#include <string>

#include "app/commands.h"
#include "config/cli.h"

namespace {

/// CLI11's own statuses begin here; those of cairn are the table base/error_table.h.
constexpr int kFirstForeignStatus = 100;
constexpr int kUsage = 2;

/// Says what commands there are where the first word that must be one is none.
bool names_unknown_command(const CLI::App &app, int argc, const char *const *argv) {
    const CLI::App *at = &app;
    std::string path = app.get_name();
    for (int i = 1; i < argc && at->get_require_subcommand_min() > 0; ++i) {
        const std::string word = argv[i];
        if (word.empty() || word[0] == '-') return false;
        const auto commands = at->get_subcommands([](const CLI::App *) { return true; });
        const auto named =
            std::find_if(commands.begin(), commands.end(), [&](const CLI::App *c) { return c->get_name() == word; });
        if (named == commands.end()) {
            std::string all;
            for (const CLI::App *command : commands)
                all += (all.empty() ? "" : ", ") + command->get_name();
            std::fprintf(stderr, "cairn: there is no command \"%s %s\": the commands are %s\n", path.c_str(),
                         word.c_str(), all.c_str());
            return true;
        }
        at = *named;
        path += ' ' + word;
    }
    return false;
}

}  // namespace

int main(int argc, char **argv) {
    CLI::App app{"cairn serves GGUF models and never computes the same prefix twice."};
    app.name("cairn");
    app.set_version_flag("--version", CAIRN_VERSION);
    app.require_subcommand(1);
    const std::array commands{cairn::add_serve_command(app), cairn::add_run_command(app), cairn::add_demo_command(app),
                              cairn::add_cache_command(app), cairn::add_bench_command(app)};
    if (names_unknown_command(app, argc, argv)) return kUsage;
    try {
        cairn::parse_command_line(app, argc, argv);
    } catch (const CLI::ParseError &error) {
        const int status = app.exit(error);
        return status >= kFirstForeignStatus ? kUsage : status;
    }
    try {
        for (const cairn::Command &command : commands) {
            if (command.app->parsed()) return command.run();
        }
    } catch (const std::exception &error) {
        std::fprintf(stderr, "cairn: %s\n", error.what());
        return 70;
    }
    return kUsage;
}
