// StateBlobs: the state of libllama's sequences, cut into rows and boundary and put together again.
//
// libllama's own blob of a sequence is
//
//     | head: 8 bytes (magic, sequence id) | rows: cells with their K/V | boundary: recurrent state or window cells |
//
// and with LLAMA_STATE_SEQ_FLAGS_PARTIAL_ONLY head + boundary alone. A rows payload is such a blob of a scratch
// sequence that shares just the cells of the span, its boundary replaced by that of an empty sequence (the neutral
// boundary); a boundary payload is a PARTIAL_ONLY blob. Each begins with 8 bytes of ours, the span it belongs to (of a
// boundary: from and to its position), which restore() checks. Restoring sets each rows payload into the scratch
// sequence, shares the wanted positions with the target, and sets the boundary last. That this is exact is not assumed:
// capability_probe.h proves it for the model at hand, and says `whole` or `none` where it is not.
//
// Ownership: borrows the context. The scratch sequence is empty between calls.
// Threads: the context's. Errors: corrupt, where libllama does not take the bytes; unsupported never.
// Cost: bytes move once, except boundary cells inside the span of a sliding-window model, which are read and cut off.
#pragma once

#include <llama.h>

#include <vector>

#include "base/bytes.h"
#include "cairn/error.h"
#include "model/backend.h"
#include "state/layout.h"

namespace cairn {

/// What the payloads of a model consist of.
struct BlobShape {
    CaptureMode mode = CaptureMode::whole;
    bool has_rows = false;
    bool has_boundary = true;
};

class StateBlobs {
public:
    /// `scratch`: a sequence id nobody else uses. `sequences`: ids are 0 .. sequences - 1.
    StateBlobs(llama_context *context, BlobShape shape, llama_seq_id scratch, llama_seq_id sequences);

    /// Upper bounds of what the capture calls write.
    [[nodiscard]] std::size_t rows_size(llama_seq_id seq, TokenSpan span) const;
    [[nodiscard]] std::size_t boundary_size(llama_seq_id seq) const;
    /// Bytes written; 0 where libllama refused.
    [[nodiscard]] std::size_t capture_rows(llama_seq_id seq, TokenSpan span, MutableBytes out) const;
    /// `length`: tokens whose state the sequence holds.
    [[nodiscard]] std::size_t capture_boundary(llama_seq_id seq, TokenPos length, MutableBytes out) const;
    /// See Backend::restore. On an error the target is empty.
    [[nodiscard]] Status restore(llama_seq_id seq, std::span<const RowsPayload> rows, Bytes boundary, TokenPos length,
                                 const PayloadReady &ready) const;

    /// The whole or the partial blob of a sequence, for the probe.
    [[nodiscard]] std::vector<std::byte> blob(llama_seq_id seq, llama_state_seq_flags flags) const;
    /// Sets one payload, which must be of `span`, into a sequence.
    [[nodiscard]] bool set(llama_seq_id seq, TokenSpan span, Bytes payload, llama_state_seq_flags flags) const;
    void clear(llama_seq_id seq) const;
    void share(llama_seq_id from, llama_seq_id to) const;

private:
    struct RowsSizes {
        std::size_t written;  ///< what libllama writes
        std::size_t kept;     ///< head + rows + neutral boundary
        std::size_t rows_end;
    };
    [[nodiscard]] llama_seq_id empty_sequence() const;
    [[nodiscard]] RowsSizes fill_scratch(llama_seq_id seq, TokenSpan span) const;

    llama_context *context_;
    llama_memory_t memory_;
    BlobShape shape_;
    llama_seq_id scratch_;
    llama_seq_id sequences_;
    std::vector<std::byte> neutral_;  ///< boundary of an empty sequence, without its head
};

}  // namespace cairn
