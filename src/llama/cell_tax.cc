#include "llama/cell_tax.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <optional>
#include <vector>

#include "llama/state_blobs.h"

namespace cairn {

namespace {

constexpr TokenPos kPrompt = 64;
constexpr TokenPos kMostParked = 4096;
/// Steps timed at least and at most; within them until kEnoughSeconds have gone.
constexpr int kLeastRepeats = 3;
constexpr int kMostRepeats = 12;
constexpr double kEnoughSeconds = 0.2;
/// Less than this is within what two such minima differ by on a busy machine.
constexpr double kLeastSlowdown = 0.05;

bool decode(llama_context *context, TokenPos begin, TokenPos end) {
    llama_batch batch = llama_batch_init(end - begin, 0, 1);
    batch.n_tokens = end - begin;
    for (TokenPos i = 0; i < end - begin; ++i) {
        batch.token[i] = 1;
        batch.pos[i] = begin + i;
        batch.n_seq_id[i] = 1;
        batch.seq_id[i][0] = 0;
        batch.logits[i] = i == end - begin - 1;
    }
    const bool ok = llama_decode(context, batch) == 0;
    llama_synchronize(context);
    llama_batch_free(batch);
    return ok;
}

/// Seconds of the quickest of some decode steps of sequence 0, which stands at `pos` and moves on.
std::optional<double> step_seconds(llama_context *context, TokenPos &pos) {
    double best = std::numeric_limits<double>::max();
    double total = 0;
    for (int i = 0; i < kMostRepeats && (i < kLeastRepeats || total < kEnoughSeconds); ++i) {
        const auto begin = std::chrono::steady_clock::now();
        if (!decode(context, pos, pos + 1)) return std::nullopt;
        const double took = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
        ++pos;
        best = std::min(best, took);
        total += took;
    }
    return best;
}

/// Fills the pool with copies of sequence 0's prompt, all in one other sequence. Returns how many cells.
TokenPos pile_up(llama_context *context, const StateBlobs &blobs, llama_seq_id scratch, llama_seq_id pile) {
    std::vector<std::byte> rows(blobs.rows_size(0, {0, kPrompt}));
    rows.resize(blobs.capture_rows(0, {0, kPrompt}, rows));
    const auto room = static_cast<TokenPos>(llama_n_ctx(context)) - 4 * kPrompt;
    TokenPos cells = 0;
    while (!rows.empty() && cells + kPrompt <= std::min(room, kMostParked)) {
        if (!blobs.set(scratch, {0, kPrompt}, rows, LLAMA_STATE_SEQ_FLAGS_NONE)) break;
        blobs.share(scratch, pile);
        blobs.clear(scratch);
        cells += kPrompt;
    }
    return cells;
}

}  // namespace

double measure_cell_tax(llama_context *context, const StateLayout &layout, llama_seq_id sequences) {
    if (!layout.has_rows || layout.mode != CaptureMode::segmented || sequences < 3) return 0;
    const llama_seq_id scratch = sequences - 1;
    const llama_seq_id pile = sequences - 2;
    double tax = 0;
    if (decode(context, 0, kPrompt)) {
        TokenPos pos = kPrompt;
        const auto alone = step_seconds(context, pos);
        const StateBlobs blobs(context, {layout.mode, layout.has_rows, layout.has_boundary}, scratch, sequences);
        const TokenPos parked = pile_up(context, blobs, scratch, pile);
        const auto crowded = step_seconds(context, pos);
        if (alone && crowded && parked > 0) {
            const double slowdown = *crowded / *alone - 1;
            if (slowdown >= kLeastSlowdown) tax = slowdown / parked;
        }
    }
    llama_memory_clear(llama_get_memory(context), true);
    return tax;
}

}  // namespace cairn
