#include "api/chat_template.h"

#include <array>
#include <optional>
#include <string_view>

#include "api/jinja_template.h"
#include "api/spelling_matcher.h"
#include "api/text_guard.h"
#include "api/tokenized_text.h"
#include "api/user_markup.h"

namespace cairn {

namespace {

bool is_system(const ChatMessage &message) {
    return message.role == "system" || message.role == "developer";
}

/// A rendering in progress: the marks that keep this request's texts apart, and its text.
struct Rendering {
    const ChatInput &input;
    TextGuard guard;
    GuardedText result;
};

}  // namespace

struct ChatTemplate::Impl {
    Impl(const Vocabulary &vocab, std::unique_ptr<JinjaTemplate> parsed)
        : vocabulary(vocab), matcher(vocab), jinja(std::move(parsed)), markup(find_user_markup(*jinja)) {
        goes_on = {probe_next_turn(std::nullopt), probe_next_turn(false), probe_next_turn(true)};
    }

    [[nodiscard]] Result<std::string> render_with(const TextGuard &guard, const ChatInput &input) const {
        return jinja->render(
            input, [&](std::string_view text) { return guard.needed() ? guard.wrap(text) : std::string(text); });
    }

    [[nodiscard]] Result<Rendering> render(const ChatInput &input) const {
        Rendering rendering{input, TextGuard(matcher), {}};
        if (auto status = jinja->visit_texts(input, [&](std::string_view text) { rendering.guard.see(text); });
            !status) {
            return fail(status.error());
        }
        if (rendering.guard.needed()) rendering.guard.choose_marks();
        auto text = render_with(rendering.guard, input);
        if (!text) return fail(text.error());
        rendering.result = rendering.guard.unwrap(*text);
        return rendering;
    }

    /// The prompt up to the text of a user message, found by rendering `input` with digits in place of that text.
    /// Nothing where the prompt itself does not begin like that.
    [[nodiscard]] std::optional<std::string> prefix_before(const Rendering &rendering, ChatInput input,
                                                           std::size_t user) const {
        const std::string dummy = rendering.guard.unseen_digits(9);
        input.messages[user].content = dummy;
        const auto text = render_with(rendering.guard, input);
        if (!text) return std::nullopt;
        const auto end = text->find(dummy);
        if (end == std::string::npos) return std::nullopt;
        std::string prefix = rendering.guard.unwrap(std::string_view(*text).substr(0, end)).text;
        if (rendering.result.text.compare(0, prefix.size(), prefix) != 0) return std::nullopt;
        return prefix;
    }

    /// The start of the user's markup at the end of `prefix`; `text`: what must lie in front of the cut.
    [[nodiscard]] std::size_t cut_of(const std::string &prefix, std::string_view text) const {
        const auto start = markup.start.empty() ? std::string::npos : prefix.rfind(markup.start);
        // Templates without a system role put the system prompt inside the first user message.
        const bool merged =
            start != std::string::npos && !text.empty() && prefix.find(text, start) != std::string::npos;
        return start == std::string::npos || merged ? stable_cut(prefix, prefix.size()) : start;
    }

    [[nodiscard]] std::optional<std::size_t> system_end(const Rendering &rendering) const {
        ChatInput input = rendering.input;
        std::size_t count = 0;
        while (count < input.messages.size() && is_system(input.messages[count]))
            ++count;
        input.messages.resize(count);
        const std::string system = count > 0 ? input.messages.back().content : std::string();
        input.messages.push_back({.role = "user", .content = {}});
        input.add_generation_prompt = true;
        const auto prefix = prefix_before(rendering, std::move(input), count);
        if (!prefix) return std::nullopt;
        return cut_of(*prefix, trimmed(system));
    }

    /// The number of messages up to and with the last user message; 0 where there is none.
    [[nodiscard]] static std::size_t count_to_last_user(const std::vector<ChatMessage> &messages) {
        std::size_t last = messages.size();
        while (last > 0 && messages[last - 1].role != "user")
            --last;
        return last;
    }

    [[nodiscard]] std::optional<std::size_t> last_user(const Rendering &rendering) const {
        const auto &messages = rendering.input.messages;
        const std::size_t last = count_to_last_user(messages);
        if (last == 0) return std::nullopt;
        if (const auto found = find_last_user(rendering.result, markup, messages[last - 1].content)) return found;
        const auto prefix = prefix_before(rendering, rendering.input, last - 1);
        if (!prefix) return std::nullopt;
        return cut_of(*prefix, {});
    }

