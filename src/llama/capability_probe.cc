#include "llama/capability_probe.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <vector>

#include "llama/llama_handles.h"
#include "llama/llama_log.h"
#include "llama/state_blobs.h"

namespace cairn {

namespace {

// A prompt in three pieces and a tail: short, as a large model needs seconds for a hundred tokens, and long enough that
// a convolution state and two rows segments behind the first are used.
constexpr std::array<TokenPos, 4> kCuts{0, 5, 9, 12};
constexpr TokenPos kPrefix = kCuts.back();
constexpr TokenPos kTotal = kPrefix + 2;
constexpr llama_seq_id kSequences = 6;
constexpr llama_seq_id kScratch = kSequences - 1;
constexpr double kTolerance = 1e-4;  ///< of the largest logit: the same arithmetic ran, so this is generous

using Logits = std::vector<float>;

class Probe {
public:
    Probe(llama_model *model, ContextHandle context)
        : model_(model), context_(std::move(context)), memory_(llama_get_memory(context_.get())) {
        const auto size = llama_vocab_n_tokens(llama_model_get_vocab(model));
        // A fixed walk through the vocabulary: any tokens do, as long as they differ.
        for (TokenPos i = 0; i < kTotal; ++i)
            tokens_.push_back(static_cast<Token>((i * 7919 + 257) % size));
    }

    Result<StateLayout> run(const std::string &architecture);

private:
    std::optional<Logits> feed(llama_seq_id seq, TokenPos begin, TokenPos end);
    std::optional<Logits> feed_prefix(llama_seq_id seq);
    bool same(const std::optional<Logits> &logits) const;
    void clear_all() const { llama_memory_clear(memory_, true); }
    bool parks();
    bool composes(const BlobShape &shape);
    bool rewinds();
    bool boundary_is_suffix() const;
    BlobShape shape_by_kind() const;
    void measure(StateLayout &layout, const BlobShape &shape);

