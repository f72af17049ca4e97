// Backend: runs tokens and owns the live state of sequences. The engine and the cache know a model only through this.
//
//     backend.run(batch);                                   // compute
//     backend.capture(seq, {128, 640}, rows, boundary);     // copy state out, by span
//     backend.restore(seq, {rows_a, rows_b}, boundary);     // copy state in, into an empty sequence
//     ParkId p = *backend.park(seq);                        // keep on the device, without a copy
//     backend.adopt(p, other);                              // share it with another sequence, without a copy
//
// Implementations: llama/ (libllama) and sim/ (a rolling hash). tests/contract/ holds what every one must pass.
//
// Ownership: the backend owns device memory; captured bytes belong to the caller. A parked state lives until drop().
// Threads: everything but vocabulary() and the const facts (info, layout, limits) on one thread, the engine's.
// Errors: Status/Result. ErrorCode::device means the computation itself failed and the sequences of that batch are
// void; ErrorCode::capacity means the pool had no room, and nothing has changed. Anything else leaves the target
// sequence empty, and all others as they were; a target that must be empty and is not keeps what it holds.
// Cost: park, adopt and fork move no payload; capture and restore move bytes once.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "cairn/error.h"
#include "cairn/request.h"
#include "cairn/types.h"
#include "model/batch.h"
#include "model/sampler.h"
#include "model/seq_id.h"
#include "model/vocabulary.h"
#include "state/layout.h"

namespace cairn {

/// What a user wants to know of a model.
struct ModelInfo {
    std::string name;         ///< from the file's metadata, else its file name
    std::string description;  ///< architecture, size, quantisation
    std::string architecture;
    std::string chat_template;  ///< Jinja source; empty where the model has none
    std::uint64_t file_bytes = 0;
    std::uint64_t parameters = 0;
    TokenPos trained_context = 0;
};

/// The effective limits, after the backend has made its memory.
struct BackendLimits {
    TokenPos context = 0;     ///< most tokens of one sequence
    TokenPos pool_cells = 0;  ///< tokens of all sequences together, shared cells counted once
    std::int32_t live_sequences = 0;
    std::int32_t parked_sequences = 0;
    std::int32_t batch_tokens = 0;  ///< most tokens of one run()
};

/// The rows of one span, as capture() gave them.
struct RowsPayload {
    TokenSpan span;          ///< what the bytes hold
    TokenPos use_begin = 0;  ///< rows before this position are ignored
    TokenPos use_end = 0;    ///< rows from this position on are ignored
    Bytes bytes;
};

/// Waits until the bytes of the i-th payload of a restore are there; the boundary comes behind the rows. Empty: they
/// are.
using PayloadReady = std::function<Status(std::size_t payload)>;

class Backend {
public:
    virtual ~Backend() = default;

    [[nodiscard]] virtual const ModelInfo &info() const = 0;
    [[nodiscard]] virtual const StateLayout &layout() const = 0;
    [[nodiscard]] virtual const BackendLimits &limits() const = 0;
    [[nodiscard]] virtual const Vocabulary &vocabulary() const = 0;
    /// What one more parked cell costs everyone else: relative slowdown of a decode step per parked cell, measured at
    /// load; 0 where it could not be told from noise.
    [[nodiscard]] virtual double parked_cell_tax() const = 0;

    // -- computing -------------------------------------------------------------------------------------------------
    /// Runs up to limits().batch_tokens tokens. Each sequence must stand at the position of its first token.
    [[nodiscard]] virtual Status run(const Batch &batch) = 0;
    /// Next-token logits of the i-th output of the last run(), vocabulary-size entries, valid until the next call of
    /// run().
    [[nodiscard]] virtual std::span<const float> logits(std::size_t output) = 0;
    [[nodiscard]] virtual std::unique_ptr<Sampler> make_sampler(const SamplingParams &params) const = 0;

