#include "sim/sim_payload.h"

#include <xxhash.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/check.h"

namespace cairn {
namespace {

constexpr std::uint32_t kRows = 0x53574f52;      // "ROWS"
constexpr std::uint32_t kBoundary = 0x52444e42;  // "BNDR"
constexpr std::uint32_t kWhole = 0x4c4f4857;     // "WHOL"

// One number, repeated to the end of its stride.
void write_number(std::uint64_t number, MutableBytes to) {
    for (std::size_t at = 0; at < to.size(); at += sizeof number) {
        std::memcpy(&to[at], &number, std::min(sizeof number, to.size() - at));
    }
}

// The number again. A copy that differs from the first makes it a wrong one: no byte may be damaged unnoticed.
std::uint64_t read_number(Bytes from) {
    std::uint64_t number = 0;
    std::memcpy(&number, from.data(), sizeof number);
    std::uint64_t damage = 0;
    for (std::size_t at = sizeof number; at < from.size(); at += sizeof number) {
        const std::size_t size = std::min(sizeof number, from.size() - at);
        if (std::memcmp(&from[at], &number, size) != 0) damage ^= XXH3_64bits_withSeed(&from[at], size, at);
    }
    return number ^ damage;
}

}  // namespace

struct SimPayloads::Header {
    std::uint32_t kind = 0;
    std::int32_t begin = 0;
    std::int32_t end = 0;
    std::uint32_t numbers = 0;
    std::uint64_t owner = 0;
    std::uint64_t body_hash = 0;
    // Not written: how the numbers are shared out.
    std::size_t rows = 0;
    std::size_t carried = 0;
};

SimPayloads::SimPayloads(const SimConfig &config, const Fingerprint &fingerprint)
    : family_(config.family),
      window_(config.window),
      row_stride_(config.row_bytes),
      carried_stride_(config.boundary_bytes - kHeader),
      checks_(config.checks_payloads),
      owner_(fingerprint) {
    if (family_ == SimFamily::sliding_window) carried_stride_ /= static_cast<std::size_t>(window_);
}

std::size_t SimPayloads::body_size(std::size_t rows, std::size_t carried) const {
    return rows * row_stride_ + carried * carried_stride_;
}

std::size_t SimPayloads::rows_size(TokenSpan span) const {
    const bool by_span = family_ != SimFamily::recurrent && family_ != SimFamily::whole;
    return span.empty() || !by_span ? 0 : kHeader + body_size(static_cast<std::size_t>(span.length()), 0);
}

std::size_t SimPayloads::boundary_size(TokenPos length) const {
    if (family_ == SimFamily::attention) return 0;
    const Header expected = boundary_header(length);
    return kHeader + body_size(expected.rows, expected.carried);
}

SimPayloads::Header SimPayloads::header(std::uint32_t kind, TokenSpan span, std::size_t rows,
                                        std::size_t carried) const {
    Header result{.kind = kind, .begin = span.begin, .end = span.end, .rows = rows, .carried = carried};
    result.numbers = static_cast<std::uint32_t>(rows + carried);
    std::memcpy(&result.owner, owner_.bytes.data(), sizeof result.owner);
    return result;
}

SimPayloads::Header SimPayloads::boundary_header(TokenPos length) const {
    if (family_ == SimFamily::whole) return header(kWhole, {0, length}, static_cast<std::size_t>(length), 1);
    const TokenPos carried = family_ == SimFamily::sliding_window ? std::min(length, window_) : 1;
    return header(kBoundary, {0, length}, 0, static_cast<std::size_t>(carried));
}

void SimPayloads::write_rows(const SimState &state, TokenSpan span, MutableBytes to) const {
    Body body;
    for (TokenPos pos = span.begin; pos < span.end; ++pos)
        body.rows.push_back(state.row(pos));
    write(header(kRows, span, body.rows.size(), 0), body, to);
}

void SimPayloads::write_boundary(const SimState &state, MutableBytes to) const {
    const Header head = boundary_header(state.length());
    Body body;
    for (TokenPos pos = 0; std::cmp_less(pos, head.rows); ++pos)
        body.rows.push_back(state.row(pos));
    const SimBoundary &boundary = state.boundary();
    if (family_ == SimFamily::sliding_window) {
        body.carried = boundary.window;
    } else {
        body.carried = {boundary.carried};
    }
    write(head, body, to);
}

void SimPayloads::write(Header header, const Body &body, MutableBytes to) const {
    CAIRN_CHECK(to.size() == kHeader + body_size(header.rows, header.carried), "{} bytes for {} + {} numbers",
                to.size(), header.rows, header.carried);
    std::size_t at = kHeader;
    for (const std::uint64_t number : body.rows) {
        write_number(number, to.subspan(at, row_stride_));
        at += row_stride_;
    }
    for (const std::uint64_t number : body.carried) {
        write_number(number, to.subspan(at, carried_stride_));
        at += carried_stride_;
    }
    header.body_hash = XXH3_64bits(to.data() + kHeader, to.size() - kHeader);
    std::memcpy(to.data(), &header, kHeader);
}

Result<SimPayloads::Body> SimPayloads::read(Bytes from, const Header &expected) const {
    const std::size_t size = kHeader + body_size(expected.rows, expected.carried);
    if (from.size() != size) {
        return fail(ErrorCode::corrupt, "A payload of [{}, {}) has {} bytes where {} were captured.", expected.begin,
                    expected.end, from.size(), size);
    }
    if (checks_) {
        Header wanted = expected;
        wanted.body_hash = XXH3_64bits(from.data() + kHeader, from.size() - kHeader);
        if (std::memcmp(from.data(), &wanted, kHeader) != 0) {
            return fail(ErrorCode::corrupt, "The bytes of a payload are not those captured for [{}, {}).",
                        expected.begin, expected.end);
        }
    }
    Body body;
    std::size_t at = kHeader;
    for (std::size_t i = 0; i < expected.rows; ++i, at += row_stride_) {
        body.rows.push_back(read_number(from.subspan(at, row_stride_)));
    }
    for (std::size_t i = 0; i < expected.carried; ++i, at += carried_stride_) {
        body.carried.push_back(read_number(from.subspan(at, carried_stride_)));
    }
    return body;
}

Status SimPayloads::read_rows(Bytes from, TokenSpan span, TokenSpan use, SimState &state) const {
    const auto body = read(from, header(kRows, span, static_cast<std::size_t>(span.length()), 0));
    if (!body) return fail(body.error());
    for (TokenPos pos = use.begin; pos < use.end; ++pos) {
        state.append_row(body->rows[static_cast<std::size_t>(pos - span.begin)]);
    }
    return {};
}

Status SimPayloads::read_boundary(Bytes from, TokenPos length, SimState &state) const {
    const auto body = read(from, boundary_header(length));
    if (!body) return fail(body.error());
    for (const std::uint64_t row : body->rows)
        state.append_row(row);
    SimBoundary boundary;
    if (family_ == SimFamily::sliding_window) {
        boundary.window = body->carried;
    } else {
        boundary.carried = body->carried.front();
    }
    state.set_boundary(std::move(boundary), length);
    return {};
}

}  // namespace cairn
