#include "store/text_beginning.h"

#include <cstddef>
#include <utility>

namespace cairn {
namespace {

constexpr std::size_t kTextBytes = 160;

}  // namespace

std::string beginning_of_text(std::string text) {
    if (text.size() <= kTextBytes) return text;
    std::size_t end = kTextBytes;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80)
        --end;
    text.resize(end);
    return text;
}

std::string beginning_of_text(const Vocabulary &vocabulary, TokenView tokens) {
    std::string text;
    for (const Token token : tokens) {
        if (text.size() >= kTextBytes) break;
        if (vocabulary.contains(token)) text += vocabulary.piece(token, true);
    }
    return beginning_of_text(std::move(text));
}

}  // namespace cairn
