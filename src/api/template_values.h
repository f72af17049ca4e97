// ChatInput -> the values a chat template is rendered with. Internal to JinjaTemplate.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "api/chat_template.h"
#include "json.h"

namespace cairn {

/// What a template expects of its messages.
struct TemplateTraits {
    bool knows_developer = false;   ///< else the role becomes `system`
    bool knows_system = true;       ///< else leading system messages go into the message behind them
    bool object_arguments = false;  ///< arguments of tool calls as values, not as JSON text
    bool trim_contents = false;     ///< StepFun's: left-over white space drives the model into loops
};

struct TemplateValues {
    common_json messages;
    common_json tools;    ///< null without tools
    common_json context;  ///< further variables: dates, chat_template_kwargs
};

using TemplateTextMap = std::function<std::string(std::string_view)>;

/// Throws std::exception where a text that must be JSON is not.
[[nodiscard]] TemplateValues template_values(const ChatInput &input, const TemplateTraits &traits,
                                             const TemplateTextMap &map);

}  // namespace cairn
