// ChatTemplate: messages -> prompt tokens and the positions at which a prefix will come back.
//
// The template is the model's own (Jinja, through llama-common), or one the user gave. Text inside a message never
// becomes a control token, whatever it spells; the template's own markup does. Threads: const, safe from any thread.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cairn/error.h"
#include "cairn/request.h"
#include "cairn/types.h"
#include "model/vocabulary.h"

namespace cairn {

/// A call to a function, as an assistant message carries it.
struct ToolCall {
    std::string id;
    std::string name;
    std::string arguments;  ///< JSON text
};

struct ChatMessage {
    std::string role = {};
    std::string content = {};
    std::string reasoning = {};     ///< reasoning_content of an assistant message
    std::string name = {};          ///< of a tool message: the function's
    std::string tool_call_id = {};  ///< of a tool message
    std::vector<ToolCall> tool_calls = {};
};

struct ChatTool {
    std::string name;
    std::string description;
    std::string parameters;  ///< JSON schema text
};

struct ChatPrompt {
    Tokens tokens;
    std::vector<CheckpointHint> checkpoints;  ///< system_end, last_user, last_user_end, where the prompt has them
};

struct ChatInput {
    std::vector<ChatMessage> messages = {};
    std::vector<ChatTool> tools = {};
    bool add_generation_prompt = true;
    std::optional<bool> enable_thinking = {};
    std::vector<std::pair<std::string, std::string>> kwargs = {};  ///< chat_template_kwargs: name, JSON text
};

class ChatTemplate {
public:
    /// `source`: Jinja text or the name of a built-in ("chatml"); empty: ChatML. invalid_argument where it does not
    /// parse.
    [[nodiscard]] static Result<std::unique_ptr<ChatTemplate>> create(const std::string &source,
                                                                      const Vocabulary &vocabulary);
    ~ChatTemplate();

    [[nodiscard]] Result<ChatPrompt> render(const ChatInput &input) const;
    /// The prompt as text, for display.
    [[nodiscard]] Result<std::string> render_text(const ChatInput &input) const;

private:
    ChatTemplate();
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace cairn
