#include "api/chat_messages.h"

#include <algorithm>
#include <array>

namespace cairn {

namespace {

constexpr std::array<std::string_view, 5> kRoles{"system", "developer", "user", "assistant", "tool"};

std::string indexed(std::string_view name, std::size_t index) {
    return fmt::format("{}[{}]", name, index);
}

/// The text of one part of a content array.
std::string read_part(const Json &part, const std::string &path, FirstError &error) {
    if (!part.is_object()) {
        error.add(ErrorCode::invalid_argument, fmt::format("'{}' must be an object with 'type' and 'text'", path));
        return {};
    }
    FieldReader fields(part, path, error);
    const auto type = fields.text("type");
    if (!type) {
        fields.must_be("type", "'text'");
    } else if (*type != "text") {
        error.add(ErrorCode::unsupported,
                  fmt::format("'{}' is a part of type '{}': only text is understood. Send parts of "
                              "type 'text'",
                              path, *type));
    } else if (auto text = fields.text("text")) {
        return *text;
    } else {
        fields.must_be("text", "a string");
    }
    return {};
}

std::string read_content(FieldReader &fields, FirstError &error) {
    const Json *content = fields.any("content");
    if (content == nullptr) return {};
    if (content->is_string()) return content->get<std::string>();
    if (!content->is_array()) {
        fields.must_be("content", "a string or an array of text parts");
        return {};
    }
    std::string text;
    for (std::size_t i = 0; i < content->size(); ++i) {
        if (i > 0) text += '\n';  // as llama-server joins them
        text += read_part((*content)[i], indexed(fields.path_of("content"), i), error);
    }
    return text;
}

ToolCall read_tool_call(const Json &value, const std::string &path, FirstError &error) {
    ToolCall call;
    if (!value.is_object()) {
        error.add(ErrorCode::invalid_argument, fmt::format("'{}' must be an object", path));
        return call;
    }
    FieldReader fields(value, path, error);
    call.id = fields.text("id").value_or("");
    if (fields.text("type").value_or("function") != "function") fields.must_be("type", "'function'");
    const Json *function = fields.object("function");
    if (function == nullptr) {
        fields.must_be("function", "an object with 'name' and 'arguments'");
        return call;
    }
    FieldReader inner(*function, path + ".function", error);
    const auto name = inner.text("name");
    if (!name) inner.must_be("name", "a string");
    call.name = name.value_or("");
    const Json *arguments = inner.any("arguments");
    if (arguments == nullptr || *arguments == "") {
        call.arguments = "{}";
    } else if (arguments->is_string()) {
        call.arguments = arguments->get<std::string>();
    } else if (arguments->is_object()) {
        call.arguments = arguments->dump();
    } else {
        inner.must_be("arguments", "a string of JSON or an object");
    }
    return call;
}

ChatMessage read_message(const Json &value, const std::string &path, FirstError &error) {
    ChatMessage message;
    if (!value.is_object()) {
        error.add(ErrorCode::invalid_argument, fmt::format("'{}' must be an object with 'role' and 'content'", path));
        return message;
    }
    FieldReader fields(value, path, error);
    message.role = fields.text("role").value_or("");
    if (std::find(kRoles.begin(), kRoles.end(), message.role) == kRoles.end()) {
        fields.must_be("role", "one of 'system', 'developer', 'user', 'assistant' and 'tool'");
    }
    message.content = read_content(fields, error);
    message.reasoning = fields.text("reasoning_content").value_or("");
    message.name = fields.text("name").value_or("");
    message.tool_call_id = fields.text("tool_call_id").value_or("");
    if (const Json *calls = fields.array("tool_calls")) {
        for (std::size_t i = 0; i < calls->size(); ++i) {
            message.tool_calls.push_back(read_tool_call((*calls)[i], indexed(path + ".tool_calls", i), error));
        }
    }
    // A null content is an empty one, as other servers take it; a missing one is a mistake, unless calls stand for it.
    if (!value.contains("content") && message.tool_calls.empty() && message.reasoning.empty()) {
        fields.must_be("content", "there: a string or an array of text parts");
    }
    return message;
}

ChatTool read_tool(const Json &value, const std::string &path, FirstError &error) {
    ChatTool tool;
    if (!value.is_object()) {
        error.add(ErrorCode::invalid_argument, fmt::format("'{}' must be an object", path));
        return tool;
    }
    FieldReader fields(value, path, error);
    if (fields.text("type").value_or("") != "function") fields.must_be("type", "'function'");
    const Json *function = fields.object("function");
    if (function == nullptr) {
        fields.must_be("function", "an object with a 'name'");
        return tool;
    }
    FieldReader inner(*function, path + ".function", error);
    const auto name = inner.text("name");
    if (!name) inner.must_be("name", "a string");
    tool.name = name.value_or("");
    tool.description = inner.text("description").value_or("");
    const Json *parameters = inner.object("parameters");
    tool.parameters = parameters == nullptr ? "{}" : parameters->dump();
    return tool;
}

void read_tool_choice(FieldReader &fields) {
    const Json *choice = fields.any("tool_choice");
    if (choice == nullptr || *choice == "auto" || *choice == "none") return;
    if (*choice == "required" || choice->is_object()) {
        fields.unsupported("tool_choice", "can only be 'auto' or 'none': a call cannot be forced");
    } else {
        fields.must_be("tool_choice", "'auto' or 'none'");
    }
}

void read_template_arguments(FieldReader &fields, FirstError &error, ChatInput &input) {
    if (const Json *arguments = fields.object("chat_template_kwargs")) {
        input.enable_thinking = FieldReader(*arguments, "chat_template_kwargs", error).boolean("enable_thinking");
        for (const auto &[name, value] : arguments->items())
            input.kwargs.emplace_back(name, value.dump());
    }
    const auto effort = fields.text("reasoning_effort");
    const bool given = std::any_of(input.kwargs.begin(), input.kwargs.end(),
                                   [](const auto &argument) { return argument.first == "reasoning_effort"; });
    if (effort && !given) input.kwargs.emplace_back("reasoning_effort", Json(*effort).dump());
    input.add_generation_prompt = fields.boolean("add_generation_prompt").value_or(true);
    const Json *go_on = fields.any("continue_final_message");
    if (go_on != nullptr && *go_on != false) {
        fields.unsupported("continue_final_message", "is not supported: end the messages with one of the user's");
    }
}

}  // namespace

ChatInput read_chat_input(FieldReader &fields, FirstError &error) {
    ChatInput input;
    const Json *messages = fields.array("messages");
    if (messages == nullptr || messages->empty()) {
        fields.must_be("messages", "an array of at least one message");
        return input;
    }
    for (std::size_t i = 0; i < messages->size(); ++i) {
        input.messages.push_back(read_message((*messages)[i], indexed("messages", i), error));
    }
    if (const Json *tools = fields.array("tools")) {
        for (std::size_t i = 0; i < tools->size(); ++i) {
            input.tools.push_back(read_tool((*tools)[i], indexed("tools", i), error));
        }
    }
    read_tool_choice(fields);
    read_template_arguments(fields, error, input);
    return input;
}

}  // namespace cairn
