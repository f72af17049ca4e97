#include "sim/sim_vocabulary.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>

namespace cairn {
namespace {

constexpr std::array<std::string_view, 4> kControls{"<bos>", "<|im_start|>", "<|im_end|>", "<|endoftext|>"};

}  // namespace

Result<Tokens> SimVocabulary::tokenize(std::string_view text, bool add_bos, SpecialTokens special) const {
    if (text.size() > std::size_t{std::numeric_limits<std::int32_t>::max()}) {
        return fail(ErrorCode::invalid_argument, "A text of {} bytes is too long: at most 2 GiB can be tokenized.",
                    text.size());
    }
    Tokens tokens;
    tokens.reserve(text.size() + 1);
    if (add_bos && adds_bos_) tokens.push_back(kBos);
    while (!text.empty()) {
        const auto control = std::find_if(kControls.begin(), kControls.end(),
                                          [&](std::string_view name) { return text.starts_with(name); });
        if (special == SpecialTokens::parse && control != kControls.end()) {
            tokens.push_back(kBos + static_cast<Token>(control - kControls.begin()));
            text.remove_prefix(control->size());
        } else {
            tokens.push_back(static_cast<unsigned char>(text.front()));
            text.remove_prefix(1);
        }
    }
    return tokens;
}

std::string SimVocabulary::piece(Token token, bool special) const {
    if (!contains(token)) return {};
    if (token < kBos) return std::string(1, static_cast<char>(token));
    if (token >= kFirstWord) return fmt::format("w{} ", token);
    return special ? std::string(kControls[static_cast<std::size_t>(token - kBos)]) : std::string();
}

}  // namespace cairn
