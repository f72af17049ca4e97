// TextAssembler: the bytes of generated tokens -> text that may be sent.
//
// Holds back what must not be sent yet: the beginning of a UTF-8 character whose rest may come with the next token, and
// text that may turn out to be the beginning of a stop string. Tokens are handed out with the text they ended in.
//
//     TextAssembler text({"\n\n"});
//     auto out = text.add(token, piece);       // out.text, out.tokens: what is certain now
//     if (out.stopped) ...                     // a stop string is complete: everything before it has been handed out
//     auto rest = text.finish();               // the end: what was held back
#pragma once

#include <cstddef>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "cairn/types.h"

namespace cairn {

/// The length of the longest part of `text` that does not end inside a UTF-8 character. Bytes that are no UTF-8 count
/// as whole characters: they will not become one.
[[nodiscard]] std::size_t whole_characters(std::string_view text) noexcept;

class TextAssembler {
public:
    struct Output {
        std::string text;
        std::size_t tokens = 0;  ///< oldest tokens not handed out before whose text is out now
        bool stopped = false;
    };

    explicit TextAssembler(std::vector<std::string> stops);

    [[nodiscard]] Output add(std::string_view piece);
    /// The rest; half a character at the end becomes U+FFFD.
    [[nodiscard]] Output finish();

private:
    [[nodiscard]] Output release(std::size_t bytes);
    [[nodiscard]] std::size_t possible_stop() const;

    std::vector<std::string> stops_;
    std::size_t longest_stop_ = 0;
    std::string held_;              ///< not handed out yet
    std::deque<std::size_t> ends_;  ///< ends of the tokens in held_, in bytes from its beginning
};

}  // namespace cairn
