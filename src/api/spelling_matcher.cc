#include "api/spelling_matcher.h"

#include <algorithm>
#include <set>

namespace cairn {

SpellingMatcher::SpellingMatcher(const Vocabulary &vocabulary) {
    std::set<std::size_t, std::greater<>> lengths;
    for (Token token = 0; token < vocabulary.size(); ++token) {
        if (!vocabulary.is_control(token)) continue;
        std::string spelling = vocabulary.piece(token, true);
        if (spelling.empty()) continue;
        begins_[static_cast<unsigned char>(spelling.front())] = true;
        lengths.insert(spelling.size());
        spellings_.insert(std::move(spelling));
    }
    lengths_.assign(lengths.begin(), lengths.end());
}

std::optional<SpellingMatcher::Hit> SpellingMatcher::find(std::string_view text, std::size_t from) const {
    for (std::size_t begin = from; begin < text.size(); ++begin) {
        if (!begins_[static_cast<unsigned char>(text[begin])]) continue;
        for (const std::size_t length : lengths_) {
            if (length <= text.size() - begin && is_spelling(text.substr(begin, length))) {
                return Hit{begin, begin + length};
            }
        }
    }
    return std::nullopt;
}

bool SpellingMatcher::is_spelling(std::string_view text) const {
    return spellings_.find(text) != spellings_.end();
}

}  // namespace cairn