    /// The end of the last user message, where it is not the prompt's own end, or the next turn will not go on from
    /// that.
    [[nodiscard]] std::optional<std::size_t> last_user_end(const Rendering &rendering) const {
        const std::size_t last = count_to_last_user(rendering.input.messages);
        const bool ends_there = last == rendering.input.messages.size();
        if (last == 0 || (ends_there && goes_on_from_prompt(rendering.input))) return std::nullopt;
        ChatInput input = rendering.input;
        input.messages.resize(last);
        input.add_generation_prompt = false;
        const auto text = render_with(rendering.guard, input);
        if (!text) return std::nullopt;
        const std::string prefix = rendering.guard.unwrap(*text).text;
        if (!rendering.result.text.starts_with(prefix)) return std::nullopt;
        return stable_cut(prefix, prefix.size());
    }

    /// Whether the prompts of a conversation's next turns begin with the prompt of this one. They do not where a
    /// template opens the answer's reasoning, and leaves the reasoning of earlier turns out.
    [[nodiscard]] bool goes_on_from_prompt(const ChatInput &input) const {
        if (!input.add_generation_prompt) return true;
        return goes_on[input.enable_thinking ? 1 + static_cast<std::size_t>(*input.enable_thinking) : 0];
    }
    [[nodiscard]] bool probe_next_turn(std::optional<bool> enable_thinking) const {
        const ChatMessage first{.role = "user", .content = "first"};
        ChatInput input{.messages = {first}, .enable_thinking = enable_thinking};
        const auto as_it_is = [](std::string_view text) { return std::string(text); };
        const auto prompt = jinja->render(input, as_it_is);
        input.messages = {first, {.role = "assistant", .content = "answer"}, {.role = "user", .content = "next"}};
        const auto next = jinja->render(input, as_it_is);
        return !prompt || !next || next->starts_with(*prompt);
    }

    [[nodiscard]] Status add_checkpoint(ChatPrompt &prompt, CheckpointKind kind, std::optional<std::size_t> offset,
                                        const TokenizedText &tokenized, const GuardedText &guarded) const {
        if (!offset) return {};
        const auto position = position_of(*offset, tokenized, guarded, vocabulary);
        if (!position) return fail(position.error());
        // A prefix of BOS alone is worth no checkpoint.
        const bool bos_only = *position == 1 && vocabulary.piece(tokenized.tokens[0], true) == vocabulary.bos_text();
        if (*position > 0 && !bos_only && *position < static_cast<TokenPos>(tokenized.tokens.size())) {
            prompt.checkpoints.push_back({*position, kind});
        }
        return {};
    }

    const Vocabulary &vocabulary;
    SpellingMatcher matcher;
    std::unique_ptr<JinjaTemplate> jinja;
    UserMarkup markup;
    std::array<bool, 3> goes_on{};  ///< probe_next_turn() of thinking left open, off, on
};

ChatTemplate::ChatTemplate() = default;
ChatTemplate::~ChatTemplate() = default;

Result<std::unique_ptr<ChatTemplate>> ChatTemplate::create(const std::string &source, const Vocabulary &vocabulary) {
    auto jinja = JinjaTemplate::create(source, vocabulary.bos_text(), vocabulary.eos_text());
    if (!jinja) return fail(jinja.error());
    std::unique_ptr<ChatTemplate> result(new ChatTemplate());
    result->impl_ = std::make_unique<Impl>(vocabulary, std::move(*jinja));
    return result;
}

Result<ChatPrompt> ChatTemplate::render(const ChatInput &input) const {
    const auto rendering = impl_->render(input);
    if (!rendering) return fail(rendering.error());
    auto tokenized = tokenize_guarded(rendering->result, impl_->vocabulary);
    if (!tokenized) return fail(tokenized.error());
    ChatPrompt prompt;
    const std::pair<CheckpointKind, std::optional<std::size_t>> cuts[] = {
        {CheckpointKind::system_end, impl_->system_end(*rendering)},
        {CheckpointKind::last_user, impl_->last_user(*rendering)},
        {CheckpointKind::last_user_end, impl_->last_user_end(*rendering)},
    };
    for (const auto &[kind, offset] : cuts) {
        if (auto status = impl_->add_checkpoint(prompt, kind, offset, *tokenized, rendering->result); !status) {
            return fail(status.error());
        }
    }
    prompt.tokens = std::move(tokenized->tokens);
    return prompt;
}

Result<std::string> ChatTemplate::render_text(const ChatInput &input) const {
    auto rendering = impl_->render(input);
    if (!rendering) return fail(rendering.error());
    return std::move(rendering->result.text);
}

}  // namespace cairn
