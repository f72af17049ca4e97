// SpellingMatcher: finds the spellings of control tokens in a text.
//
//     SpellingMatcher matcher(vocabulary);
//     for (std::size_t at = 0; auto hit = matcher.find(text, at); at = hit->end) ...
//
// Threads: const, safe from any thread. Cost: one table look-up per byte, and one hash look-up per distinct length of a
// spelling at those bytes that begin one; built once per vocabulary.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "model/vocabulary.h"

namespace cairn {

class SpellingMatcher {
public:
    struct Hit {
        std::size_t begin = 0;
        std::size_t end = 0;
    };

    explicit SpellingMatcher(const Vocabulary &vocabulary);

    /// The first spelling at or behind `from`; of several that begin there, the longest.
    [[nodiscard]] std::optional<Hit> find(std::string_view text, std::size_t from) const;
    [[nodiscard]] bool is_spelling(std::string_view text) const;

private:
    struct Hash {
        using is_transparent = void;
        std::size_t operator()(std::string_view text) const noexcept { return std::hash<std::string_view>{}(text); }
    };

    std::unordered_set<std::string, Hash, std::equal_to<>> spellings_;
    std::array<bool, 256> begins_{};
    std::vector<std::size_t> lengths_;  ///< distinct, longest first
};

}  // namespace cairn
