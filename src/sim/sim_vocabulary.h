// SimVocabulary: one token per byte, then a few control tokens, then words that only the simulated model says.
//
//     0 .. 255   the byte itself
//     256        <bos>
//     257        <|im_start|>
//     258        <|im_end|>       ends a generation
//     259        <|endoftext|>    ends a generation
//     260 ..     "w260 ", "w261 ", ...: never made by tokenize()
//
// Threads: const, from any.
#pragma once

#include <string>
#include <string_view>

#include "model/vocabulary.h"

namespace cairn {

class SimVocabulary final : public Vocabulary {
public:
    static constexpr Token kBos = 256;
    static constexpr Token kTurnStart = 257;
    static constexpr Token kTurnEnd = 258;
    static constexpr Token kTextEnd = 259;
    static constexpr Token kFirstWord = 260;

    SimVocabulary(TokenPos size, bool adds_bos) : size_(size), adds_bos_(adds_bos) {}

    [[nodiscard]] TokenPos size() const override { return size_; }
    [[nodiscard]] Result<Tokens> tokenize(std::string_view text, bool add_bos, SpecialTokens special) const override;
    [[nodiscard]] std::string piece(Token token, bool special) const override;
    [[nodiscard]] bool ends_generation(Token token) const override { return token == kTurnEnd || token == kTextEnd; }
    [[nodiscard]] bool is_control(Token token) const override { return token >= kBos && token < kFirstWord; }
    [[nodiscard]] std::string bos_text() const override { return "<bos>"; }
    [[nodiscard]] std::string eos_text() const override { return "<|im_end|>"; }
    [[nodiscard]] bool adds_bos() const override { return adds_bos_; }

private:
    TokenPos size_;
    bool adds_bos_;
};

}  // namespace cairn
