#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>
#include <system_error>

#include "config/closest.h"
#include "config/config.h"
#include "config/option_value.h"
#include "config/options.h"

namespace cairn {

namespace {

using nlohmann::json;

const Option *find_option(std::string_view key) {
    for (const auto &option : options()) {
        if (*option.key != '\0' && key == option.key) return &option;
    }
    return nullptr;
}

const OptionSection *find_section(std::string_view key) {
    for (const auto &section : option_sections()) {
        if (key == section.key) return &section;
    }
    return nullptr;
}

auto unknown_key(const std::string &key) {
    std::vector<std::string> known;
    for (const auto &option : options()) {
        if (*option.key != '\0') known.emplace_back(option.key);
    }
    return fail(ErrorCode::invalid_argument,
                "the key {} is unknown. Did you mean {}? docs/configuration.md lists all keys.", key,
                closest_key(key, known));
}

/// One adapter: a path, or {"path": ..., "scale": ...}. Nothing where it is neither.
std::optional<AdapterConfig> read_adapter(const json &item) {
    if (item.is_string()) return AdapterConfig{item.get<std::string>(), 1.0f};
    if (!item.is_object() || !item.contains("path") || !item["path"].is_string()) return std::nullopt;
    AdapterConfig adapter{item["path"].get<std::string>(), 1.0f};
    for (const auto &[key, value] : item.items()) {
        if (key == "path") continue;
        if (key != "scale" || !value.is_number()) return std::nullopt;
        adapter.scale = value.get<float>();
    }
    return adapter;
}

/// Nothing where the JSON has no counterpart: null, objects, lists of other things than adapters.
std::optional<OptionValue> read_value(const json &value) {
    if (value.is_boolean()) return value.get<bool>();
    if (value.is_number_unsigned()) {
        const auto number = value.get<std::uint64_t>();
        if (std::in_range<std::int64_t>(number)) return static_cast<std::int64_t>(number);
        return number;
    }
    if (value.is_number_integer()) return value.get<std::int64_t>();
    if (value.is_number_float()) return value.get<double>();
    if (value.is_string()) return value.get<std::string>();
    if (!value.is_array()) return std::nullopt;
    std::vector<AdapterConfig> adapters;
    for (const auto &item : value) {
        auto adapter = read_adapter(item);
        if (!adapter) return std::nullopt;
        adapters.push_back(std::move(*adapter));
    }
    return adapters;
}

Status load_option(const Option &option, const json &value, Config &config) {
    const auto read = read_value(value);
    if (!read) {
        return fail(ErrorCode::invalid_argument, "{}: a value of type {} is not one it takes. Give it {}.",
                    spelling_of(option), value.type_name(), wanted_value(option));
    }
    return assign(option, config, *read);
}

Status load_section(const std::string &prefix, const json &object, Config &config) {
    for (const auto &[name, value] : object.items()) {
        const std::string key = prefix.empty() ? name : prefix + "." + name;
        Status status;
        if (const auto *option = find_option(key)) {
            status = load_option(*option, value, config);
        } else if (const auto *section = find_section(key)) {
            if (!value.is_object()) {
                return fail(ErrorCode::invalid_argument, "the key {} takes an object of keys, not a value of type {}.",
                            key, value.type_name());
            }
            section->enter(config);
            status = load_section(key, value, config);
        } else {
            return unknown_key(key);
        }
        if (!status) return status;
    }
    return {};
}

/// "line 3, column 5: ..." without the parser's own prefix.
std::string syntax_error(const json::parse_error &error) {
    const std::string_view text = error.what();
    const auto begin = text.find("] ");
    return std::string(begin == std::string_view::npos ? text : text.substr(begin + 2));
}

}  // namespace

Result<Config> parse_config(std::string_view text, std::string_view source) {
    json root;
    try {
        root = json::parse(text, nullptr, true, true);
    } catch (const json::parse_error &error) {
        return fail(ErrorCode::invalid_argument, "{}: this is not valid JSON: {}.", source, syntax_error(error));
    }
    if (!root.is_object()) {
        return fail(ErrorCode::invalid_argument, "{}: a configuration is a JSON object, not a value of type {}.",
                    source, root.type_name());
    }
    Config config;
    if (const auto status = load_section("", root, config); !status) {
        return fail(status.error().code, "{}: {}", source, status.error().what);
    }
    return config;
}

Result<Config> load_config_file(const std::string &path) {
    errno = 0;
    std::ifstream file(path, std::ios::binary);
    if (!file) {
        const auto code = errno == ENOENT ? ErrorCode::not_found : ErrorCode::io;
        return fail(code, "{}: the configuration file cannot be opened: {}.", path,
                    std::generic_category().message(errno));
    }
    std::string text;
    try {
        // A directory opens, and fails on the first read.
        file.exceptions(std::ios::badbit);
        text.assign(std::istreambuf_iterator<char>(file), {});
    } catch (const std::ios_base::failure &) {
        return fail(ErrorCode::io, "{}: the configuration file cannot be read. Is it a file?", path);
    }
    return parse_config(text, path);
}

}  // namespace cairn
