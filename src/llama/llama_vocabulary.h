// LlamaVocabulary: model/vocabulary.h over libllama's tokenizer. Borrows the model.
#pragma once

#include <llama.h>

#include "model/vocabulary.h"

namespace cairn {

class LlamaVocabulary final : public Vocabulary {
public:
    explicit LlamaVocabulary(const llama_model *model);

    TokenPos size() const override;
    Result<Tokens> tokenize(std::string_view text, bool add_bos, SpecialTokens special) const override;
    std::string piece(Token token, bool special) const override;
    bool ends_generation(Token token) const override;
    bool is_control(Token token) const override;
    std::string bos_text() const override;
    std::string eos_text() const override;
    bool adds_bos() const override;

private:
    [[nodiscard]] std::string text_of(Token token) const;

    const llama_vocab *vocab_;
};

}  // namespace cairn
