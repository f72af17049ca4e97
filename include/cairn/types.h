// The nouns every module shares: tokens, positions in a token sequence, spans of positions.
//
// A position counts the tokens before it: position 0 is the empty prefix, position n the state after n tokens.
// Thread rule: plain values, free to copy anywhere.
#pragma once

#include <compare>
#include <cstdint>
#include <span>
#include <vector>

namespace cairn {

/// A vocabulary id as the model's tokenizer numbers it. Negative values never name a token.
using Token = std::int32_t;
using Tokens = std::vector<Token>;
using TokenView = std::span<const Token>;

/// A number of tokens, which is also the position behind them. Unit: tokens.
using TokenPos = std::int32_t;

/// The half-open range of positions [begin, end): the tokens a piece of per-token state belongs to.
struct TokenSpan {
    TokenPos begin = 0;
    TokenPos end = 0;

    [[nodiscard]] constexpr TokenPos length() const noexcept { return end - begin; }
    [[nodiscard]] constexpr bool empty() const noexcept { return end <= begin; }
    friend constexpr bool operator==(const TokenSpan &, const TokenSpan &) = default;
};

/// Where a piece of state lives. Ordered from the fastest to the slowest.
enum class Tier : std::uint8_t { device, ram, disk, remote };

[[nodiscard]] constexpr const char *name_of(Tier tier) noexcept {
    switch (tier) {
        case Tier::device: return "device";
        case Tier::ram: return "ram";
        case Tier::disk: return "disk";
        case Tier::remote: return "remote";
    }
    return "unknown";
}

}  // namespace cairn
