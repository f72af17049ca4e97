// A request to an engine, as typed values, and what comes back.
//
// Thread rule: plain values. Text is UTF-8; deltas end on whole characters.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cairn/error.h"
#include "cairn/strong_id.h"
#include "cairn/types.h"

namespace cairn {

using RequestId = StrongId<struct RequestTag>;

/// How the next token is picked. Names, meanings and defaults are llama-server's.
struct SamplingParams {
    float temperature = 0.8f;                ///< 0: the most likely token always (greedy)
    int top_k = 40;                          ///< 0: off
    float top_p = 0.95f;                     ///< 1: off
    float min_p = 0.05f;                     ///< 0: off
    std::optional<std::uint32_t> seed = {};  ///< none: a fresh one per request
    int penalty_last_n = 64;                 ///< tokens the penalties look back on; 0: off, -1: the context size
    float repetition_penalty = 1.0f;         ///< 1: off
    float frequency_penalty = 0.0f;          ///< 0: off
    float presence_penalty = 0.0f;           ///< 0: off
    std::vector<std::pair<Token, float>> logit_bias = {};
};

/// A position at which the client knows that a prefix will come back.
enum class CheckpointKind : std::uint8_t {
    system_end,     ///< end of the system prompt
    last_user,      ///< start of the last user message
    last_user_end,  ///< its end, where answers follow: a template may drop their reasoning at the next user message
    prompt_end,     ///< end of the prompt, less the one token whose logits are needed
    answer_end,     ///< end of what was generated
    interval,       ///< every `checkpoint_interval` tokens
    fork,           ///< where this prompt left a known path
};

[[nodiscard]] const char *name_of(CheckpointKind kind) noexcept;

struct CheckpointHint {
    TokenPos pos = 0;
    CheckpointKind kind = CheckpointKind::system_end;
};

struct Request {
    Tokens prompt = {};  ///< at least one token, each inside the vocabulary
    SamplingParams sampling = {};
    std::optional<TokenPos> max_tokens = {};  ///< none: until the model ends or the context is full
    std::vector<std::string> stop = {};       ///< the answer ends before any of these texts
    bool ignore_eos = false;                  ///< go on after an end token (benchmarks)
    std::optional<int> logprobs = {};         ///< none: off; n >= 0: the chosen token's and the n best alternatives'
    bool cache = true;                        ///< false: neither look up nor publish
    std::vector<CheckpointHint> checkpoints = {};  ///< in any order; positions outside (0, prompt size) are ignored
    std::string engine = {};                       ///< who asks, for reports and metrics; Engine sets it
    std::string tenant = {};  ///< salt of the namespace: requests of different tenants share nothing
};

/// Why less than the whole prefix was reused. The words are the table in src/base/names.cc.
enum class MissReason : std::uint8_t {
    none,            ///< everything that could be reused was
    disabled,        ///< caching is off for the server, the model or this request
    empty,           ///< nothing of this namespace is cached
    diverged,        ///< the prompt differs from everything cached from `first_difference` on
    no_checkpoint,   ///< tokens match further than the deepest checkpoint at or before them
    evicted,         ///< a checkpoint was there and its state has been evicted
    slower_to_load,  ///< the state is on disk, and reading it takes longer than computing it, as measured
    restore_failed,  ///< the state was found and could not be restored: computed cold
};

[[nodiscard]] const char *name_of(MissReason reason) noexcept;

/// What a request reused. Counts are tokens of this request's prompt.
struct ReuseReport {
    TokenPos prompt_tokens = 0;
    TokenPos cached_tokens = 0;     ///< not computed again
    std::optional<Tier> tier = {};  ///< where the state came from, if any
    MissReason reason = MissReason::none;
    std::string engine = {};        ///< Request::engine
    TokenPos first_difference = 0;  ///< tokens that match the best known path: the prompt differs behind them
};

struct TokenLogprob {
    Token token = 0;
    std::string text;   ///< bytes of the token: may be part of a character
    float logprob = 0;  ///< natural logarithm, of the model's own distribution (before sampling params)
};

struct TokenLogprobs {
    TokenLogprob chosen;
    std::vector<TokenLogprob> top;  ///< best first
};

enum class FinishReason : std::uint8_t { stop, length, cancelled };

[[nodiscard]] const char *name_of(FinishReason reason) noexcept;

struct Usage {
    TokenPos prompt_tokens = 0;
    TokenPos completion_tokens = 0;
    TokenPos cached_tokens = 0;
};

/// Times of one request on the engine's clock. Unit: seconds since it was submitted, and token rates' denominators.
struct Timings {
    double queue_s = 0;    ///< until it was admitted
    double restore_s = 0;  ///< looking up and restoring
    double prefill_s = 0;  ///< from admission to the first token
    double decode_s = 0;   ///< from the first token to the last
    TokenPos prefilled_tokens = 0;
};

/// Everything a request is told, in order: started, then any number of deltas, then exactly one of finished or failed.
/// Called on the engine's thread: return soon, never call back into the engine except cancel().
struct RequestEvents {
    std::function<void(const ReuseReport &)> started = {};  ///< before the first token, after the lookup
    std::function<void(std::string_view text, const std::vector<TokenLogprobs> &logprobs, const Tokens &tokens)> delta =
        {};
    std::function<void(FinishReason, const Usage &, const Timings &)> finished = {};
    std::function<void(const Error &)> failed = {};
};

}  // namespace cairn
