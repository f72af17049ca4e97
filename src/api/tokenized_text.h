// TokenizedText: a rendered prompt as tokens, and which token stands at which byte of the text.
//
// Threads: plain values. Errors: the vocabulary's.
#pragma once

#include <cstddef>
#include <vector>

#include "api/text_guard.h"
#include "cairn/error.h"
#include "cairn/types.h"
#include "model/vocabulary.h"

namespace cairn {

struct TokenizedText {
    /// A part of the text that was tokenized by one call.
    struct Piece {
        std::size_t text_begin = 0;
        std::size_t text_end = 0;
        std::size_t token_begin = 0;
        std::size_t token_end = 0;
        SpecialTokens special = SpecialTokens::parse;
        bool add_bos = false;
    };
    Tokens tokens;
    std::vector<Piece> pieces;
};

/// Protected ranges as text, everything else with the control tokens it spells. BOS is added to the first piece where
/// the model wants it and the template has not written it.
[[nodiscard]] Result<TokenizedText> tokenize_guarded(const GuardedText &guarded, const Vocabulary &vocabulary);

/// The last position whose tokens lie wholly in the first `offset` bytes of the text.
/// Cost: one look at each token of the piece that holds the offset.
[[nodiscard]] Result<TokenPos> position_of(std::size_t offset, const TokenizedText &tokenized,
                                           const GuardedText &guarded, const Vocabulary &vocabulary);

}  // namespace cairn
