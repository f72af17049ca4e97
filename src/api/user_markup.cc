#include "api/user_markup.h"

#include <algorithm>

namespace cairn {

namespace {

constexpr std::string_view kSpace = " \t\r\n";
// Texts that no template contains.
constexpr std::string_view kQuestion = "731982604417";
constexpr std::string_view kAnswer = "552718930246";
constexpr std::string_view kNext = "914473058162";

std::string plain(std::string_view text) {
    return std::string(text);
}

/// The text of a conversation behind `from`, up to `to` (empty: to its end); nothing where the template refuses.
std::optional<std::string> between(const JinjaTemplate &jinja, std::vector<ChatMessage> messages, std::string_view from,
                                   std::string_view to) {
    const auto text = jinja.render({.messages = std::move(messages), .add_generation_prompt = false}, plain);
    if (!text) return std::nullopt;
    const auto begin = text->find(from);
    if (begin == std::string::npos) return std::nullopt;
    const auto behind = begin + from.size();
    const auto end = to.empty() ? text->size() : text->find(to, behind);
    if (end == std::string::npos) return std::nullopt;
    return text->substr(behind, end - behind);
}

bool is_protected(const GuardedText &guarded, std::size_t begin, std::size_t end) {
    return std::any_of(guarded.protected_ranges.begin(), guarded.protected_ranges.end(),
                       [&](const GuardedText::Range &range) { return range.begin < end && begin < range.end; });
}

}  // namespace

std::string_view trimmed(std::string_view text) noexcept {
    const auto begin = text.find_first_not_of(kSpace);
    if (begin == std::string_view::npos) return {};
    return text.substr(begin, text.find_last_not_of(kSpace) - begin + 1);
}

UserMarkup find_user_markup(const JinjaTemplate &jinja) {
    const ChatMessage question{.role = "user", .content = std::string(kQuestion)};
    const ChatMessage answer{.role = "assistant", .content = std::string(kAnswer)};
    const ChatMessage next{.role = "user", .content = std::string(kNext)};
    const auto joint = between(jinja, {question, answer, next}, kAnswer, kNext);
    if (!joint) return {jinja.analysed_user_start(), jinja.analysed_user_start()};

    std::string start = jinja.analysed_user_start();
    auto begin = start.empty() ? std::string::npos : joint->rfind(start);
    if (begin == std::string::npos) {
        // What ends the assistant's message comes in both renderings; what is left begins the user's.
        const auto tail = between(jinja, {question, answer}, kAnswer, {});
        if (!tail || joint->compare(0, tail->size(), *tail) != 0) return {};
        begin = tail->size();
        start.clear();
    }
    const std::string_view lead = std::string_view(*joint).substr(begin);
    const auto end = lead.find_last_not_of(kSpace);
    if (end == std::string_view::npos) return {};
    const std::string text(lead.substr(0, end + 1));
    return {start.empty() ? text : start, text};
}

std::optional<std::size_t> find_last_user(const GuardedText &guarded, const UserMarkup &markup,
                                          std::string_view content) {
    if (markup.lead.empty()) return std::nullopt;
    const std::string_view text = guarded.text;
    const std::string_view wanted = trimmed(content);
    for (std::size_t at = text.rfind(markup.lead); at != std::string_view::npos; at = text.rfind(markup.lead, at - 1)) {
        const auto begin = text.find_first_not_of(kSpace, at + markup.lead.size());
        const std::string_view rest = begin == std::string_view::npos ? std::string_view() : text.substr(begin);
        if (rest.substr(0, wanted.size()) == wanted && !is_protected(guarded, at, at + markup.lead.size())) return at;
        if (at == 0) break;
    }
    return std::nullopt;
}

std::size_t stable_cut(std::string_view text, std::size_t offset) noexcept {
    const std::string_view before = text.substr(0, offset);
    const auto last = before.find_last_not_of(kSpace);
    if (last == std::string_view::npos) return 0;
    const auto gap = before.find_last_of(kSpace, last);
    if (gap == std::string_view::npos) return 0;
    return before[gap] == ' ' ? gap : gap + 1;
}

}  // namespace cairn
