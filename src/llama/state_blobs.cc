#include "llama/state_blobs.h"

#include <algorithm>
#include <cstring>

#include "base/check.h"
#include "llama/llama_log.h"

namespace cairn {

namespace {

constexpr std::size_t kTag = 8;   ///< ours: begin and end of the span, before libllama's blob
constexpr std::size_t kHead = 8;  ///< libllama's: magic, sequence id
constexpr llama_state_seq_flags kAll = LLAMA_STATE_SEQ_FLAGS_NONE;
constexpr llama_state_seq_flags kPartial = LLAMA_STATE_SEQ_FLAGS_PARTIAL_ONLY;

std::uint8_t *target(MutableBytes bytes) {
    return reinterpret_cast<std::uint8_t *>(bytes.data());
}
void write_tag(MutableBytes payload, TokenSpan span) {
    static_assert(sizeof span == kTag);
    std::memcpy(payload.data(), &span, kTag);
}
bool has_tag(Bytes payload, TokenSpan span) {
    return payload.size() > kTag + kHead && std::memcmp(payload.data(), &span, kTag) == 0;
}
const std::uint8_t *raw(Bytes bytes) {
    return reinterpret_cast<const std::uint8_t *>(bytes.data());
}

}  // namespace

StateBlobs::StateBlobs(llama_context *context, BlobShape shape, llama_seq_id scratch, llama_seq_id sequences)
    : context_(context), memory_(llama_get_memory(context)), shape_(shape), scratch_(scratch), sequences_(sequences) {
    const auto partial = blob(scratch_, kPartial);
    if (partial.size() > kHead) neutral_.assign(partial.begin() + kHead, partial.end());
}

std::vector<std::byte> StateBlobs::blob(llama_seq_id seq, llama_state_seq_flags flags) const {
    std::vector<std::byte> bytes(llama_state_seq_get_size_ext(context_, seq, flags));
    bytes.resize(llama_state_seq_get_data_ext(context_, target(bytes), bytes.size(), seq, flags));
    return bytes;
}

void StateBlobs::clear(llama_seq_id seq) const {
    llama_memory_seq_rm(memory_, seq, -1, -1);
}

void StateBlobs::share(llama_seq_id from, llama_seq_id to) const {
    llama_memory_seq_cp(memory_, from, to, -1, -1);
}

llama_seq_id StateBlobs::empty_sequence() const {
    for (llama_seq_id seq = sequences_ - 1; seq >= 0; --seq) {
        if (seq != scratch_ && llama_memory_seq_pos_max(memory_, seq) < 0) return seq;
    }
    return -1;
}

StateBlobs::RowsSizes StateBlobs::fill_scratch(llama_seq_id seq, TokenSpan span) const {
    llama_memory_seq_cp(memory_, seq, scratch_, span.begin, span.end);
    if (!shape_.has_boundary) {
        const std::size_t size = llama_state_seq_get_size_ext(context_, scratch_, kAll);
        return {size, size, size};
    }
    // Sharing a sequence's cells shares its recurrent state too. Sharing those of an empty sequence takes that away
    // again and leaves the K/V cells alone, so that the recurrent state is not copied out for nothing.
    if (const llama_seq_id empty = empty_sequence(); empty >= 0) {
        llama_memory_seq_cp(memory_, empty, scratch_, -1, -1);
    }
    const std::size_t all = llama_state_seq_get_size_ext(context_, scratch_, kAll);
    const std::size_t partial = llama_state_seq_get_size_ext(context_, scratch_, kPartial);
    CAIRN_CHECK(partial >= kHead && all >= partial, "blob of {} bytes, its boundary {}", all, partial);
    const std::size_t rows_end = all - (partial - kHead);
    return {all, rows_end + neutral_.size(), rows_end};
}

std::size_t StateBlobs::rows_size(llama_seq_id seq, TokenSpan span) const {
    if (shape_.mode == CaptureMode::whole || !shape_.has_rows || span.empty()) return 0;
    const RowsSizes sizes = fill_scratch(seq, span);
    clear(scratch_);
    return kTag + std::max(sizes.written, sizes.kept);
}

std::size_t StateBlobs::boundary_size(llama_seq_id seq) const {
    if (!shape_.has_boundary) return 0;
    return kTag + llama_state_seq_get_size_ext(context_, seq, shape_.mode == CaptureMode::whole ? kAll : kPartial);
}

std::size_t StateBlobs::capture_rows(llama_seq_id seq, TokenSpan span, MutableBytes out) const {
    const RowsSizes sizes = fill_scratch(seq, span);
    std::size_t used = 0;
    if (out.size() >= kTag + std::max(sizes.written, sizes.kept)) {
        const MutableBytes blob = out.subspan(kTag);
        used = llama_state_seq_get_data_ext(context_, target(blob), blob.size(), scratch_, kAll);
    }
    clear(scratch_);
    if (used != sizes.written) return 0;
    write_tag(out, span);
    if (shape_.has_boundary) std::memcpy(out.data() + kTag + sizes.rows_end, neutral_.data(), neutral_.size());
    return kTag + sizes.kept;
}

std::size_t StateBlobs::capture_boundary(llama_seq_id seq, TokenPos length, MutableBytes out) const {
    if (out.size() <= kTag) return 0;
    const MutableBytes blob = out.subspan(kTag);
    const std::size_t used = llama_state_seq_get_data_ext(context_, target(blob), blob.size(), seq,
                                                          shape_.mode == CaptureMode::whole ? kAll : kPartial);
    if (used == 0) return 0;
    write_tag(out, {length, length});
    return kTag + used;
}

bool StateBlobs::set(llama_seq_id seq, TokenSpan span, Bytes payload, llama_state_seq_flags flags) const {
    if (!has_tag(payload, span)) return false;
    const Bytes blob = payload.subspan(kTag);
    return llama_state_seq_set_data_ext(context_, raw(blob), blob.size(), seq, flags) == blob.size();
}

Status StateBlobs::restore(llama_seq_id seq, std::span<const RowsPayload> rows, Bytes boundary, TokenPos length,
                           const PayloadReady &ready) const {
    const LlamaLogCapture log;
    const auto give_up = [&](Error error) {
        clear(scratch_);
        clear(seq);
        return fail(std::move(error));
    };
    const auto damaged = [&](const char *part) {
        return give_up(
            {ErrorCode::corrupt,
             fmt::format("the {} of a state of {} tokens cannot be restored ({}): it is dropped", part, length,
                         log.errors().empty() ? std::string("it is not what was captured") : log.errors())});
    };
    const auto is_ready = [&](std::size_t payload) { return ready ? ready(payload) : Status{}; };
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const RowsPayload &payload = rows[i];
        if (auto there = is_ready(i); !there) return give_up(std::move(there.error()));
        // The first payload, where nothing of it is cut off, goes straight into the target.
        const bool direct = i == 0 && payload.use_end == payload.span.end;
        if (!set(direct ? seq : scratch_, payload.span, payload.bytes, kAll)) return damaged("rows");
        if (direct) continue;
        llama_memory_seq_cp(memory_, scratch_, seq, payload.use_begin, payload.use_end);
        clear(scratch_);
    }
    if (shape_.has_boundary) {
        if (auto there = is_ready(rows.size()); !there) return give_up(std::move(there.error()));
        const llama_state_seq_flags flags = shape_.mode == CaptureMode::whole ? kAll : kPartial;
        if (!set(seq, {length, length}, boundary, flags)) return damaged("boundary");
    }
    if (llama_memory_seq_pos_max(memory_, seq) != length - 1) return damaged("length");
    return {};
}

}  // namespace cairn
