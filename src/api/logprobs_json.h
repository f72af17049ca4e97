// Log probabilities in OpenAI's two shapes. Texts of tokens may be parts of characters: `bytes` are exact, texts are
// for reading.
#pragma once

#include <cstddef>
#include <vector>

#include "api/field_reader.h"
#include "cairn/request.h"

namespace cairn {

/// choices[].logprobs.content of a chat completion.
[[nodiscard]] Json chat_logprobs(const std::vector<TokenLogprobs> &tokens);

/// choices[].logprobs of a completion: four parallel arrays, filled token by token.
class CompletionLogprobs {
public:
    /// `offset`: characters of the choice's text in front of the first token. `with_top`: alternatives were asked for.
    CompletionLogprobs(std::size_t offset, bool with_top) : offset_(offset), with_top_(with_top) { reset(); }

    void add(const std::vector<TokenLogprobs> &tokens);
    /// What was added since the last call.
    [[nodiscard]] Json take();

private:
    void reset();

    Json json_;
    std::size_t offset_;
    bool with_top_;
};

/// Number of characters in a text; a byte that continues one is not counted.
[[nodiscard]] std::size_t characters(std::string_view text) noexcept;

}  // namespace cairn
