#include "api/tokenized_text.h"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>

namespace cairn {

namespace {

Status append_piece(TokenizedText &result, const GuardedText &guarded, TokenizedText::Piece piece,
                    const Vocabulary &vocabulary) {
    if (piece.text_begin == piece.text_end && !piece.add_bos) return {};
    const std::string_view text =
        std::string_view(guarded.text).substr(piece.text_begin, piece.text_end - piece.text_begin);
    auto tokens = vocabulary.tokenize(text, piece.add_bos, piece.special);
    if (!tokens) return fail(tokens.error());
    piece.token_begin = result.tokens.size();
    result.tokens.insert(result.tokens.end(), tokens->begin(), tokens->end());
    piece.token_end = result.tokens.size();
    result.pieces.push_back(piece);
    return {};
}

/// Bytes of `text` that `token` stands for, or nothing where they do not agree. Some tokenizers put a space in front of
/// a text that it does not have.
std::optional<std::size_t> bytes_of(std::string_view token, std::string_view text) {
    if (text.substr(0, token.size()) == token) return token.size();
    if (!token.empty() && token.front() == ' ' && text.substr(0, token.size() - 1) == token.substr(1)) {
        return token.size() - 1;
    }
    return std::nullopt;
}

/// position_of() by adding up the bytes of tokens; nothing where a tokenizer normalizes and the bytes do not add up.
std::optional<std::size_t> walk(std::size_t offset, const TokenizedText &tokenized, const TokenizedText::Piece &piece,
                                const GuardedText &guarded, const Vocabulary &vocabulary) {
    const std::string_view text = guarded.text;
    std::size_t at = piece.text_begin;
    for (std::size_t i = piece.token_begin; i < piece.token_end; ++i) {
        const std::string token = vocabulary.piece(tokenized.tokens[i], true);
        const auto bytes = bytes_of(token, text.substr(at, piece.text_end - at));
        const bool bos = i == piece.token_begin && piece.add_bos && token == vocabulary.bos_text();
        if (bos && (!bytes || token.empty())) continue;
        if (!bytes) return std::nullopt;
        if (at + *bytes > offset || (at >= offset && *bytes > 0)) return i;
        at += *bytes;
    }
    return piece.token_end;
}

}  // namespace

Result<TokenizedText> tokenize_guarded(const GuardedText &guarded, const Vocabulary &vocabulary) {
    const auto &ranges = guarded.protected_ranges;
    const std::string bos = vocabulary.bos_text();
    const bool spelled =
        !bos.empty() && guarded.text.compare(0, bos.size(), bos) == 0 && (ranges.empty() || ranges.front().begin > 0);
    TokenizedText result;
    std::size_t done = 0;
    bool add_bos = vocabulary.adds_bos() && !spelled;
    for (const GuardedText::Range &range : ranges) {
        if (auto status =
                append_piece(result, guarded, {done, range.begin, 0, 0, SpecialTokens::parse, add_bos}, vocabulary);
            !status) {
            return fail(status.error());
        }
        add_bos = false;
        if (auto status = append_piece(result, guarded, {range.begin, range.end, 0, 0, SpecialTokens::as_text, false},
                                       vocabulary);
            !status) {
            return fail(status.error());
        }
        done = range.end;
    }
    if (auto status =
            append_piece(result, guarded, {done, guarded.text.size(), 0, 0, SpecialTokens::parse, add_bos}, vocabulary);
        !status) {
        return fail(status.error());
    }
    return result;
}

Result<TokenPos> position_of(std::size_t offset, const TokenizedText &tokenized, const GuardedText &guarded,
                             const Vocabulary &vocabulary) {
    const TokenizedText::Piece *piece = nullptr;
    for (const TokenizedText::Piece &candidate : tokenized.pieces) {
        if (candidate.text_begin <= offset) piece = &candidate;
    }
    if (piece == nullptr) return 0;
    if (const auto walked = walk(offset, tokenized, *piece, guarded, vocabulary)) {
        return static_cast<TokenPos>(*walked);
    }
    const std::string_view prefix =
        std::string_view(guarded.text).substr(piece->text_begin, offset - piece->text_begin);
    const auto tokens = vocabulary.tokenize(prefix, piece->add_bos, piece->special);
    if (!tokens) return fail(tokens.error());
    const auto begin = tokenized.tokens.begin() + static_cast<std::ptrdiff_t>(piece->token_begin);
    const auto end = tokenized.tokens.begin() + static_cast<std::ptrdiff_t>(piece->token_end);
    const auto differ = std::mismatch(begin, end, tokens->begin(), tokens->end()).first;
    return static_cast<TokenPos>(differ - tokenized.tokens.begin());
}

}  // namespace cairn
