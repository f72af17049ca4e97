#include "llama/llama_backend.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <future>
#include <thread>
#include <vector>

#include "base/check.h"
#include "llama/capability_probe.h"
#include "llama/cell_tax.h"
#include "llama/llama_log.h"
#include "llama/llama_sampler.h"
#include "llama/llama_vocabulary.h"
#include "llama/model_loading.h"
#include "llama/pool_size.h"
#include "llama/state_blobs.h"
#include "model/cell_ledger.h"

namespace cairn {

namespace {

/// Tokens that a context must take at once, whatever the user asked for: cell_tax.h prefills that many.
constexpr std::int32_t kLeastBatch = 64;

llama_context_params context_params(const ModelConfig &config) {
    llama_context_params params = llama_context_default_params();
    const auto cores = static_cast<std::int32_t>(std::max(1u, std::thread::hardware_concurrency()));
    params.n_threads = config.threads > 0 ? config.threads : cores;
    params.n_threads_batch = config.threads_batch > 0 ? config.threads_batch : params.n_threads;
    params.n_batch = static_cast<std::uint32_t>(config.batch);
    params.n_ubatch = static_cast<std::uint32_t>(std::min(config.batch, config.ubatch));
    params.type_k = ggml_type_of(config.type_k);
    params.type_v = ggml_type_of(config.type_v);
    // Without flash attention V is stored transposed, and state goes in and out in many tiny copies.
    params.flash_attn_type = LLAMA_FLASH_ATTN_TYPE_ENABLED;
    params.kv_unified = true;  // one pool of cells: any sequences may share them
    params.swa_full = config.swa_full;
    params.no_perf = true;
    return params;
}

class LlamaBackend final : public Backend {
public:
    LlamaBackend(std::unique_ptr<LoadedModel> loaded, ContextHandle context, StateLayout layout, BackendLimits limits,
                 double parked_cell_tax);

    const ModelInfo &info() const override { return loaded_->info; }
    const StateLayout &layout() const override { return layout_; }
    const BackendLimits &limits() const override { return limits_; }
    const Vocabulary &vocabulary() const override { return vocabulary_; }
    double parked_cell_tax() const override { return tax_; }

    Status run(const Batch &batch) override;
    std::span<const float> logits(std::size_t output) override;
    std::unique_ptr<Sampler> make_sampler(const SamplingParams &params) const override {
        return std::make_unique<LlamaSampler>(vocabulary_.size(), limits_.context, params);
    }

    TokenPos length(SeqId seq) const override { return ledger_.length(live(seq)); }
    void clear(SeqId seq) override;
    Status fork(SeqId from, SeqId to) override;
    Status rewind(SeqId seq, TokenPos pos) override;

    Result<std::size_t> rows_size(SeqId seq, TokenSpan span) const override { return rows_size_of(live(seq), span); }
    Result<std::size_t> boundary_size(SeqId seq) const override { return boundary_size_of(live(seq)); }
    Result<Captured> capture(SeqId seq, TokenSpan span, MutableBytes rows, MutableBytes boundary) override {
        return capture_of(live(seq), span, rows, boundary);
    }
    Status restore(SeqId seq, std::span<const RowsPayload> rows, Bytes boundary, TokenPos length,
                   const PayloadReady &ready) override;

    std::size_t park_cost(SeqId seq) const override;
    Result<ParkId> park(SeqId seq) override;
    Status adopt(ParkId parked, SeqId seq, TokenPos length) override;
    void drop(ParkId parked) override;
    TokenPos length(ParkId parked) const override { return ledger_.length(kept(parked)); }
    Result<std::size_t> rows_size(ParkId parked, TokenSpan span) const override {
        return rows_size_of(kept(parked), span);
    }
    Result<std::size_t> boundary_size(ParkId parked) const override { return boundary_size_of(kept(parked)); }
    Result<Captured> capture(ParkId parked, TokenSpan span, MutableBytes rows, MutableBytes boundary) override {
        return capture_of(kept(parked), span, rows, boundary);
    }
    std::size_t parked_bytes() const override;
    TokenPos cells_used() const override { return ledger_.cells_used(); }
    TokenPos cells_only_parked() const override { return ledger_.cells_only_parked(); }

private:
    // A holder of the ledger has the number of its libllama sequence.
    [[nodiscard]] HolderId live(SeqId seq) const { return ledger_.live(seq.value()); }
    [[nodiscard]] HolderId kept(ParkId parked) const { return ledger_.parked(parked.value()); }
    [[nodiscard]] static llama_seq_id id(HolderId holder) { return holder.value(); }

