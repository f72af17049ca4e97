// The ideal: what a server would compute that never computes a prefix twice, and how long its first tokens would take.
//
//     SeenPrefixes seen;                                            // of the whole run
//     auto ideals = ideal_of_stage(seen, requests, stage.together);
//     cold.seconds(ideals[0].waited_requests, ideals[0].waited_tokens);   // until its first token
//
// A request's new tokens are those behind the longest prefix it has in common with any earlier prompt and its answer,
// at least one: the last token of a prompt is computed always. The first token of an ideal answer comes when they have
// been computed as those of a cold prompt of this length are.
//
// Of requests that run together, a part they share is new for the first of them only. Those are thought to be served
// one after the other, always next the one with the fewest new tokens, which makes the sum of waiting times least: each
// waits for its own tokens and those of all before it. Requests of later turns are thought to wait for their like only.
//
// Threads: plain values. Cost: a comparison with every earlier prompt, up to where they differ.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace cairn {

/// A text in tokens, or in characters.
using Units = std::vector<std::uint32_t>;

class SeenPrefixes {
public:
    /// The longest beginning that `text` shares with anything seen.
    [[nodiscard]] std::size_t longest(const Units &text) const;
    void add(Units text) { seen_.push_back(std::move(text)); }

private:
    std::vector<Units> seen_;
};

struct StageRequest {
    Units prompt;    ///< as the model saw it
    Units answered;  ///< the same with the answer
    long prompt_tokens = 0;
    unsigned wave = 0;  ///< which request of its conversation it is within the stage
};

/// How long a prompt takes of which the server knows nothing.
struct ColdSpeed {
    double request_s = 0;  ///< however short it is
    double tokens_per_s = 0;
    /// So many prompts, one after the other, of so many tokens in all.
    [[nodiscard]] double seconds(long requests, long tokens) const {
        return static_cast<double>(requests) * request_s + static_cast<double>(tokens) / tokens_per_s;
    }
};

struct Ideal {
    long new_tokens = 0;
    long waited_requests = 0;  ///< itself, and those that are served before it
    long waited_tokens = 0;    ///< their new tokens
};

/// One for each request; `requests` are in the order of asking, with an empty prompt for one that failed, whose ideal
/// is nothing. They are seen afterwards.
[[nodiscard]] std::vector<Ideal> ideal_of_stage(SeenPrefixes &seen, std::span<const StageRequest> requests,
                                                bool together);

[[nodiscard]] std::size_t common_prefix(const Units &a, const Units &b);

}  // namespace cairn
