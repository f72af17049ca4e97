#include "llama/llama_vocabulary.h"

#include <array>
#include <limits>

#include "base/check.h"

namespace cairn {

LlamaVocabulary::LlamaVocabulary(const llama_model *model) : vocab_(llama_model_get_vocab(model)) {}

TokenPos LlamaVocabulary::size() const {
    return llama_vocab_n_tokens(vocab_);
}

Result<Tokens> LlamaVocabulary::tokenize(std::string_view text, bool add_bos, SpecialTokens special) const {
    if (text.size() > static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max())) {
        return fail(ErrorCode::invalid_argument, "a text of {} bytes is too long: send less than 2 GiB", text.size());
    }
    const auto length = static_cast<std::int32_t>(text.size());
    const bool parse = special == SpecialTokens::parse;
    // One token per four bytes is common; a negative answer is the number of tokens really needed.
    Tokens tokens(text.size() / 4 + 16);
    std::int32_t count = llama_tokenize(vocab_, text.data(), length, tokens.data(),
                                        static_cast<std::int32_t>(tokens.size()), add_bos, parse);
    if (count == std::numeric_limits<std::int32_t>::min()) {
        return fail(ErrorCode::invalid_argument, "a text of {} bytes has too many tokens: send less", text.size());
    }
    if (count < 0) {
        tokens.resize(static_cast<std::size_t>(-count));
        count = llama_tokenize(vocab_, text.data(), length, tokens.data(), static_cast<std::int32_t>(tokens.size()),
                               add_bos, parse);
        CAIRN_CHECK(count >= 0, "the tokenizer changed its mind about {} bytes", text.size());
    }
    tokens.resize(static_cast<std::size_t>(count));
    return tokens;
}

std::string LlamaVocabulary::piece(Token token, bool special) const {
    if (!contains(token)) return {};
    std::array<char, 64> small;
    std::int32_t size = llama_token_to_piece(vocab_, token, small.data(), small.size(), 0, special);
    if (size >= 0) return {small.data(), static_cast<std::size_t>(size)};
    std::string large(static_cast<std::size_t>(-size), '\0');
    size = llama_token_to_piece(vocab_, token, large.data(), static_cast<std::int32_t>(large.size()), 0, special);
    CAIRN_CHECK(size == static_cast<std::int32_t>(large.size()), "piece of token {}", token);
    return large;
}

bool LlamaVocabulary::ends_generation(Token token) const {
    return llama_vocab_is_eog(vocab_, token);
}

bool LlamaVocabulary::is_control(Token token) const {
    return llama_vocab_is_control(vocab_, token);
}

std::string LlamaVocabulary::text_of(Token token) const {
    return token == LLAMA_TOKEN_NULL ? std::string{} : piece(token, true);
}

std::string LlamaVocabulary::bos_text() const {
    return text_of(llama_vocab_bos(vocab_));
}

std::string LlamaVocabulary::eos_text() const {
    return text_of(llama_vocab_eos(vocab_));
}

bool LlamaVocabulary::adds_bos() const {
    return llama_vocab_get_add_bos(vocab_);
}

}  // namespace cairn
