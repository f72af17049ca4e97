// JinjaTemplate: the one place that knows llama-common's chat templates. Messages in, text out.
//
// llama-common renders some families from adjusted messages (a `thinking` field, typed blocks, tool results inside the
// assistant's message). It offers that only together with building a parser, which costs three renderings. So create()
// finds out once, by rendering samples both ways, which adjustment makes the cheap rendering equal to llama-common's,
// and keeps the expensive way only for templates where none does.
//
// Threads: const, safe from any thread. Errors: whatever llama-common throws becomes invalid_argument.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "api/chat_template.h"
#include "cairn/error.h"

namespace cairn {

class JinjaTemplate {
public:
    /// Called on every text that comes from a message, a tool or a template argument; returns what to render instead.
    using TextMap = std::function<std::string(std::string_view)>;

    [[nodiscard]] static Result<std::unique_ptr<JinjaTemplate>> create(const std::string &source,
                                                                       const std::string &bos_text,
                                                                       const std::string &eos_text);
    ~JinjaTemplate();

    [[nodiscard]] Result<std::string> render(const ChatInput &input, const TextMap &map) const;
    /// Calls `see` on each text that render() would map.
    [[nodiscard]] Status visit_texts(const ChatInput &input, const std::function<void(std::string_view)> &see) const;
    /// What llama-common's analysis found to begin a user message; empty where it found nothing.
    [[nodiscard]] const std::string &analysed_user_start() const noexcept;

private:
    struct Impl;
    explicit JinjaTemplate(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> impl_;
};

}  // namespace cairn
