// UserMarkup: how a template begins a user message, and where the messages of a rendered prompt begin.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "api/jinja_template.h"
#include "api/text_guard.h"

namespace cairn {

struct UserMarkup {
    std::string start;  ///< begins each user message; empty where none was found
    std::string lead;   ///< everything from `start` to the message's text, without white space at its end
};

/// From llama-common's analysis where it found something, else from comparing renderings of short conversations.
[[nodiscard]] UserMarkup find_user_markup(const JinjaTemplate &jinja);

/// The offset of the last user message, whose text is `content`, or nothing where it is not rendered in the usual way.
[[nodiscard]] std::optional<std::size_t> find_last_user(const GuardedText &guarded, const UserMarkup &markup,
                                                        std::string_view content);

/// An offset at or before `offset` at which every tokenizer cuts, whatever follows `offset`: in front of the last word.
[[nodiscard]] std::size_t stable_cut(std::string_view text, std::size_t offset) noexcept;

/// Text without the white space around it.
[[nodiscard]] std::string_view trimmed(std::string_view text) noexcept;

}  // namespace cairn
