#include "api/jinja_template.h"

#include <algorithm>
#include <exception>
#include <mutex>
#include <optional>
#include <vector>

#include "api/template_values.h"
#include "chat-auto-parser.h"
#include "chat.h"
#include "log.h"

namespace cairn {

namespace {

/// How messages are adjusted before the template sees them.
enum class Dialect {
    plain,
    thinking,        ///< reasoning also as `thinking` (LFM2)
    thinking_calls,  ///< the same, and no content beside tool calls that were reasoned about (gpt-oss)
    typed_thinking,  ///< content as typed blocks, reasoning among them (Ministral 3)
    llama_common,    ///< llama-common's own adjustment, at its cost
};

common_json typed_thinking(const common_json &message) {
    const std::string role = message.value("role", "");
    if (role != "system" && role != "assistant") return message;
    common_json content = common_json::array();
    if (message.contains("reasoning_content")) {
        common_json block = common_json::object();
        block["type"] = "thinking";
        block["thinking"] = message.at("reasoning_content");
        content.push_back(block);
    }
    common_json block = common_json::object();
    block["type"] = "text";
    block["text"] = message.at("content");
    content.push_back(block);
    common_json adjusted = message;
    adjusted["content"] = content;
    if (adjusted.contains("reasoning_content")) adjusted.erase("reasoning_content");
    return adjusted;
}

common_json adjusted_message(const common_json &message, Dialect dialect) {
    if (dialect == Dialect::typed_thinking) return typed_thinking(message);
    common_json adjusted = message;
    if (!adjusted.contains("reasoning_content")) return adjusted;
    adjusted["thinking"] = message.at("reasoning_content");
    if (dialect == Dialect::thinking_calls && adjusted.contains("tool_calls")) adjusted.erase("content");
    return adjusted;
}

autoparser::generation_params parameters_of(const ChatInput &input, TemplateValues values) {
    autoparser::generation_params params;
    params.messages = std::move(values.messages);
    params.tools = std::move(values.tools);
    params.extra_context = std::move(values.context);
    params.add_generation_prompt = input.add_generation_prompt;
    params.enable_thinking = input.enable_thinking.value_or(true);
    params.tool_choice = COMMON_CHAT_TOOL_CHOICE_NONE;  // only decides about grammars, which nobody asks for here
    params.reasoning_format = COMMON_REASONING_FORMAT_NONE;
    params.mark_input = false;
    return params;
}

std::string apply(const common_chat_template &source, autoparser::generation_params params, Dialect dialect) {
    if (dialect == Dialect::llama_common) {
        auto special = common_chat_try_specialized_template(source, source.source(), params);
        if (special) return special->prompt;
    } else if (dialect != Dialect::plain) {
        common_json adjusted = common_json::array();
        for (const common_json &message : params.messages)
            adjusted.push_back(adjusted_message(message, dialect));
        params.messages = std::move(adjusted);
    }
    return common_chat_template_direct_apply(source, params);
}

/// The same with nothing where the template refuses.
std::optional<std::string> try_apply(const common_chat_template &source, const autoparser::generation_params &params,
                                     Dialect dialect) {
    try {
        return apply(source, params, dialect);
    } catch (const std::exception &) {
        return std::nullopt;
    }
}

constexpr const char *kAnswerText = "ANSWER-TEXT";
constexpr std::size_t kAnswerSample = 1;  ///< the sample whose answer is not in the last turn and called no tool

/// Conversations in which the adjustments show: reasoning and tool calls, in the last turn and before it.
std::vector<ChatInput> samples() {
    const ChatMessage system{.role = "system", .content = "RULES-TEXT"};
    const ChatMessage user{.role = "user", .content = "QUESTION-TEXT"};
    const ChatMessage call{.role = "assistant",
                           .content = "CALL-TEXT",
                           .reasoning = "R1",
                           .tool_calls = {{"callaaaa1", "f", R"({"a": "b"})"}, {"callaaaa2", "f", R"({"a": "c"})"}}};
    const ChatMessage first{.role = "tool", .content = "RESULT-1", .name = "f", .tool_call_id = "callaaaa1"};
    const ChatMessage second{.role = "tool", .content = "RESULT-2", .name = "f", .tool_call_id = "callaaaa2"};
    const ChatMessage answer{.role = "assistant", .content = kAnswerText, .reasoning = "R2"};
    ChatMessage silent_call = call;
    silent_call.content.clear();
    const std::vector<ChatTool> tools{{"f", "d", R"({"type": "object", "properties": {"a": {"type": "string"}}})"}};
    return {
        {.messages = {system, user}},
        {.messages = {user, answer, user}},
        {.messages = {user, answer}},
        {.messages = {user, call, first, second}, .tools = tools},
        {.messages = {user, call, second, first}, .tools = tools},
        {.messages = {user, silent_call, first, second}, .tools = tools},
        {.messages = {system, user, call, first, second, answer, user}, .tools = tools},
    };
}

/// True for conversations that no dialect changes.
bool is_simple(const ChatInput &input) {
    return std::all_of(input.messages.begin(), input.messages.end(), [](const ChatMessage &message) {
        return message.reasoning.empty() && message.tool_calls.empty() && message.role != "tool";
    });
}

/// True where llama-common's adjustment loses an earlier answer that the template itself shows: a defect of the
/// adjustment (Devstral's template does not know the typed blocks it gets), not a dialect.
bool loses_answers(const common_chat_template &source, const autoparser::generation_params &params,
                   const std::optional<std::string> &adjusted) {
    const auto plain = try_apply(source, params, Dialect::plain);
    const auto shows = [](const std::string &text) { return text.find(kAnswerText) != std::string::npos; };
    return adjusted && plain && shows(*plain) && !shows(*adjusted);
}

Dialect dialect_of(const common_chat_template &source, const TemplateTraits &traits) {
    std::vector<autoparser::generation_params> params;
    std::vector<std::optional<std::string>> wanted;
    for (const ChatInput &sample : samples()) {
        const auto same = [](std::string_view text) { return std::string(text); };
        params.push_back(parameters_of(sample, template_values(sample, traits, same)));
        wanted.push_back(try_apply(source, params.back(), Dialect::llama_common));
    }
    if (loses_answers(source, params[kAnswerSample], wanted[kAnswerSample])) return Dialect::plain;
    for (const Dialect dialect :
         {Dialect::plain, Dialect::thinking, Dialect::thinking_calls, Dialect::typed_thinking}) {
        bool equal = true;
        for (std::size_t i = 0; equal && i < params.size(); ++i) {
            equal = !wanted[i] || try_apply(source, params[i], dialect) == wanted[i];
        }
        if (equal) return dialect;
    }
    return Dialect::llama_common;
}

std::string user_start_of(const common_chat_templates *templates) {
    common_chat_templates_inputs inputs;
    common_chat_msg message;
    message.role = "user";
    message.content = "Q";
    inputs.messages = {message};
    try {
        for (const auto &delimiter : common_chat_templates_apply(templates, inputs).message_delimiters.delimiters) {
            if (delimiter.role == COMMON_CHAT_ROLE_USER) return delimiter.delimiter;
        }
    } catch (const std::exception &) {  // the analysis is a bonus: some templates refuse its samples
    }
    return {};
}

void silence_llama_common() {
    static std::once_flag once;
    std::call_once(once, [] { common_log_set_verbosity_thold(-1); });
}

/// What went wrong, out of a text with a traceback in front of it.
std::string reason_of(const std::string &text) {
    std::string reason = text;
    for (const std::string_view prefix : {"Error: ", "Jinja Exception: "}) {
        if (const auto at = reason.rfind(prefix); at != std::string::npos) reason.erase(0, at + prefix.size());
    }
    return reason.substr(0, reason.find('\n'));
}

/// Runs `work`, which calls llama-common, and makes an error of what that throws.
template <class Work>
auto without_exceptions(std::string_view what, Work &&work) -> Result<decltype(work())> {
    std::string reason = "an unknown error";
    try {
        return work();
    } catch (const std::exception &error) {
        reason = reason_of(error.what());
    } catch (...) {  // Jinja's `break` and `continue` outside of a loop are thrown as plain structs
    }
    return fail(ErrorCode::invalid_argument, "{}: {}", what, reason);
}

}  // namespace

struct JinjaTemplate::Impl {
    explicit Impl(const std::string &text, const std::string &bos, const std::string &eos) : source(text, bos, eos) {
        traits.knows_developer = text.find("developer") != std::string::npos;
        traits.knows_system = source.caps.supports_system_role;
        traits.object_arguments = source.caps.supports_object_arguments;
        traits.trim_contents =
            text.find("You have access to the following functions in JSONSchema format") != std::string::npos;
        dialect = dialect_of(source, traits);
    }