    // -- live sequences --------------------------------------------------------------------------------------------
    /// Number of tokens whose state `seq` holds.
    [[nodiscard]] virtual TokenPos length(SeqId seq) const = 0;
    virtual void clear(SeqId seq) = 0;
    /// Makes the empty sequence `to` share the state of `from`, copying nothing. unsupported unless layout().can_park.
    [[nodiscard]] virtual Status fork(SeqId from, SeqId to) = 0;
    /// Cuts `seq` back to `pos` tokens. unsupported unless layout().can_rewind.
    [[nodiscard]] virtual Status rewind(SeqId seq, TokenPos pos) = 0;

    // -- state in and out ------------------------------------------------------------------------------------------
    /// Upper bounds of the bytes capture() needs: room for these must be there before it starts.
    /// Rows: for an empty span 0. invalid_argument where the span is not inside the sequence.
    [[nodiscard]] virtual Result<std::size_t> rows_size(SeqId seq, TokenSpan span) const = 0;
    [[nodiscard]] virtual Result<std::size_t> boundary_size(SeqId seq) const = 0;
    /// Writes the rows of `span` to `rows` (skipped when empty) and the boundary at length(seq) to `boundary` (skipped
    /// when empty). Returns the bytes used of each. The sequence is unchanged, also on error.
    struct Captured {
        std::size_t rows = 0;
        std::size_t boundary = 0;
    };
    [[nodiscard]] virtual Result<Captured> capture(SeqId seq, TokenSpan span, MutableBytes rows,
                                                   MutableBytes boundary) = 0;
    /// Makes the empty sequence `seq` hold the prefix that `rows` (in order, without gaps, from 0; each used within
    /// [use_begin, use_end)) and `boundary` describe. `length`: the tokens it then holds. corrupt: the bytes are not
    /// what they claim; the sequence is then empty. Bytes are looked at once `ready` has said so, so that one payload
    /// can be copied while the next is read from somewhere; its error is handed up, and the sequence is empty.
    [[nodiscard]] virtual Status restore(SeqId seq, std::span<const RowsPayload> rows, Bytes boundary, TokenPos length,
                                         const PayloadReady &ready) = 0;
    [[nodiscard]] Status restore(SeqId seq, std::span<const RowsPayload> rows, Bytes boundary, TokenPos length) {
        return restore(seq, rows, boundary, length, {});
    }

    // -- residency on the device -----------------------------------------------------------------------------------
    /// Bytes that parking `seq` now would add to parked_bytes().
    [[nodiscard]] virtual std::size_t park_cost(SeqId seq) const = 0;
    /// Keeps the state of `seq` on the device; `seq` itself goes on unchanged. capacity: no parked sequence is free.
    [[nodiscard]] virtual Result<ParkId> park(SeqId seq) = 0;
    /// Makes the empty sequence `seq` share the parked state, cut at `length` (layout().can_rewind unless it is all).
    [[nodiscard]] virtual Status adopt(ParkId parked, SeqId seq, TokenPos length) = 0;
    virtual void drop(ParkId parked) = 0;
    [[nodiscard]] virtual TokenPos length(ParkId parked) const = 0;
    /// Like the calls of the same name above, for a parked state: how a snapshot is demoted without going live.
    [[nodiscard]] virtual Result<std::size_t> rows_size(ParkId parked, TokenSpan span) const = 0;
    [[nodiscard]] virtual Result<std::size_t> boundary_size(ParkId parked) const = 0;
    [[nodiscard]] virtual Result<Captured> capture(ParkId parked, TokenSpan span, MutableBytes rows,
                                                   MutableBytes boundary) = 0;
    /// Device bytes that only exist because of parked sequences: cells that any of them holds, once, plus boundaries.
    [[nodiscard]] virtual std::size_t parked_bytes() const = 0;
    /// Cells in use by any sequence, live or parked, each once; and those that dropping every parked one would free.
    [[nodiscard]] virtual TokenPos cells_used() const = 0;
    [[nodiscard]] virtual TokenPos cells_only_parked() const = 0;
};

}  // namespace cairn
