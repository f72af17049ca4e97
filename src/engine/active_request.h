// ActiveRequest: one request on its way through the engine, and what it has been told.
//
//     waiting --admit--> running --finish--> (gone)
//        ^                  |
//        +----- preempt ----+      its state is set aside, its tokens stay: readmission resumes where it was
//
// A running request may wait for another one that computes a prefix of its prompt (prefix_sharing.h): it has a
// sequence then, which is empty.
//
// Which part of a sequence belongs to whom:
//
//     tokens    |----------- prompt -----------|--- generated ---|
//     state     |--- computed ---|                                     what the backend holds
//
// Threads: the engine's.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "cache/prefix_cache.h"
#include "cairn/request.h"
#include "engine/engine_thread.h"
#include "engine/text_assembler.h"
#include "model/sampler.h"
#include "model/seq_id.h"
#include "policy/checkpoint_plan.h"

namespace cairn {

struct ActiveRequest {
    ActiveRequest(RequestId request_id, Request given, RequestEvents given_events, double now_s)
        : id(request_id),
          request(std::move(given)),
          events(std::move(given_events)),
          text(request.stop),
          tokens(request.prompt),
          submitted_s(now_s) {}

    [[nodiscard]] TokenPos prompt_size() const { return static_cast<TokenPos>(request.prompt.size()); }
    [[nodiscard]] TokenPos size() const { return static_cast<TokenPos>(tokens.size()); }
    [[nodiscard]] TokenPos generated() const { return size() - prompt_size(); }
    [[nodiscard]] TokenView prefix(TokenPos length) const {
        return TokenView(tokens).first(static_cast<std::size_t>(length));
    }
    /// Where the next slice must end: the next planned checkpoint behind `computed`, or the end.
    [[nodiscard]] TokenPos next_cut() const;
    /// Makes its prefill stop at `pos`, which it has not reached, and keep the state there.
    void cut_at(TokenPos pos);
    /// Tokens whose state it holds, or will hold once what it waits for has come.
    [[nodiscard]] TokenPos reached() const { return waits_for ? waits_for->at : computed; }
    /// The planned checkpoint at exactly `computed`, if there is one.
    [[nodiscard]] std::optional<CheckpointKind> checkpoint_here() const;
    /// Hands text out with the log-probabilities and tokens that belong to it.
    void emit(const TextAssembler::Output &output);

    RequestId id;
    Request request;
    RequestEvents events;
    TextAssembler text;
    Tokens tokens;           ///< prompt and generated
    TokenPos computed = 0;   ///< tokens whose state the sequence holds; 0 while waiting
    TokenPos published = 0;  ///< deepest position that has been published or restored
    SeqId seq;               ///< while running
    /// Another request, earlier in the list of running ones, that computes the first `at` tokens for this one too.
    struct Leader {
        RequestId id;
        TokenPos at = 0;
    };
    std::optional<Leader> waits_for;
    Lookup set_aside;  ///< while waiting after a preemption: its state
    std::vector<PlannedCheckpoint> checkpoints;
    std::unique_ptr<Sampler> sampler;
    std::vector<TokenLogprobs> held_logprobs;  ///< of tokens whose text is not out yet
    Tokens held_tokens;
    ReuseReport reuse;
    bool started = false;  ///< the started event is out: a preempted request does not start again
    bool ended = false;    ///< its last event is out or about to be: it is taken from the list at the end of the step
    double submitted_s = 0;
    std::optional<double> gathers_until_s;  ///< the first one of an idle engine: not let in before
    double admitted_s = 0;
    std::optional<double> first_token_s;
    double last_token_s = 0;
    Timings timings;
};

}  // namespace cairn