    [[nodiscard]] Status check_batch(const Batch &batch) const;
    void fill(const Batch &batch);
    [[nodiscard]] Status share(HolderId from, HolderId to, TokenPos length);
    [[nodiscard]] Result<std::size_t> rows_size_of(HolderId holder, TokenSpan span) const;
    [[nodiscard]] Result<std::size_t> boundary_size_of(HolderId holder) const;
    [[nodiscard]] Result<Captured> capture_of(HolderId holder, TokenSpan span, MutableBytes rows,
                                              MutableBytes boundary);

    std::unique_ptr<LoadedModel> loaded_;
    LlamaVocabulary vocabulary_;
    ContextHandle context_;
    StateLayout layout_;
    BackendLimits limits_;
    StateBlobs blobs_;
    CellLedger ledger_;
    std::vector<bool> parked_;
    double tax_;
    llama_batch batch_;
    std::vector<std::int32_t> outputs_;  ///< batch index of each output of the last run

public:
    ~LlamaBackend() override { llama_batch_free(batch_); }
};

LlamaBackend::LlamaBackend(std::unique_ptr<LoadedModel> loaded, ContextHandle context, StateLayout layout,
                           BackendLimits limits, double parked_cell_tax)
    : loaded_(std::move(loaded)),
      vocabulary_(loaded_->model.get()),
      context_(std::move(context)),
      layout_(std::move(layout)),
      limits_(limits),
      blobs_(context_.get(), {layout_.mode, layout_.has_rows, layout_.has_boundary},
             limits.live_sequences + limits.parked_sequences, limits.live_sequences + limits.parked_sequences + 1),
      ledger_(limits.live_sequences, limits.parked_sequences),
      parked_(static_cast<std::size_t>(limits.parked_sequences), false),
      tax_(parked_cell_tax),
      batch_(llama_batch_init(limits.batch_tokens, 0, 1)) {}

Status LlamaBackend::check_batch(const Batch &batch) const {
    if (batch.empty() || std::ssize(batch) > limits_.batch_tokens) {
        return fail(ErrorCode::invalid_argument, "a batch has 1 to {} tokens, not {}", limits_.batch_tokens,
                    batch.size());
    }
    std::vector<TokenPos> next(static_cast<std::size_t>(limits_.live_sequences), -1);
    for (const BatchToken &entry : batch) {
        if (!vocabulary_.contains(entry.token)) {
            return fail(ErrorCode::invalid_argument, "token {} is not in the vocabulary of {}", entry.token,
                        vocabulary_.size());
        }
        TokenPos &expected = next[static_cast<std::size_t>(entry.seq.value())];
        if (expected < 0) expected = length(entry.seq);
        if (entry.pos != expected) {
            return fail(ErrorCode::invalid_argument, "sequence {} continues at position {}, not {}", entry.seq.value(),
                        expected, entry.pos);
        }
        ++expected;
    }
    if (ledger_.cells_used() + std::ssize(batch) > limits_.pool_cells) {
        return fail(ErrorCode::capacity, "the pool of {} cells has no room for {} more", limits_.pool_cells,
                    batch.size());
    }
    return {};
}

void LlamaBackend::fill(const Batch &batch) {
    outputs_.clear();
    batch_.n_tokens = static_cast<std::int32_t>(batch.size());
    for (std::int32_t i = 0; i < batch_.n_tokens; ++i) {
        const BatchToken &entry = batch[static_cast<std::size_t>(i)];
        batch_.token[i] = entry.token;
        batch_.pos[i] = entry.pos;
        batch_.n_seq_id[i] = 1;
        batch_.seq_id[i][0] = id(live(entry.seq));
        batch_.logits[i] = entry.output;
        if (entry.output) outputs_.push_back(i);
    }
}

Status LlamaBackend::run(const Batch &batch) {
    if (auto checked = check_batch(batch); !checked) return checked;
    fill(batch);
    const LlamaLogCapture log;
    const std::int32_t status = llama_decode(context_.get(), batch_);
    if (status == 1) {
        outputs_.clear();
        return fail(ErrorCode::capacity, "libllama found no cells for {} tokens", batch.size());
    }
    if (status != 0) {
        outputs_.clear();
        for (const BatchToken &entry : batch)
            clear(entry.seq);
        return fail(ErrorCode::device, "the computation of {} tokens failed (status {}): {}", batch.size(), status,
                    log.errors());
    }
    for (const BatchToken &entry : batch)
        ledger_.append(live(entry.seq), 1);
    return {};
}

std::span<const float> LlamaBackend::logits(std::size_t output) {
    CAIRN_CHECK(output < outputs_.size(), "output {} of {}", output, outputs_.size());
    const float *values = llama_get_logits_ith(context_.get(), outputs_[output]);
    CAIRN_CHECK(values != nullptr, "no logits for output {}", output);
    return {values, static_cast<std::size_t>(vocabulary_.size())};
}

void LlamaBackend::clear(SeqId seq) {
    blobs_.clear(id(live(seq)));
    ledger_.clear(live(seq));
}

Status LlamaBackend::share(HolderId from, HolderId to, TokenPos length) {
    if (ledger_.length(to) != 0) return fail(ErrorCode::invalid_argument, "sequence {} is not empty", id(to));
    if (length < ledger_.length(from) && !layout_.can_rewind) {
        return fail(ErrorCode::unsupported, "the state of this model cannot be cut at {} of {} tokens", length,
                    ledger_.length(from));
    }
    if (!layout_.can_park) return fail(ErrorCode::unsupported, "the state of this model cannot be shared");
    llama_memory_seq_cp(llama_get_memory(context_.get()), id(from), id(to), -1,
                        length < ledger_.length(from) ? length : -1);
    ledger_.share(from, to);
    ledger_.cut(to, length);
    return {};
}

Status LlamaBackend::fork(SeqId from, SeqId to) {
    return share(live(from), live(to), length(from));
}

Status LlamaBackend::rewind(SeqId seq, TokenPos pos) {
    if (!layout_.can_rewind) return fail(ErrorCode::unsupported, "the state of this model cannot be rewound");
    if (pos < 0 || pos > length(seq)) {
        return fail(ErrorCode::invalid_argument, "sequence {} has {} tokens and cannot be cut at {}", seq.value(),
                    length(seq), pos);
    }
    if (!llama_memory_seq_rm(llama_get_memory(context_.get()), id(live(seq)), pos, -1)) {
        clear(seq);
        return fail(ErrorCode::unsupported, "libllama could not cut a sequence at {} tokens", pos);
    }
    ledger_.cut(live(seq), pos);
    return {};
}

Result<std::size_t> LlamaBackend::rows_size_of(HolderId holder, TokenSpan span) const {
    if (span.begin < 0 || span.end > ledger_.length(holder) || span.begin > span.end) {
        return fail(ErrorCode::invalid_argument, "the span {} to {} is not inside a state of {} tokens", span.begin,
                    span.end, ledger_.length(holder));
    }
    return blobs_.rows_size(id(holder), span);
}

Result<std::size_t> LlamaBackend::boundary_size_of(HolderId holder) const {
    if (ledger_.length(holder) == 0) return fail(ErrorCode::invalid_argument, "an empty sequence has no boundary");
    return blobs_.boundary_size(id(holder));
}

Result<Backend::Captured> LlamaBackend::capture_of(HolderId holder, TokenSpan span, MutableBytes rows,
                                                   MutableBytes boundary) {
    if (layout_.mode == CaptureMode::none) return fail(ErrorCode::unsupported, "{}", layout_.why);
    if (auto size = rows_size_of(holder, span); !size) return fail(size.error());
    if (ledger_.length(holder) == 0)
        return fail(ErrorCode::invalid_argument, "an empty sequence has no state to capture");
    llama_synchronize(context_.get());
    const LlamaLogCapture log;
    Captured captured;
    if (layout_.has_rows && !span.empty() && !rows.empty()) {
        captured.rows = blobs_.capture_rows(id(holder), span, rows);
        if (captured.rows == 0) {
            return fail(ErrorCode::invalid_argument, "the rows of {} tokens did not fit {} bytes: {}", span.length(),
                        rows.size(), log.errors());
        }
    }
    if (layout_.has_boundary && !boundary.empty()) {
        captured.boundary = blobs_.capture_boundary(id(holder), ledger_.length(holder), boundary);
        if (captured.boundary == 0) {
            return fail(ErrorCode::invalid_argument, "the boundary did not fit {} bytes: {}", boundary.size(),
                        log.errors());
        }
    }
    return captured;
}

Status LlamaBackend::restore(SeqId seq, std::span<const RowsPayload> rows, Bytes boundary, TokenPos length,
                             const PayloadReady &ready) {
    if (layout_.mode == CaptureMode::none) return fail(ErrorCode::unsupported, "{}", layout_.why);
    if (this->length(seq) != 0) return fail(ErrorCode::invalid_argument, "sequence {} is not empty", seq.value());
    TokenPos covered = 0;
    for (const RowsPayload &payload : rows) {
        if (payload.use_begin != covered || payload.use_end <= covered || payload.use_begin < payload.span.begin ||
            payload.use_end > payload.span.end) {
            return fail(ErrorCode::corrupt, "the rows of a state have a gap at token {}", covered);
        }
        covered = payload.use_end;
    }
    if (length <= 0 || (layout_.has_rows && covered != length) || (layout_.has_boundary && boundary.empty())) {
        return fail(ErrorCode::corrupt, "a state of {} tokens has rows for {} and a boundary of {} bytes", length,
                    covered, boundary.size());
    }
    // While it is set, a payload takes cells of its own in the scratch sequence, also those that are then cut off.
    TokenPos most = length;
    for (const RowsPayload &payload : rows)
        most = std::max(most, payload.use_begin + payload.span.length());
    if (ledger_.cells_used() + most > limits_.pool_cells) {
        return fail(ErrorCode::capacity, "the pool of {} cells has no room for a state of {} tokens",
                    limits_.pool_cells, length);
    }
    if (auto restored = blobs_.restore(id(live(seq)), rows, boundary, length, ready); !restored) return restored;
    ledger_.append(live(seq), length);
    return {};
}

std::size_t LlamaBackend::park_cost(SeqId seq) const {
    return static_cast<std::size_t>(ledger_.cells_to_park(live(seq))) * layout_.row_bytes + layout_.boundary_bytes;
}

Result<ParkId> LlamaBackend::park(SeqId seq) {
    const auto free = std::find(parked_.begin(), parked_.end(), false);
    if (free == parked_.end()) {
        return fail(ErrorCode::capacity, "all {} parked sequences are taken", parked_.size());
    }
    const ParkId parked(static_cast<std::int32_t>(free - parked_.begin()));
    if (auto shared = share(live(seq), kept(parked), length(seq)); !shared) return fail(shared.error());
    *free = true;
    return parked;
}

Status LlamaBackend::adopt(ParkId parked, SeqId seq, TokenPos length) {
    if (length <= 0 || length > this->length(parked)) {
        return fail(ErrorCode::invalid_argument, "a parked state of {} tokens cannot give {}", this->length(parked),
                    length);
    }
    return share(kept(parked), live(seq), length);
}

void LlamaBackend::drop(ParkId parked) {
    CAIRN_CHECK(parked_[static_cast<std::size_t>(parked.value())], "parked sequence {} is free", parked.value());
    blobs_.clear(id(kept(parked)));
    ledger_.clear(kept(parked));
    parked_[static_cast<std::size_t>(parked.value())] = false;
}

std::size_t LlamaBackend::parked_bytes() const {
    return static_cast<std::size_t>(ledger_.cells_parked()) * layout_.row_bytes +
           static_cast<std::size_t>(std::count(parked_.begin(), parked_.end(), true)) * layout_.boundary_bytes;
}

Result<ContextHandle> make_context(LoadedModel &loaded, const llama_context_params &params, const ModelConfig &config) {
    const LlamaLogCapture log;
    ContextHandle context(llama_init_from_model(loaded.model.get(), params));
    if (!context) {
        return fail(ErrorCode::no_memory,
                    "cannot make a context of {} tokens for {} sequences: {}. Try a smaller -c, or -ctk q8_0 -ctv q8_0",
                    params.n_ctx, params.n_seq_max, log.errors());
    }
    if (!loaded.adapters.empty()) {
        std::vector<llama_adapter_lora *> adapters;
        std::vector<float> scales;
        for (std::size_t i = 0; i < loaded.adapters.size(); ++i) {
            adapters.push_back(loaded.adapters[i].get());
            scales.push_back(config.adapters[i].scale);
        }
        if (llama_set_adapters_lora(context.get(), adapters.data(), adapters.size(), scales.data()) != 0) {
            return fail(ErrorCode::model_file, "the adapters cannot be applied to this model: {}", log.errors());
        }
    }
    return context;
}

Status check_config(const ModelConfig &config) {
    if (config.parallel < 1 || config.batch < 1 || config.ubatch < 1 || config.context < 0) {
        return fail(ErrorCode::invalid_argument, "-np, -b and -ub must be at least 1, and -c at least 0");
    }
    return {};
}

Result<std::unique_ptr<Backend>> open_on_this_thread(const ModelConfig &config, const BackendSizes &sizes,
                                                     const LoadProgress &progress) {
    if (auto checked = check_config(config); !checked) return fail(checked.error());
    auto loaded = load_model(config, progress);
    if (!loaded) return fail(loaded.error());
    llama_context_params params = context_params(config);
    auto layout = probe_capabilities((*loaded)->model.get(), params, (*loaded)->info.architecture);
    if (!layout) return fail(layout.error());

    const DeviceMemory memory = device_memory(config.gpu_layers != 0);
    const PoolFacts facts{.trained_context = (*loaded)->info.trained_context,
                          .asked_context = config.context,
                          .live_sequences = config.parallel,
                          .parked_sequences = layout->can_park ? sizes.parked_sequences : 0,
                          .device_bytes = sizes.device_bytes,
                          .row_bytes = layout->row_bytes,
                          .boundary_bytes = layout->boundary_bytes,
                          .free_bytes = memory.free,
                          .most_sequences = static_cast<std::int32_t>(llama_max_parallel_sequences()),
                          .state_bytes = state_budget(sizes.memory, memory),
                          .keep_context = (*loaded)->long_rope};
    const PoolSize pool = size_pool(facts);
    if (pool.cells == 0) {
        return fail(ErrorCode::no_memory,
                    "{} bytes of device memory are allowed for states, and one sequence of this model needs {} at "
                    "least: raise device_memory_budget_bytes or gpu_utilization_factor, or lower "
                    "device_memory_headroom_bytes",
                    *facts.state_bytes, least_state_bytes(facts));
    }
    params.n_ctx = static_cast<std::uint32_t>(pool.cells);
    params.n_seq_max = static_cast<std::uint32_t>(pool.live_sequences + pool.parked_sequences + 1);
    // No step is wider than the pool, and the measurement at load wants some tokens at once.
    params.n_batch = static_cast<std::uint32_t>(std::max(kLeastBatch, std::min(config.batch, pool.cells)));
    params.n_ubatch = std::min(params.n_ubatch, params.n_batch);
    params.n_outputs_max = params.n_seq_max;  // one per sequence: libllama wants no less
    auto context = make_context(**loaded, params, config);
    if (!context) return fail(context.error());

    FingerprintBuilder &fingerprint = (*loaded)->fingerprint;
    fingerprint.add("layout version", kStateLayoutVersion);
    fingerprint.add("type k", static_cast<std::int64_t>(params.type_k));
    fingerprint.add("type v", static_cast<std::int64_t>(params.type_v));
    fingerprint.add("swa full", static_cast<std::int64_t>(params.swa_full));
    fingerprint.add("mode", std::string(name_of(layout->mode)));
    if ((*loaded)->long_rope) fingerprint.add("context", static_cast<std::int64_t>(params.n_ctx));
    layout->fingerprint = fingerprint.finish();

    const double tax = sizes.measure_tax && pool.parked_sequences > 0
                           ? measure_cell_tax(context->get(), *layout, static_cast<llama_seq_id>(params.n_seq_max))
                           : 0;
    const auto cells = static_cast<TokenPos>(llama_n_ctx(context->get()));
    return std::make_unique<LlamaBackend>(std::move(*loaded), std::move(*context), std::move(*layout),
                                          BackendLimits{.context = std::min(pool.context, cells),
                                                        .pool_cells = cells,
                                                        .live_sequences = pool.live_sequences,
                                                        .parked_sequences = pool.parked_sequences,
                                                        .batch_tokens = std::min(config.batch, pool.cells)},
                                          tax);
}

}  // namespace

Result<std::unique_ptr<Backend>> open_llama_backend(const ModelConfig &config, const BackendSizes &sizes,
                                                    const LoadProgress &progress) {
    // OpenMP gives every thread that computes a team of its own, which stays as long as that thread; with more threads
    // in teams than cores it has all of them sleep at every barrier instead of spinning. Opening computes (it probes
    // and measures), and so it is on a thread that ends: the one that computes later then has the only team.
    return std::async(std::launch::async, open_on_this_thread, std::cref(config), std::cref(sizes), std::cref(progress))
        .get();
}

}  // namespace cairn
