// TextGuard: keeps what a message spells apart from what the template writes.
//
//     TextGuard guard(matcher);
//     guard.see(text) for every text of the request;
//     if (guard.needed()) render with guard.wrap(text) in place of each text
//     GuardedText result = guard.unwrap(rendered);      // the text without marks, and which bytes are only text
//
// Each spelling of a control token inside a message is put between two marks, digit strings that occur nowhere in the
// request: templates trim, split and quote texts, and digits survive all of that. Texts without such spellings are left
// alone, so they are rendered and tokenized as if there were no guard.
//
// Threads: belongs to one rendering.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "api/spelling_matcher.h"

namespace cairn {

/// A rendered prompt. `protected_ranges`: in order, disjoint; control tokens spelled there stay text.
struct GuardedText {
    struct Range {
        std::size_t begin = 0;
        std::size_t end = 0;
    };
    std::string text;
    std::vector<Range> protected_ranges;
};

class TextGuard {
public:
    explicit TextGuard(const SpellingMatcher &matcher) : matcher_(matcher) {}

    /// Takes note of a text of the request.
    void see(std::string_view text);
    [[nodiscard]] bool needed() const noexcept { return needed_; }
    /// Chooses the marks; after the last see() and before the first wrap().
    void choose_marks();
    [[nodiscard]] std::string wrap(std::string_view text) const;
    /// Removes the marks. A template may have cut between two marks: a mark without its counterpart, or two that do not
    /// enclose exactly one spelling, protect nothing, as what lies behind them may be the template's own.
    [[nodiscard]] GuardedText unwrap(std::string_view rendered) const;
    /// Digits that occur in no text seen, distinct for each `salt`: for dummies that are searched for in a rendering.
    [[nodiscard]] std::string unseen_digits(std::uint64_t salt) const;

private:
    const SpellingMatcher &matcher_;
    bool needed_ = false;
    std::uint64_t seed_ = 0x9e3779b97f4a7c15;
    std::vector<std::string> long_digit_runs_;  ///< the only places that could hold a mark
    std::string open_;
    std::string close_;
};

}  // namespace cairn
