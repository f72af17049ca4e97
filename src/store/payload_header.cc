#include "store/payload_header.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/check.h"

namespace cairn {

namespace {

/// Up to the tokens.
constexpr std::size_t kFixedBytes = 128;

bool same_tokens(TokenView a, TokenView b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end());
}

/// The counts that a header holds beside what they count.
struct Counts {
    std::uint32_t chunk_bytes = 0;
    std::uint32_t chunks = 0;
    std::uint32_t tokens = 0;
};

/// The fields before the tokens. `flags` and `reserved` must be 0.
struct FixedFields {
    PayloadHeader header;
    Counts counts;
    std::uint32_t kind = 0;
    std::uint32_t flags = 0;
    std::uint32_t reserved = 0;
};

FixedFields read_fixed(SealedHeaderReader &in) {
    FixedFields fixed;
    fixed.kind = in.u32();
    fixed.flags = in.u32();
    PayloadHeader &header = fixed.header;
    header.id = in.u64();
    in.raw(header.model.bytes.data(), header.model.bytes.size());
    in.raw(header.tenant.data(), header.tenant.size());
    header.span.begin = in.i32();
    header.span.end = in.i32();
    in.raw(header.prefix.data(), header.prefix.size());
    header.bytes = in.u64();
    fixed.counts = {.chunk_bytes = in.u32(), .chunks = in.u32(), .tokens = in.u32()};
    fixed.reserved = in.u32();
    return fixed;
}

/// What must hold before anything is taken for the tokens and checksums.
bool counts_fit(const FixedFields &fixed, std::size_t head_bytes) {
    const auto kind = static_cast<PayloadKind>(fixed.kind);
    const bool known = fixed.kind <= std::numeric_limits<std::uint8_t>::max() &&
                       (kind == PayloadKind::rows || kind == PayloadKind::boundary);
    return known && fixed.flags == 0 && fixed.reserved == 0 && fixed.counts.chunk_bytes == kPayloadChunkBytes &&
           fixed.counts.chunks == payload_chunks(fixed.header.bytes) &&
           payload_header_bytes(fixed.header.bytes, fixed.counts.tokens) == head_bytes;
}

}  // namespace

const char *name_of(PayloadKind kind) noexcept {
    switch (kind) {
        case PayloadKind::rows: return "rows";
        case PayloadKind::boundary: return "boundary";
    }
    return "unknown";
}

PayloadHeader describe_payload(PayloadKind kind, std::uint64_t id, const NamespaceKey &ns, TokenView prefix,
                               TokenSpan span) {
    CAIRN_CHECK(span.begin >= 0 && span.begin <= span.end && static_cast<std::size_t>(span.end) <= prefix.size(),
                "[{}, {}) of {} tokens", span.begin, span.end, prefix.size());
    PayloadHeader header;
    header.kind = kind;
    header.id = id;
    header.model = ns.model;
    header.tenant = hash_of_text(ns.tenant);
    header.span = span;
    const TokenView before = prefix.first(static_cast<std::size_t>(span.begin));
    header.prefix = hash_of_prefix(before);
    if (kind == PayloadKind::rows) {
        const TokenView own = prefix.subspan(before.size(), static_cast<std::size_t>(span.length()));
        header.tokens.assign(own.begin(), own.end());
    }
    return header;
}

std::optional<std::uint32_t> payload_header_bytes(std::uint64_t bytes, std::size_t tokens) noexcept {
    // Each part is bounded first, so that nothing overflows.
    const std::uint64_t chunks = payload_chunks(bytes);
    if (tokens > kMaxHeaderBytes / sizeof(Token) || chunks > kMaxHeaderBytes / sizeof(std::uint64_t)) {
        return std::nullopt;
    }
    const auto whole =
        checked_align_up(kFixedBytes + sizeof(Token) * tokens + sizeof(std::uint64_t) * chunks, kHeaderPage);
    if (!whole || *whole > kMaxHeaderBytes) return std::nullopt;
    return static_cast<std::uint32_t>(*whole);
}

std::uint64_t payload_file_bytes(std::uint64_t bytes, std::size_t tokens) noexcept {
    const auto header = payload_header_bytes(bytes, tokens);
    // A header that fits has too few chunks for the sum to overflow.
    return header ? *header + bytes : std::numeric_limits<std::uint64_t>::max();
}

std::uint64_t payload_chunk_seed(std::uint64_t id, std::uint64_t chunk) noexcept {
    return id * 0x9e3779b97f4a7c15u + chunk;  // the ids' first chunks lie far apart
}

