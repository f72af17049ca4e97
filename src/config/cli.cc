#include "config/cli.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <set>
#include <string_view>

#include "base/error_table.h"
#include "config/closest.h"
#include "config/option_value.h"

namespace cairn {

namespace {

/// -ngl, but neither -c nor --ctx-size.
bool is_long_short_flag(std::string_view flag) {
    return flag.size() > 2 && flag[0] == '-' && flag[1] != '-';
}

/// An Error in CLI11's clothes.
class OptionError : public CLI::ParseError {
public:
    explicit OptionError(const cairn::Error &error)  // CLI11 has an Error too
        : CLI::ParseError("OptionError", error.what, row_of(error.code).exit_code) {}
};

void throw_if_failed(const Status &status) {
    if (!status) throw OptionError(status.error());
}

/// The names CLI11 can parse, as it wants them: "-c,--ctx-size".
std::string parsable_names(const Option &option) {
    std::string names;
    for (const auto &flag : flag_spellings(option)) {
        if (is_long_short_flag(flag)) continue;
        if (!names.empty()) names += ',';
        names += flag;
    }
    return names;
}

std::string description_of(const Option &option) {
    std::string text = option.help;
    for (const auto &flag : flag_spellings(option)) {
        if (is_long_short_flag(flag)) text = fmt::format("[{}] {}", flag, text);
    }
    if (*option.value_name == '\0') return text;
    const auto value = shown_value(option, Config{});
    const bool has_default = value != "empty" && value != "unset" && value != "none";
    return has_default ? fmt::format("{} Default: {}.", text, value) : text;
}

void add_config_file(CLI::App &app, Config &config) {
    // Callbacks run in the order the options were added, so the file is there before the first flag is applied.
    const auto load = [&config](const CLI::results_t &results) {
        auto loaded = load_config_file(results.back());
        if (!loaded) throw OptionError(loaded.error());
        config = std::move(*loaded);
        return true;
    };
    app.add_option("--config", load, "A JSON file with options; flags override it (docs/configuration.md).")
        ->type_name("FILE")
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
}

void add_switch(CLI::App &app, Config &config, const Option &option) {
    const auto apply = [&config, &option] { throw_if_failed(assign(option, config, OptionValue{option.flag_value})); };
    app.add_flag_callback(parsable_names(option), apply, description_of(option));
}

/// `replaced`: shared by the flags that add to one list; the first one drops what the file put there.
void add_value(CLI::App &app, Config &config, const Option &option, const std::shared_ptr<bool> &replaced) {
    const auto apply = [&config, &option, replaced](const CLI::results_t &results) {
        if (is_list(option) && !std::exchange(*replaced, true)) {
            throw_if_failed(assign(option, config, OptionValue{std::vector<AdapterConfig>{}}));
        }
        for (const auto &text : results)
            throw_if_failed(assign_text(option, config, text));
        return true;
    };
    auto *added = app.add_option(parsable_names(option), apply, description_of(option))->type_name(option.value_name);
    added->multi_option_policy(is_list(option) ? CLI::MultiOptionPolicy::TakeAll : CLI::MultiOptionPolicy::TakeLast);
}

/// The flags of `app` and its subcommands that are followed by a value.
void collect_value_flags(const CLI::App &app, std::set<std::string> &flags) {
    for (const auto *option : app.get_options()) {
        if (option->get_items_expected_min() < 1) continue;
        for (const auto &name : option->get_snames())
            flags.insert("-" + name);
        for (const auto &name : option->get_lnames())
            flags.insert("--" + name);
    }
    for (const auto *subcommand : app.get_subcommands([](const CLI::App *) { return true; })) {
        collect_value_flags(*subcommand, flags);
    }
}

/// The long spelling of a multi-letter short flag of the table; empty for anything else.
std::string long_spelling(std::string_view flag) {
    if (!is_long_short_flag(flag)) return {};
    for (const auto &option : options()) {
        const auto spellings = flag_spellings(option);
        if (std::find(spellings.begin(), spellings.end(), flag) == spellings.end()) continue;
        for (const auto &spelling : spellings) {
            if (spelling.starts_with("--")) return spelling;
        }
    }
    return {};
}

/// What is wrong with the first word that is no flag of the command, and which flag it may have been meant to be. Empty
/// where all that is left over are other words.
std::string unknown_flag(const CLI::App &app) {
    const auto left = app.remaining(true);
    const auto word = std::find_if(left.begin(), left.end(), [](const auto &w) { return w.size() > 1 && w[0] == '-'; });
    if (word == left.end()) return {};
    const CLI::App *command = &app;
    std::string path = app.get_name();
    while (!command->get_subcommands().empty()) {
        command = command->get_subcommands().front();
        path += ' ' + command->get_name();
    }
    std::vector<std::string> known;
    for (const auto *option : command->get_options()) {
        for (const auto &name : option->get_lnames())
            known.push_back("--" + name);
    }
    const std::string flag = word->substr(0, word->find('='));
    return fmt::format("{} has no flag {}. Did you mean {}?", path, flag, closest_key(flag, known));
}

}  // namespace

void add_options(CLI::App &app, Config &config, std::initializer_list<OptionGroup> groups) {
    add_config_file(app, config);
    const auto replaced = std::make_shared<bool>(false);
    for (const auto &option : options()) {
        if (*option.flags == '\0' || std::find(groups.begin(), groups.end(), option.group) == groups.end()) continue;
        if (*option.value_name == '\0') {
            add_switch(app, config, option);
        } else {
            add_value(app, config, option, replaced);
        }
    }
}

std::vector<std::string> expand_short_flags(const CLI::App &app, std::vector<std::string> args) {
    std::set<std::string> value_flags;
    collect_value_flags(app, value_flags);
    for (std::size_t i = 0; i < args.size() && args[i] != "--"; ++i) {
        const auto equals = args[i].find('=');
        const auto flag = args[i].substr(0, equals);
        const auto spelling = long_spelling(flag);
        if (!spelling.empty()) args[i] = equals == std::string::npos ? spelling : spelling + args[i].substr(equals);
        if (equals == std::string::npos && value_flags.contains(args[i])) ++i;
    }
    return args;
}

void parse_command_line(CLI::App &app, int argc, const char *const *argv) {
    std::vector<std::string> args(argv + std::min(argc, 1), argv + argc);
    args = expand_short_flags(app, std::move(args));
    std::reverse(args.begin(), args.end());  // CLI11 takes them from the back
    try {
        app.parse(std::move(args));
    } catch (const CLI::ExtrasError &) {
        const std::string text = unknown_flag(app);
        if (text.empty()) throw;
        throw OptionError({ErrorCode::invalid_argument, text});
    }
}

}  // namespace cairn