    common_chat_template source;
    TemplateTraits traits;
    Dialect dialect = Dialect::plain;
    std::string user_start;
};

JinjaTemplate::JinjaTemplate(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
JinjaTemplate::~JinjaTemplate() = default;

Result<std::unique_ptr<JinjaTemplate>> JinjaTemplate::create(const std::string &source, const std::string &bos_text,
                                                             const std::string &eos_text) {
    silence_llama_common();
    const std::string text = source.empty() ? "chatml" : source;
    if (text != "chatml" && text.find("{{") == std::string::npos && text.find("{%") == std::string::npos) {
        return fail(
            ErrorCode::invalid_argument,
            "'{}' is neither a chat template (Jinja text) nor the name of a built-in one: use 'chatml', or give "
            "the template's text",
            text.substr(0, 60));
    }
    return without_exceptions("The chat template cannot be used (give another with --chat-template-file)", [&] {
        // Parsed on its own first: the call below loses the parser's message.
        if (text != "chatml") (void)common_chat_template(text, bos_text, eos_text);
        const auto templates = common_chat_templates_init(nullptr, text, bos_text, eos_text);
        auto impl = std::make_unique<Impl>(common_chat_templates_source(templates.get()), bos_text, eos_text);
        impl->user_start = user_start_of(templates.get());
        return std::unique_ptr<JinjaTemplate>(new JinjaTemplate(std::move(impl)));
    });
}

Result<std::string> JinjaTemplate::render(const ChatInput &input, const TextMap &map) const {
    return without_exceptions("The model's chat template cannot render these messages", [&] {
        const bool plain = impl_->dialect == Dialect::llama_common && is_simple(input);
        return apply(impl_->source, parameters_of(input, template_values(input, impl_->traits, map)),
                     plain ? Dialect::plain : impl_->dialect);
    });
}

Status JinjaTemplate::visit_texts(const ChatInput &input, const std::function<void(std::string_view)> &see) const {
    const auto visit = [&](std::string_view text) {
        see(text);
        return std::string();
    };
    return without_exceptions("The messages cannot be rendered",
                              [&] {
                                  (void)template_values(input, impl_->traits, visit);
                                  return true;
                              })
        .map([](bool) {});
}

const std::string &JinjaTemplate::analysed_user_start() const noexcept {
    return impl_->user_start;
}

}  // namespace cairn