Status check_origin(const PayloadHeader &header, const PayloadOrigin &expected, TokenView prefix, TokenPos use_end) {
    CAIRN_CHECK(expected.ns != nullptr, "an origin without a namespace");
    const auto refuse = [&](const char *what) {
        return fail(ErrorCode::corrupt, "The payload found as {} {} is not what was stored there: {}.",
                    name_of(expected.kind), expected.id, what);
    };
    if (header.kind != expected.kind) return refuse("it is of another kind");
    if (header.id != expected.id) return refuse("it has another id");
    if (header.model != expected.ns->model) return refuse("it belongs to another model or another configuration of it");
    if (header.tenant != hash_of_text(expected.ns->tenant)) return refuse("it belongs to another tenant");
    if (header.span != expected.span) return refuse("it is of another span");
    if (const std::string why = contradiction_in(header); !why.empty()) return refuse(why.c_str());

    const TokenSpan span = header.span;
    const bool rows = header.kind == PayloadKind::rows;
    const bool use_fits = rows ? use_end > span.begin && use_end <= span.end : use_end == span.end;
    if (!use_fits || static_cast<std::size_t>(use_end) > prefix.size()) return refuse("it ends elsewhere");
    const TokenView before = prefix.first(static_cast<std::size_t>(span.begin));
    if (header.prefix != hash_of_prefix(before)) return refuse("other tokens lie before it");
    const std::size_t used = rows ? static_cast<std::size_t>(use_end - span.begin) : 0;
    if (!same_tokens(TokenView(header.tokens).first(used), prefix.subspan(before.size(), used))) {
        return refuse("it is of other tokens");
    }
    return {};
}

std::string contradiction_in(const PayloadHeader &header) {
    const TokenSpan span = header.span;
    if (span.begin < 0 || span.end < span.begin) return "its span cannot be";
    const bool rows = header.kind == PayloadKind::rows;
    if (rows == span.empty()) return rows ? "it is of rows and covers nothing" : "it is a boundary and covers a span";
    const std::size_t tokens = rows ? static_cast<std::size_t>(span.length()) : 0;
    if (header.tokens.size() != tokens) return "its tokens are not those of its span";
    return {};
}

std::vector<std::byte> encode_payload_head(const PayloadHead &head) {
    const PayloadHeader &header = head.header;
    const std::string why = contradiction_in(header);
    CAIRN_CHECK(why.empty(), "a payload's header: {}", why);
    const auto size = payload_header_bytes(header.bytes, header.tokens.size());
    CAIRN_CHECK(size && head.checksums.size() == payload_chunks(header.bytes), "{} bytes, {} tokens, {} checksums",
                header.bytes, header.tokens.size(), head.checksums.size());
    SealedHeaderWriter out(kPayloadFormat, *size);
    out.u32(static_cast<std::uint32_t>(header.kind));
    out.u32(0);  // flags
    out.u64(header.id);
    out.raw(header.model.bytes.data(), header.model.bytes.size());
    out.raw(header.tenant.data(), header.tenant.size());
    out.i32(header.span.begin);
    out.i32(header.span.end);
    out.raw(header.prefix.data(), header.prefix.size());
    out.u64(header.bytes);
    out.u32(kPayloadChunkBytes);
    out.u32(static_cast<std::uint32_t>(head.checksums.size()));
    out.u32(static_cast<std::uint32_t>(header.tokens.size()));
    out.u32(0);  // reserved
    for (const Token token : header.tokens)
        out.i32(token);
    for (const std::uint64_t checksum : head.checksums)
        out.u64(checksum);
    return out.seal();
}

Result<PayloadHead> decode_payload_head(Bytes bytes, const std::string &path) {
    SealedHeaderReader in(bytes);
    FixedFields fixed = read_fixed(in);
    if (!counts_fit(fixed, bytes.size())) {
        return fail(ErrorCode::corrupt, "{} is damaged: the numbers in its header contradict each other.", path);
    }
    PayloadHead head{.header = std::move(fixed.header), .checksums = {}};
    head.header.kind = static_cast<PayloadKind>(fixed.kind);
    head.header.tokens.resize(fixed.counts.tokens);
    for (Token &token : head.header.tokens)
        token = in.i32();
    head.checksums.resize(fixed.counts.chunks);
    for (std::uint64_t &checksum : head.checksums)
        checksum = in.u64();
    if (!in.ends_well()) {
        return fail(ErrorCode::corrupt, "{} is damaged: its header does not end where it should.", path);
    }
    if (const std::string why = contradiction_in(head.header); !why.empty()) {
        return fail(ErrorCode::corrupt, "{} is damaged: {}.", path, why);
    }
    return head;
}

}  // namespace cairn