    llama_model *model_;
    ContextHandle context_;
    llama_memory_t memory_;
    Tokens tokens_;
    Logits expected_;
};

std::optional<Logits> Probe::feed(llama_seq_id seq, TokenPos begin, TokenPos end) {
    llama_batch batch = llama_batch_init(end - begin, 0, 1);
    batch.n_tokens = end - begin;
    for (TokenPos i = begin; i < end; ++i) {
        const TokenPos at = i - begin;
        batch.token[at] = tokens_[static_cast<std::size_t>(i)];
        batch.pos[at] = i;
        batch.n_seq_id[at] = 1;
        batch.seq_id[at][0] = seq;
        batch.logits[at] = i == end - 1;
    }
    const std::int32_t status = llama_decode(context_.get(), batch);
    llama_batch_free(batch);
    const float *logits = status == 0 ? llama_get_logits_ith(context_.get(), -1) : nullptr;
    if (logits == nullptr) return std::nullopt;
    return Logits(logits, logits + llama_vocab_n_tokens(llama_model_get_vocab(model_)));
}

std::optional<Logits> Probe::feed_prefix(llama_seq_id seq) {
    std::optional<Logits> last;
    for (std::size_t i = 0; i + 1 < kCuts.size(); ++i) {
        last = feed(seq, kCuts[i], kCuts[i + 1]);
        if (!last) return last;
    }
    return last;
}

bool Probe::same(const std::optional<Logits> &logits) const {
    if (!logits || logits->size() != expected_.size()) return false;
    double scale = 1e-9;
    double difference = 0;
    for (std::size_t i = 0; i < expected_.size(); ++i) {
        const double a = expected_[i];
        const double b = (*logits)[i];
        if (std::isnan(a) || std::isnan(b)) return false;
        if (a == b) continue;  // also infinities of masked tokens
        scale = std::max(scale, std::fabs(a));
        difference = std::max(difference, std::fabs(a - b));
    }
    return difference <= kTolerance * std::max(scale, 1.0);
}

bool Probe::parks() {
    clear_all();
    if (!feed_prefix(0)) return false;
    llama_memory_seq_cp(memory_, 0, 1, -1, -1);
    // The live sequence goes on and must not disturb the parked one.
    if (!same(feed(0, kPrefix, kTotal))) return false;
    llama_memory_seq_rm(memory_, 0, -1, -1);
    llama_memory_seq_cp(memory_, 1, 2, -1, -1);
    return same(feed(2, kPrefix, kTotal));
}

bool Probe::boundary_is_suffix() const {
    const StateBlobs blobs(context_.get(), {}, kScratch, kSequences);
    const auto all = blobs.blob(0, LLAMA_STATE_SEQ_FLAGS_NONE);
    const auto partial = blobs.blob(0, LLAMA_STATE_SEQ_FLAGS_PARTIAL_ONLY);
    constexpr std::ptrdiff_t kHead = 8;
    return partial.size() > kHead && all.size() >= partial.size() &&
           std::equal(partial.begin() + kHead, partial.end(), all.end() - (std::ssize(partial) - kHead));
}

BlobShape Probe::shape_by_kind() const {
    // PARTIAL_ONLY of a plain attention model is the full state: its boundary is empty by definition.
    const bool recurrent = llama_model_is_recurrent(model_);
    const bool plain = !recurrent && !llama_model_is_hybrid(model_) && llama_model_n_swa(model_) == 0;
    return {CaptureMode::segmented, !recurrent, !plain};
}

bool Probe::composes(const BlobShape &shape) {
    clear_all();
    if (!feed_prefix(0)) return false;
    if (shape.mode == CaptureMode::segmented && shape.has_boundary && shape.has_rows && !boundary_is_suffix()) {
        return false;
    }
    const StateBlobs blobs(context_.get(), shape, kScratch, kSequences);
    std::vector<std::vector<std::byte>> payloads;
    std::vector<RowsPayload> rows;
    for (std::size_t i = 0; i + 1 < kCuts.size() && shape.has_rows; ++i) {
        const TokenSpan span{kCuts[i], kCuts[i + 1]};
        std::vector<std::byte> bytes(blobs.rows_size(0, span));
        bytes.resize(blobs.capture_rows(0, span, bytes));
        if (bytes.empty()) return false;
        payloads.push_back(std::move(bytes));
        rows.push_back({span, span.begin, span.end, payloads.back()});
    }
    std::vector<std::byte> boundary(blobs.boundary_size(0));
    if (shape.has_boundary) boundary.resize(blobs.capture_boundary(0, kPrefix, boundary));
    // Into two other sequences, with the first one gone: both must go on as it would have.
    llama_memory_seq_rm(memory_, 0, -1, -1);
    for (const llama_seq_id seq : {2, 3}) {
        if (!blobs.restore(seq, rows, boundary, kPrefix, {})) return false;
    }
    return same(feed(3, kPrefix, kTotal)) && same(feed(2, kPrefix, kTotal));
}

bool Probe::rewinds() {
    clear_all();
    if (!feed_prefix(0) || !feed(0, kPrefix, kTotal)) return false;
    return llama_memory_seq_rm(memory_, 0, kPrefix, -1) && same(feed(0, kPrefix, kTotal));
}

void Probe::measure(StateLayout &layout, const BlobShape &shape) {
    clear_all();
    const StateBlobs blobs(context_.get(), shape, kScratch, kSequences);
    if (!feed(0, kCuts[0], kCuts[1])) return;
    const std::size_t early = blobs.boundary_size(0);
    if (!feed(0, kCuts[1], kCuts[2])) return;
    const std::size_t late = blobs.boundary_size(0);
    const auto tokens = static_cast<std::size_t>(kCuts[2] - kCuts[1]);
    if (shape.has_rows) {
        layout.row_bytes = (blobs.rows_size(0, {0, kCuts[2]}) - blobs.rows_size(0, {0, kCuts[1]})) / tokens;
    }
    layout.boundary_bytes = late;
    // Window cells grow until the window is full; recurrent state does not grow. A whole snapshot grows with the
    // prompt.
    if (layout.has_sliding_window && late > early) {
        layout.boundary_bytes = early + (late - early) / tokens * static_cast<std::size_t>(llama_model_n_swa(model_));
    }
    if (shape.mode == CaptureMode::whole) layout.row_bytes = (late - early) / tokens;
}

Result<StateLayout> Probe::run(const std::string &architecture) {
    StateLayout layout;
    layout.has_sliding_window = llama_model_n_swa(model_) > 0;
    clear_all();
    if (!feed_prefix(0)) return fail(ErrorCode::device, "the model loads but cannot compute a first prompt");
    auto expected = feed(0, kPrefix, kTotal);
    if (!expected) return fail(ErrorCode::device, "the model loads but cannot continue a prompt");
    expected_ = std::move(*expected);

    layout.can_park = parks();
    // deepseek4's memory stops the process when cells are shared by span, so it cannot be asked.
    const BlobShape by_kind = shape_by_kind();
    BlobShape shape = by_kind;
    if (architecture == "deepseek4" || !composes(shape)) {
        shape = {CaptureMode::whole, false, true};
        layout.why = "rows and boundary of this model do not compose: each checkpoint is stored whole";
        if (!composes(shape)) {
            shape = {CaptureMode::none, false, false};
            layout.why = "the state of this model cannot be carried into another sequence: nothing is cached";
        }
    }
    layout.mode = shape.mode;
    layout.has_rows = shape.has_rows;
    layout.has_boundary = shape.has_boundary;
    // A window that has moved on cannot come back, however short the probe's prompt was.
    layout.can_rewind = shape.mode == CaptureMode::segmented && !by_kind.has_boundary && rewinds();
    if (shape.mode != CaptureMode::none) measure(layout, shape);
    return layout;
}

}  // namespace

Result<StateLayout> probe_capabilities(llama_model *model, const llama_context_params &params,
                                       const std::string &architecture) {
    llama_context_params small = params;
    small.n_ctx = 512;
    small.n_batch = small.n_ubatch = 64;
    small.n_seq_max = kSequences;
    small.n_outputs_max = kSequences;
    const LlamaLogCapture log;
    ContextHandle context(llama_init_from_model(model, small));
    if (!context) return fail(ErrorCode::model_unsupported, "libllama cannot run this model: {}", log.errors());
    if (llama_get_memory(context.get()) == nullptr) {
        return fail(ErrorCode::model_unsupported,
                    "this model keeps no state between tokens, so it cannot generate text");
    }
    return Probe(model, std::move(context)).run(architecture);
}

}  // namespace cairn
