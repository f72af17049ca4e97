#include "sim/sim_backend.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "base/check.h"
#include "model/cell_ledger.h"
#include "sim/sim_facts.h"
#include "sim/sim_payload.h"
#include "sim/sim_sampler.h"
#include "sim/sim_state.h"
#include "sim/sim_vocabulary.h"

namespace cairn {
namespace {

class SimBackend final : public Backend {
public:
    explicit SimBackend(SimConfig config);

    const ModelInfo &info() const override { return info_; }
    const StateLayout &layout() const override { return layout_; }
    const BackendLimits &limits() const override { return limits_; }
    const Vocabulary &vocabulary() const override { return vocabulary_; }
    double parked_cell_tax() const override { return config_.tax; }

    Status run(const Batch &batch) override;
    std::span<const float> logits(std::size_t output) override;
    std::unique_ptr<Sampler> make_sampler(const SamplingParams &params) const override {
        return std::make_unique<SimSampler>(params);
    }

    TokenPos length(SeqId seq) const override { return at(seq).length(); }
    void clear(SeqId seq) override;
    Status fork(SeqId from, SeqId to) override;
    Status rewind(SeqId seq, TokenPos pos) override;

    Result<std::size_t> rows_size(SeqId seq, TokenSpan span) const override { return rows_size(at(seq), span); }
    Result<std::size_t> boundary_size(SeqId seq) const override { return boundary_size(at(seq)); }
    Result<Captured> capture(SeqId seq, TokenSpan span, MutableBytes rows, MutableBytes boundary) override {
        return capture(at(seq), span, rows, boundary);
    }
    Status restore(SeqId seq, std::span<const RowsPayload> rows, Bytes boundary, TokenPos length,
                   const PayloadReady &ready) override;

    std::size_t park_cost(SeqId seq) const override;
    Result<ParkId> park(SeqId seq) override;
    Status adopt(ParkId parked, SeqId seq, TokenPos length) override;
    void drop(ParkId parked) override;
    TokenPos length(ParkId parked) const override { return at(parked).state.length(); }
    Result<std::size_t> rows_size(ParkId parked, TokenSpan span) const override {
        return rows_size(at(parked).state, span);
    }
    Result<std::size_t> boundary_size(ParkId parked) const override { return boundary_size(at(parked).state); }
    Result<Captured> capture(ParkId parked, TokenSpan span, MutableBytes rows, MutableBytes boundary) override {
        return capture(at(parked).state, span, rows, boundary);
    }
    std::size_t parked_bytes() const override;
    TokenPos cells_used() const override { return ledger_.cells_used(); }
    TokenPos cells_only_parked() const override { return ledger_.cells_only_parked(); }

private:
    struct Parked {
        SimState state;
        std::int32_t slot = 0;
    };

    [[nodiscard]] const SimState &at(SeqId seq) const;
    [[nodiscard]] const Parked &at(ParkId parked) const;
    [[nodiscard]] HolderId holder(SeqId seq) const { return ledger_.live(seq.value()); }
    [[nodiscard]] Status can_be_target(SeqId seq) const;
    void put(SeqId seq, SimState state);

    [[nodiscard]] Status check_batch(const Batch &batch) const;
    [[nodiscard]] Status check_room(TokenPos cells) const;
    [[nodiscard]] Result<std::size_t> rows_size(const SimState &state, TokenSpan span) const;
    [[nodiscard]] Result<std::size_t> boundary_size(const SimState &state) const;
    [[nodiscard]] Result<Captured> capture(const SimState &state, TokenSpan span, MutableBytes rows,
                                           MutableBytes boundary);
    [[nodiscard]] Result<SimState> rebuild(std::span<const RowsPayload> rows, Bytes boundary, TokenPos length) const;

