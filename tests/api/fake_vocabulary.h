// A vocabulary small enough to read: one token per byte, a few longer ones, and control tokens.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "model/vocabulary.h"

namespace cairn::test {

class FakeVocabulary final : public Vocabulary {
public:
    struct Options {
        bool adds_bos = false;
        /// As SentencePiece: a space in front of each text that begins a prompt or follows a control token.
        bool space_prefix = false;
    };

    FakeVocabulary() : FakeVocabulary(Options()) {}
    explicit FakeVocabulary(Options options) : options_(options) {}

    static constexpr Token kFirstWord = 256;
    static constexpr Token kFirstControl = 300;

    TokenPos size() const override { return kFirstControl + static_cast<TokenPos>(controls().size()); }

    Result<Tokens> tokenize(std::string_view text, bool add_bos, SpecialTokens special) const override {
        Tokens tokens;
        if (add_bos && options_.adds_bos) tokens.push_back(control("<s>"));
        std::size_t plain = 0;
        for (std::size_t at = 0; at < text.size();) {
            const Token found =
                special == SpecialTokens::parse ? match(text.substr(at), controls(), kFirstControl) : -1;
            if (found < 0) {
                ++at;
                continue;
            }
            add_plain(text.substr(plain, at - plain), tokens);
            tokens.push_back(found);
            at += controls()[static_cast<std::size_t>(found - kFirstControl)].size();
            plain = at;
        }
        add_plain(text.substr(plain), tokens);
        return tokens;
    }

    std::string piece(Token token, bool special) const override {
        if (token < kFirstWord) return std::string(1, static_cast<char>(token));
        if (token < kFirstControl) return words().at(static_cast<std::size_t>(token - kFirstWord));
        return special ? controls().at(static_cast<std::size_t>(token - kFirstControl)) : std::string();
    }

    bool ends_generation(Token token) const override { return token == control("</s>"); }
    bool is_control(Token token) const override { return token >= kFirstControl; }
    std::string bos_text() const override { return "<s>"; }
    std::string eos_text() const override { return "</s>"; }
    bool adds_bos() const override { return options_.adds_bos; }

    [[nodiscard]] static Token control(const std::string &spelling) {
        const Token found = match(spelling, controls(), kFirstControl);
        return found;
    }

    /// What the tokens spell, control tokens too.
    [[nodiscard]] std::string text(TokenView tokens) const {
        std::string result;
        for (const Token token : tokens)
            result += piece(token, true);
        return result;
    }

private:
    static const std::vector<std::string> &words() {
        static const std::vector<std::string> table{"\n\n", "hello", ".\n", " the"};
        return table;
    }
    static const std::vector<std::string> &controls() {
        static const std::vector<std::string> table{
            "<s>",      "</s>",   "<|im_start|>", "<|im_end|>", "<start_of_turn>", "<end_of_turn>", "<|eot|>",
            "<|head|>", "[INST]", "[/INST]",      "<|im"};
        return table;
    }

    /// The longest entry that `text` begins with, or -1.
    static Token match(std::string_view text, const std::vector<std::string> &table, Token first) {
        Token best = -1;
        std::size_t length = 0;
        for (std::size_t i = 0; i < table.size(); ++i) {
            if (table[i].size() > length && text.substr(0, table[i].size()) == table[i]) {
                best = first + static_cast<Token>(i);
                length = table[i].size();
            }
        }
        return best;
    }

    void add_plain(std::string_view text, Tokens &tokens) const {
        if (text.empty()) return;
        if (options_.space_prefix) tokens.push_back(' ');
        for (std::size_t at = 0; at < text.size();) {
            const Token word = match(text.substr(at), words(), kFirstWord);
            tokens.push_back(word >= 0 ? word : static_cast<unsigned char>(text[at]));
            at += word >= 0 ? words()[static_cast<std::size_t>(word - kFirstWord)].size() : 1;
        }
    }

    Options options_;
};

}  // namespace cairn::test
