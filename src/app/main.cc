#include <CLI/CLI.hpp>
#include <array>
#include <cstdio>
#include <exception>

#include "app/commands.h"
#include "config/cli.h"

int main(int argc, char **argv) {
    CLI::App app{"cairn serves GGUF models and never computes the same prefix twice."};
    app.name("cairn");
    app.set_version_flag("--version", CAIRN_VERSION);
    app.require_subcommand(1);
    const std::array commands{cairn::add_serve_command(app), cairn::add_run_command(app), cairn::add_demo_command(app),
                              cairn::add_cache_command(app)};
    try {
        cairn::parse_command_line(app, argc, argv);
    } catch (const CLI::ParseError &error) {
        return app.exit(error);
    }
    try {
        for (const cairn::Command &command : commands) {
            if (command.app->parsed()) return command.run();
        }
    } catch (const std::exception &error) {
        std::fprintf(stderr, "cairn: %s\n", error.what());
        return 70;
    }
    return 2;
}