    SimConfig config_;
    SimModel model_;
    ModelInfo info_;
    StateLayout layout_;
    BackendLimits limits_;
    SimVocabulary vocabulary_;
    SimPayloads payloads_;
    std::shared_ptr<SimControl> control_;
    CellLedger ledger_;
    std::vector<SimState> live_;
    std::map<ParkId, Parked> parked_;
    std::set<std::int32_t> free_slots_;
    std::int32_t next_park_ = 0;  // ids are never used twice: a stale one is noticed
    std::vector<std::vector<float>> outputs_;
};

SimBackend::SimBackend(SimConfig config)
    : config_(std::move(config)),
      model_(config_),
      info_(sim_info(config_)),
      layout_(sim_layout(config_)),
      vocabulary_(config_.vocabulary, config_.adds_bos),
      payloads_(config_, layout_.fingerprint),
      control_(config_.control ? config_.control : std::make_shared<SimControl>()),
      ledger_(config_.live_sequences, config_.parked_sequences),
      live_(static_cast<std::size_t>(config_.live_sequences), SimState(model_)) {
    limits_ = {config_.context, config_.pool_cells, config_.live_sequences, config_.parked_sequences,
               config_.batch_tokens};
    for (std::int32_t slot = 0; slot < config_.parked_sequences; ++slot)
        free_slots_.insert(slot);
}

const SimState &SimBackend::at(SeqId seq) const {
    CAIRN_CHECK(seq.value() >= 0 && std::cmp_less(seq.value(), live_.size()), "sequence {} of {}", seq.value(),
                live_.size());
    return live_[static_cast<std::size_t>(seq.value())];
}

const SimBackend::Parked &SimBackend::at(ParkId parked) const {
    const auto found = parked_.find(parked);
    CAIRN_CHECK(found != parked_.end(), "parked state {} is not there", parked.value());
    return found->second;
}

void SimBackend::put(SeqId seq, SimState state) {
    CAIRN_CHECK(seq.value() >= 0 && std::cmp_less(seq.value(), live_.size()), "sequence {} of {}", seq.value(),
                live_.size());
    live_[static_cast<std::size_t>(seq.value())] = std::move(state);
}

void SimBackend::clear(SeqId seq) {
    ledger_.clear(holder(seq));
    put(seq, SimState(model_));
}

Status SimBackend::can_be_target(SeqId seq) const {
    if (at(seq).length() == 0) return {};
    return fail(ErrorCode::invalid_argument, "Sequence {} holds {} tokens: clear it before a state is put into it.",
                seq.value(), at(seq).length());
}

// -- computing ------------------------------------------------------------------------------------------------------

Status SimBackend::check_batch(const Batch &batch) const {
    if (batch.empty() || std::cmp_greater(batch.size(), limits_.batch_tokens)) {
        return fail(ErrorCode::invalid_argument, "A batch of {} tokens cannot be run: it takes 1 to {}.", batch.size(),
                    limits_.batch_tokens);
    }
    std::map<SeqId, TokenPos> next;
    for (const BatchToken &token : batch) {
        TokenPos &pos = next.try_emplace(token.seq, at(token.seq).length()).first->second;
        if (token.pos != pos) {
            return fail(ErrorCode::invalid_argument, "A token at position {} cannot follow {} tokens of sequence {}.",
                        token.pos, pos, token.seq.value());
        }
        if (!vocabulary_.contains(token.token)) {
            return fail(ErrorCode::invalid_argument, "Token {} is outside the vocabulary of {}.", token.token,
                        vocabulary_.size());
        }
        if (++pos > limits_.context) {
            return fail(ErrorCode::context_length, "Sequence {} would be longer than the context of {} tokens.",
                        token.seq.value(), limits_.context);
        }
    }
    return {};
}

Status SimBackend::check_room(TokenPos cells) const {
    const TokenPos room = limits_.pool_cells - ledger_.cells_used();
    if (!model_.has_rows() || cells <= room) return {};
    return fail(ErrorCode::capacity, "{} cells are needed and {} of {} are free: drop parked states or end sequences.",
                cells, room, limits_.pool_cells);
}

Status SimBackend::run(const Batch &batch) {
    control_->call_before_run(batch);
    if (auto valid = check_batch(batch); !valid) return valid;
    if (auto room = check_room(static_cast<TokenPos>(batch.size())); !room) return room;
    if (auto error = control_->enter(SimCall::run)) {
        if (error->code == ErrorCode::device) {
            for (const BatchToken &token : batch)
                clear(token.seq);
        }
        return fail(*std::move(error));
    }
    outputs_.clear();
    for (const BatchToken &token : batch) {
        SimState &state = live_[static_cast<std::size_t>(token.seq.value())];
        state.advance(token.token);
        if (model_.has_rows()) ledger_.append(holder(token.seq), 1);
        if (token.output) outputs_.push_back(sim_logits(config_, state));
    }
    control_->count([&](SimCounters &c) {
        ++c.runs;
        c.tokens += batch.size();
        c.outputs += outputs_.size();
    });
    return {};
}

std::span<const float> SimBackend::logits(std::size_t output) {
    CAIRN_CHECK(output < outputs_.size(), "output {} of {}", output, outputs_.size());
    return outputs_[output];
}

// -- live sequences -------------------------------------------------------------------------------------------------

Status SimBackend::fork(SeqId from, SeqId to) {
    if (!layout_.can_park) return fail(ErrorCode::unsupported, "This model's sequences cannot share state.");
    if (auto empty = can_be_target(to); !empty) return empty;
    if (auto error = control_->enter(SimCall::fork)) return fail(*std::move(error));
    put(to, at(from));
    ledger_.share(holder(from), holder(to));
    control_->count([](SimCounters &c) { ++c.forks; });
    return {};
}

Status SimBackend::rewind(SeqId seq, TokenPos pos) {
    if (!layout_.can_rewind) return fail(ErrorCode::unsupported, "This model's state cannot be cut back.");
    if (pos < 0 || pos > at(seq).length()) {
        return fail(ErrorCode::invalid_argument, "Sequence {} holds {} tokens and cannot be cut to {}.", seq.value(),
                    at(seq).length(), pos);
    }
    live_[static_cast<std::size_t>(seq.value())].cut(pos);
    ledger_.cut(holder(seq), pos);
    return {};
}

// -- state in and out -----------------------------------------------------------------------------------------------

Result<std::size_t> SimBackend::rows_size(const SimState &state, TokenSpan span) const {
    if (layout_.mode == CaptureMode::none) return fail(ErrorCode::unsupported, "{}", layout_.why);
    if (span.begin < 0 || span.end < span.begin || span.end > state.length()) {
        return fail(ErrorCode::invalid_argument, "The span [{}, {}) is not inside a state of {} tokens.", span.begin,
                    span.end, state.length());
    }
    return payloads_.rows_size(span);
}

Result<std::size_t> SimBackend::boundary_size(const SimState &state) const {
    if (layout_.mode == CaptureMode::none) return fail(ErrorCode::unsupported, "{}", layout_.why);
    return payloads_.boundary_size(state.length());
}

Result<Backend::Captured> SimBackend::capture(const SimState &state, TokenSpan span, MutableBytes rows,
                                              MutableBytes boundary) {
    const auto row_bytes = rows_size(state, span);
    if (!row_bytes) return fail(row_bytes.error());
    const std::size_t boundary_bytes = payloads_.boundary_size(state.length());
    Captured captured;
    if (!rows.empty()) captured.rows = *row_bytes;
    if (!boundary.empty()) captured.boundary = boundary_bytes;
    if (rows.size() < captured.rows || boundary.size() < captured.boundary) {
        return fail(ErrorCode::invalid_argument, "{} + {} bytes of room are too few for a state of {} + {} bytes.",
                    rows.size(), boundary.size(), captured.rows, captured.boundary);
    }
    if (auto error = control_->enter(SimCall::capture)) return fail(*std::move(error));
    rows = rows.first(captured.rows);
    boundary = boundary.first(captured.boundary);
    if (!rows.empty()) payloads_.write_rows(state, span, rows);
    if (!boundary.empty()) payloads_.write_boundary(state, boundary);
    control_->call_after_capture(rows, boundary);
    control_->count([&](SimCounters &c) {
        ++c.captures;
        c.captured_bytes += captured.rows + captured.boundary;
    });
    return captured;
}

Result<SimState> SimBackend::rebuild(std::span<const RowsPayload> rows, Bytes boundary, TokenPos length) const {
    SimState state(model_);
    TokenPos covered = 0;
    for (const RowsPayload &payload : rows) {
        const TokenSpan use{std::max(payload.span.begin, payload.use_begin),
                            std::min(payload.span.end, payload.use_end)};
        if (!layout_.has_rows || use.empty()) continue;
        if (use.begin != covered) {
            return fail(ErrorCode::corrupt, "Rows from {} on cannot follow rows up to {}.", use.begin, covered);
        }
        if (auto read = payloads_.read_rows(payload.bytes, payload.span, use, state); !read) return fail(read.error());
        covered = use.end;
    }
    if (layout_.has_rows && covered != length) {
        return fail(ErrorCode::corrupt, "Rows of {} tokens do not make a state of {}.", covered, length);
    }
    if (!layout_.has_boundary) {
        state.set_boundary({}, length);
        return state;
    }
    if (auto read = payloads_.read_boundary(boundary, length, state); !read) return fail(read.error());
    return state;
}

Status SimBackend::restore(SeqId seq, std::span<const RowsPayload> rows, Bytes boundary, TokenPos length,
                           const PayloadReady &ready) {
    if (layout_.mode == CaptureMode::none) return fail(ErrorCode::unsupported, "{}", layout_.why);
    if (auto empty = can_be_target(seq); !empty) return empty;
    if (length < 1 || length > limits_.context) {
        return fail(ErrorCode::invalid_argument, "A state of {} tokens cannot be restored: it takes 1 to {}.", length,
                    limits_.context);
    }
    if (auto room = check_room(length); !room) return room;
    if (auto error = control_->enter(SimCall::restore)) return fail(*std::move(error));
    for (std::size_t i = 0; ready && i <= rows.size(); ++i) {
        if (i == rows.size() && boundary.empty()) break;
        if (auto there = ready(i); !there) return there;
    }
    auto state = rebuild(rows, boundary, length);
    if (!state) return fail(state.error());
    put(seq, *std::move(state));
    if (model_.has_rows()) ledger_.append(holder(seq), length);
    control_->count([&](SimCounters &c) {
        ++c.restores;
        c.restored_bytes += boundary.size();
        for (const RowsPayload &payload : rows)
            c.restored_bytes += payload.bytes.size();
    });
    return {};
}

// -- residency on the device ----------------------------------------------------------------------------------------

std::size_t SimBackend::park_cost(SeqId seq) const {
    return static_cast<std::size_t>(ledger_.cells_to_park(holder(seq))) * layout_.row_bytes + layout_.boundary_bytes;
}

Result<ParkId> SimBackend::park(SeqId seq) {
    if (!layout_.can_park) return fail(ErrorCode::unsupported, "This model's sequences cannot share state.");
    if (at(seq).length() == 0) {
        return fail(ErrorCode::invalid_argument, "Sequence {} is empty: there is nothing to park.", seq.value());
    }
    if (free_slots_.empty()) {
        return fail(ErrorCode::capacity, "All {} parked sequences are in use: drop one.", limits_.parked_sequences);
    }
    if (auto error = control_->enter(SimCall::park)) return fail(*std::move(error));
    const ParkId parked(next_park_++);
    const std::int32_t slot = free_slots_.extract(free_slots_.begin()).value();
    parked_.emplace(parked, Parked{at(seq), slot});
    ledger_.share(holder(seq), ledger_.parked(slot));
    control_->count([](SimCounters &c) { ++c.parks; });
    return parked;
}

Status SimBackend::adopt(ParkId parked, SeqId seq, TokenPos length) {
    const Parked &source = at(parked);
    if (auto empty = can_be_target(seq); !empty) return empty;
    if (length < 1 || length > source.state.length()) {
        return fail(ErrorCode::invalid_argument, "A parked state of {} tokens cannot be adopted at {}.",
                    source.state.length(), length);
    }
    if (length < source.state.length() && !layout_.can_rewind) {
        return fail(ErrorCode::unsupported, "A parked state of {} tokens cannot be cut to {}.", source.state.length(),
                    length);
    }
    if (auto error = control_->enter(SimCall::adopt)) return fail(*std::move(error));
    put(seq, source.state);
    ledger_.share(ledger_.parked(source.slot), holder(seq));
    if (length < source.state.length()) {
        live_[static_cast<std::size_t>(seq.value())].cut(length);
        ledger_.cut(holder(seq), length);
    }
    control_->count([](SimCounters &c) { ++c.adopts; });
    return {};
}

void SimBackend::drop(ParkId parked) {
    const std::int32_t slot = at(parked).slot;
    ledger_.clear(ledger_.parked(slot));
    free_slots_.insert(slot);
    parked_.erase(parked);
}

std::size_t SimBackend::parked_bytes() const {
    return static_cast<std::size_t>(ledger_.cells_parked()) * layout_.row_bytes +
           parked_.size() * layout_.boundary_bytes;
}

}  // namespace

Result<std::unique_ptr<Backend>> open_sim_backend(SimConfig config) {
    if (auto valid = check_sim_config(config); !valid) return fail(valid.error());
    return std::make_unique<SimBackend>(std::move(config));
}

}  // namespace cairn
