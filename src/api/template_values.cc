#include "api/template_values.h"

#include <chrono>
#include <ctime>
#include <stdexcept>

#include "api/json_shape.h"

namespace cairn {

namespace {

common_json parse_nested(const std::string &text, const std::string &what) {
    if (json_shape(text) != JsonShape::fine) throw std::runtime_error(what + " is JSON nested too deeply or too large");
    try {
        return common_json::parse(text);
    } catch (const std::exception &) {
        throw std::runtime_error(what + " must be JSON text");
    }
}

/// `value` with each string in it mapped, names of fields too.
common_json map_strings(const common_json &value, const TemplateTextMap &map) {
    if (value.is_string()) return common_json(map(value.get<std::string>()));
    if (value.is_array()) {
        common_json result = common_json::array();
        for (const common_json &item : value)
            result.push_back(map_strings(item, map));
        return result;
    }
    if (value.is_object()) {
        common_json result = common_json::object();
        for (const auto &[key, item] : value.items())
            result[map(key)] = map_strings(item, map);
        return result;
    }
    return value;
}

std::string trim(const std::string &text) {
    const auto begin = text.find_first_not_of(" \t\r\n");
    if (begin == std::string::npos) return {};
    return text.substr(begin, text.find_last_not_of(" \t\r\n") - begin + 1);
}

common_json tool_call_value(const ToolCall &call, const TemplateTraits &traits, const TemplateTextMap &map) {
    common_json function = common_json::object();
    function["name"] = map(call.name);
    if (traits.object_arguments) {
        function["arguments"] = map_strings(parse_nested(call.arguments, "'arguments' of a tool call"), map);
    } else {
        function["arguments"] = map(call.arguments);
    }
    common_json value = common_json::object();
    value["type"] = "function";
    value["function"] = std::move(function);
    if (!call.id.empty()) value["id"] = map(call.id);
    return value;
}

common_json message_value(const ChatMessage &message, const TemplateTraits &traits, const TemplateTextMap &map) {
    const auto text = [&](const std::string &raw) { return map(traits.trim_contents ? trim(raw) : raw); };
    const bool rename = message.role == "developer" && !traits.knows_developer;
    common_json value = common_json::object();
    value["role"] = rename ? std::string("system") : message.role;
    value["content"] = text(message.content);
    if (!message.reasoning.empty()) value["reasoning_content"] = text(message.reasoning);
    if (!message.name.empty()) value["name"] = map(message.name);
    if (!message.tool_call_id.empty()) value["tool_call_id"] = map(message.tool_call_id);
    if (!message.tool_calls.empty()) {
        common_json calls = common_json::array();
        for (const ToolCall &call : message.tool_calls)
            calls.push_back(tool_call_value(call, traits, map));
        value["tool_calls"] = std::move(calls);
    }
    return value;
}

/// For templates without a system role: the text goes in front of the first message that is not one.
std::vector<ChatMessage> without_system(const std::vector<ChatMessage> &messages) {
    std::string system;
    std::size_t first = 0;
    for (; first < messages.size() && (messages[first].role == "system" || messages[first].role == "developer");
         ++first) {
        system += messages[first].content + "\n";
    }
    std::vector<ChatMessage> result(messages.begin() + static_cast<std::ptrdiff_t>(first), messages.end());
    if (first == 0) return result;
    if (result.empty() || result.front().role != "user") {
        result.insert(result.begin(), ChatMessage{.role = "user", .content = {}});
        system.pop_back();
    }
    result.front().content.insert(0, system);
    return result;
}

common_json tools_value(const std::vector<ChatTool> &tools, const TemplateTextMap &map) {
    if (tools.empty()) return {};
    common_json result = common_json::array();
    for (const ChatTool &tool : tools) {
        common_json function = common_json::object();
        function["name"] = map(tool.name);
        function["description"] = map(tool.description);
        function["parameters"] =
            map_strings(parse_nested(tool.parameters.empty() ? "{}" : tool.parameters, "'parameters' of a tool"), map);
        common_json value = common_json::object();
        value["type"] = "function";
        value["function"] = std::move(function);
        result.push_back(value);
    }
    return result;
}

/// Today, as templates show it to the model; llama-common's names and formats.
void add_dates(common_json &context) {
    const std::time_t now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
    std::tm local{};
    localtime_r(&now, &local);
    char text[32];
    std::strftime(text, sizeof text, "%b %d %Y", &local);
    context["datetime"] = text;
    std::strftime(text, sizeof text, "%d %b %Y", &local);
    context["date_string"] = text;
}

}  // namespace

TemplateValues template_values(const ChatInput &input, const TemplateTraits &traits, const TemplateTextMap &map) {
    TemplateValues values;
    values.messages = common_json::array();
    const auto add = [&](const ChatMessage &message) {
        values.messages.push_back(message_value(message, traits, map));
    };
    if (traits.knows_system) {
        for (const ChatMessage &message : input.messages)
            add(message);
    } else {
        for (const ChatMessage &message : without_system(input.messages))
            add(message);
    }
    values.tools = tools_value(input.tools, map);
    values.context = common_json::object();
    add_dates(values.context);
    for (const auto &[name, text] : input.kwargs) {
        values.context[name] = map_strings(parse_nested(text, "'chat_template_kwargs." + name + "'"), map);
    }
    return values;
}

}  // namespace cairn
