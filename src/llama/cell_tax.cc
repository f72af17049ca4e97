#include "llama/cell_tax.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <optional>
#include <vector>

#include "base/bytes.h"
#include "llama/state_blobs.h"

namespace cairn {

namespace {

constexpr TokenPos kPrompt = 64;
/// As much is parked for the measurement as a budget might allow: what a few cells cost would be lost in noise, and
/// many of them would not.
constexpr TokenPos kLeastParked = 4096;
constexpr std::size_t kParkedBytes = 256_MiB;
/// Steps timed at least and at most; within them until kEnoughSeconds have gone.
constexpr int kLeastRepeats = 3;
constexpr int kMostRepeats = 12;
constexpr double kEnoughSeconds = 0.2;
/// Less than this is within what such minima differ by on a busy machine.
constexpr double kLeastSlowdown = 0.05;

bool decode(llama_context *context, llama_seq_id sequence, TokenPos begin, TokenPos end) {
    llama_batch batch = llama_batch_init(end - begin, 0, 1);
    batch.n_tokens = end - begin;
    for (TokenPos i = 0; i < end - begin; ++i) {
        batch.token[i] = 1;
        batch.pos[i] = begin + i;
        batch.n_seq_id[i] = 1;
        batch.seq_id[i][0] = sequence;
        batch.logits[i] = i == end - begin - 1;
    }
    const bool ok = llama_decode(context, batch) == 0;
    llama_synchronize(context);
    llama_batch_free(batch);
    return ok;
}

/// Seconds of the quickest of some decode steps behind the prompt of sequence 0, in a copy of it that goes again: its
/// cells would be the pool's highest ever after.
std::optional<double> step_seconds(llama_context *context, const StateBlobs &blobs, llama_seq_id scratch) {
    double best = std::numeric_limits<double>::max();
    double total = 0;
    blobs.share(0, scratch);
    for (int i = 0; i < kMostRepeats && (i < kLeastRepeats || total < kEnoughSeconds); ++i) {
        const auto begin = std::chrono::steady_clock::now();
        if (!decode(context, scratch, kPrompt + i, kPrompt + i + 1)) return std::nullopt;
        const double took = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
        best = std::min(best, took);
        total += took;
    }
    blobs.clear(scratch);
    return best;
}

/// Fills the pool with copies of sequence 0's prompt, all in one other sequence. Returns how many cells.
TokenPos pile_up(llama_context *context, const StateBlobs &blobs, TokenPos most, llama_seq_id scratch,
                 llama_seq_id pile) {
    std::vector<std::byte> rows(blobs.rows_size(0, {0, kPrompt}));
    rows.resize(blobs.capture_rows(0, {0, kPrompt}, rows));
    const auto room = static_cast<TokenPos>(llama_n_ctx(context)) - 4 * kPrompt;
    TokenPos cells = 0;
    while (!rows.empty() && cells + kPrompt <= std::min(room, most)) {
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
    if (decode(context, 0, 0, kPrompt)) {
        const StateBlobs blobs(context, {layout.mode, layout.has_rows, layout.has_boundary}, scratch, sequences);
        const auto before = step_seconds(context, blobs, scratch);
        const auto most = static_cast<TokenPos>(kParkedBytes / std::max<std::size_t>(layout.row_bytes, 1));
        const TokenPos parked = pile_up(context, blobs, std::max(most, kLeastParked), scratch, pile);
        const auto crowded = step_seconds(context, blobs, scratch);
        blobs.clear(pile);
        const auto after = step_seconds(context, blobs, scratch);
        if (before && crowded && after && parked > 0) {
            // What slows steps down without them as well is the machine.
            const double slowdown = *crowded / std::max(*before, *after) - 1;
            if (slowdown >= kLeastSlowdown) tax = slowdown / parked;
        }
    }
    llama_memory_clear(llama_get_memory(context), true);
    return tax;
}

}  // namespace cairn
