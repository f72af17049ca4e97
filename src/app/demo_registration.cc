#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>

#include "app/commands.h"
#include "app/demo_command.h"
#include "app/load_progress.h"
#include "config/cli.h"
#include "library/composition.h"
#include "library/machine.h"

namespace cairn {

namespace {

struct DemoCommand {
    Config config;
    DemoOptions options;
};

int demo(DemoCommand command) {
    command.options.demo_model = command.config.model.path.empty();
    if (command.options.demo_model) command.config.model.path = CAIRN_DEMO_MODEL;
    MachineFacts machine = machine_facts();
    machine.cache_directory.clear();  // the cold half must be cold
    apply_serve_defaults(command.config, machine);
    auto graph = compose(command.config, show_load_progress(command.config.model.path, command.options.json));
    if (!graph) return report(graph.error());
    return run_demo(command.options, *(*graph)->engine, *(*graph)->chat_template, (*graph)->env, std::cout, std::cerr);
}

}  // namespace

Command add_demo_command(CLI::App &parent) {
    auto command = std::make_shared<DemoCommand>();
    CLI::App *app = parent.add_subcommand("demo", "Ask questions on a handbook, cold and warm, and compare.");
    add_options(*app, command->config, {OptionGroup::model, OptionGroup::engine});
    app->add_flag("--json", command->options.json, "One JSON document instead of a table.");
    app->add_option("--questions", command->options.questions, "How many questions.");
    app->add_flag("--all", command->options.all, "Ask every question there is.");
    return {app, [command] { return demo(*command); }};
}

}  // namespace cairn
