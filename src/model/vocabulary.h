// Vocabulary: text <-> tokens of one model.
//
// Thread rule: const and safe to call from any thread at the same time.
#pragma once

#include <string>
#include <string_view>

#include "cairn/error.h"
#include "cairn/types.h"

namespace cairn {

/// Whether the spelling of a special (control) token in a text becomes that token.
enum class SpecialTokens : bool { as_text = false, parse = true };

class Vocabulary {
public:
    virtual ~Vocabulary() = default;

    [[nodiscard]] virtual TokenPos size() const = 0;
    /// `add_bos`: begin with what the model wants at the start of a prompt (BOS), where it wants any.
    /// Control tokens become tokens only with SpecialTokens::parse. invalid_argument for a text over 2 GiB.
    [[nodiscard]] virtual Result<Tokens> tokenize(std::string_view text, bool add_bos, SpecialTokens special) const = 0;
    /// The bytes of one token; may be part of a UTF-8 character. Control tokens have no bytes unless `special`.
    [[nodiscard]] virtual std::string piece(Token token, bool special) const = 0;
    /// True for tokens that end a generation (end of text, end of turn).
    [[nodiscard]] virtual bool ends_generation(Token token) const = 0;
    /// True for control tokens: text of a chat message must never become one.
    [[nodiscard]] virtual bool is_control(Token token) const = 0;
    [[nodiscard]] bool contains(Token token) const { return token >= 0 && token < size(); }
    /// Texts of the tokens that begin and end a text; empty where the model has none. Chat templates use them.
    [[nodiscard]] virtual std::string bos_text() const = 0;
    [[nodiscard]] virtual std::string eos_text() const = 0;
    /// True where a prompt begins with BOS by the model's own wish.
    [[nodiscard]] virtual bool adds_bos() const = 0;
};

}  // namespace cairn
