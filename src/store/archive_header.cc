#include "store/archive_header.h"

#include <algorithm>
#include <array>
#include <limits>

#include "base/check.h"

namespace cairn {

namespace {

constexpr std::size_t kFixedBytes = 96;  ///< up to the tokens
constexpr std::size_t kPayloadRow = 48;  ///< of one payload in the table

/// A kind's number in a file is its place here. Only ever added to at the end.
constexpr std::array kKindsInFiles{
    CheckpointKind::system_end, CheckpointKind::last_user, CheckpointKind::last_user_end, CheckpointKind::prompt_end,
    CheckpointKind::answer_end, CheckpointKind::interval,  CheckpointKind::fork};

std::uint32_t number_of(CheckpointKind kind) {
    const auto *const place = std::find(kKindsInFiles.begin(), kKindsInFiles.end(), kind);
    CAIRN_CHECK(place != kKindsInFiles.end(), "a checkpoint kind without a number in files: {}", name_of(kind));
    return static_cast<std::uint32_t>(place - kKindsInFiles.begin());
}

/// How many of each there are. Unit: tokens, rows of the table, bytes.
struct Counts {
    std::size_t tokens = 0;
    std::size_t payloads = 0;
    std::size_t model = 0;
    std::size_t tenant = 0;
    std::size_t text = 0;
};

std::optional<std::uint32_t> header_bytes_for(const Counts &counts) noexcept {
    std::size_t whole = kFixedBytes;
    const auto add = [&whole](std::size_t number, std::size_t each) {
        // Each part is bounded before it is added, so that nothing overflows.
        if (number > kMaxHeaderBytes / each) return false;
        whole += number * each;
        return true;
    };
    if (!add(counts.tokens, sizeof(Token)) || !add(counts.payloads, kPayloadRow) || !add(counts.model, 1) ||
        !add(counts.tenant, 1) || !add(counts.text, 1)) {
        return std::nullopt;
    }
    const auto rounded = checked_align_up(whole, kHeaderPage);
    if (!rounded || *rounded > kMaxHeaderBytes) return std::nullopt;
    return static_cast<std::uint32_t>(*rounded);
}

Counts counts_of(const ArchiveHeader &header) noexcept {
    return {.tokens = header.tokens.size(),
            .payloads = header.payloads.size(),
            .model = header.model.size(),
            .tenant = header.ns.tenant.size(),
            .text = header.text.size()};
}

std::size_t tokens_in(const StoredPayload &payload) noexcept {
    return payload.kind == PayloadKind::rows ? static_cast<std::size_t>(payload.span.length()) : 0;
}

/// What is wrong with one payload where `before` are the rows it is to build on, if any. Null: nothing.
const char *contradiction_in(const StoredPayload &payload, const StoredPayload *before, TokenPos position) {
    const TokenSpan span = payload.span;
    if (span.begin < 0 || span.end < span.begin) return "a payload's span cannot be";
    if (payload.kind == PayloadKind::boundary) {
        if (span != TokenSpan{position, position}) return "its boundary lies elsewhere";
        if (payload.parent != 0) return "its boundary has a parent";
    } else {
        if (span.empty() || span.begin >= position) return "a payload of rows has no part in it";
        if (payload.parent != (before == nullptr ? 0 : before->id)) return "its rows do not form a chain";
        const bool joins =
            before == nullptr ? span.begin == 0 : span.begin > before->span.begin && span.begin <= before->span.end;
        if (!joins) return "its rows have a gap";
    }
    const std::uint64_t file_bytes = payload_file_bytes(payload.bytes, tokens_in(payload));
    if (file_bytes == std::numeric_limits<std::uint64_t>::max() || payload.file_bytes != file_bytes) {
        return "a payload's sizes contradict each other";
    }
    return nullptr;
}

bool ids_are_unique(const std::vector<StoredPayload> &payloads) {
    std::vector<std::uint64_t> ids{0};  // names no payload
    for (const StoredPayload &payload : payloads)
        ids.push_back(payload.id);
    std::sort(ids.begin(), ids.end());
    return std::adjacent_find(ids.begin(), ids.end()) == ids.end();
}

/// The chain of rows, then maybe a boundary, and nothing else. Null: nothing is wrong.
const char *contradiction_in_payloads(const ArchiveHeader &header) {
    if (!ids_are_unique(header.payloads)) return "two payloads have the same id, or one has none";
    const StoredPayload *rows = nullptr, *boundary = nullptr;
    for (const StoredPayload &payload : header.payloads) {
        if (boundary != nullptr) return "its boundary is not the last payload";
        if (const char *why = contradiction_in(payload, rows, header.position())) return why;
        (payload.kind == PayloadKind::rows ? rows : boundary) = &payload;
    }
    if (rows == nullptr && boundary == nullptr) return "it has no payload";
    if (rows != nullptr && rows->span.end < header.position()) return "its rows end before its prefix";
    if (header.rows != (rows == nullptr ? 0 : rows->id)) return "it names other rows than it has";
    if (header.boundary != (boundary == nullptr ? 0 : boundary->id)) return "it names another boundary than it has";
    return nullptr;
}

StoredPayload read_payload(SealedHeaderReader &in, bool &known) {
    StoredPayload payload;
    payload.id = in.u64();
    payload.parent = in.u64();
    payload.bytes = in.u64();
    payload.file_bytes = in.u64();
    const std::uint32_t kind = in.u32();
    payload.span.begin = in.i32();
    payload.span.end = in.i32();
    const std::uint32_t reserved = in.u32();
    payload.kind = kind == static_cast<std::uint32_t>(PayloadKind::rows) ? PayloadKind::rows : PayloadKind::boundary;
    known = known && static_cast<std::uint32_t>(payload.kind) == kind && reserved == 0;
    return payload;
}

void write_payload(SealedHeaderWriter &out, const StoredPayload &payload) {
    out.u64(payload.id);
    out.u64(payload.parent);
    out.u64(payload.bytes);
    out.u64(payload.file_bytes);
    out.u32(static_cast<std::uint32_t>(payload.kind));
    out.i32(payload.span.begin);
    out.i32(payload.span.end);
    out.u32(0);  // reserved
}

std::string read_name(SealedHeaderReader &in, std::size_t size) {
    std::string name(size, '\0');
    in.raw(name.data(), name.size());
    return name;
}

/// Reads what the counts count, which the header has room for. False: a value that this version does not know.
bool read_counted(SealedHeaderReader &in, const Counts &counts, ArchiveHeader &header) {
    header.tokens.resize(counts.tokens);
    for (Token &token : header.tokens)
        token = in.i32();
    bool known = true;
    header.payloads.reserve(counts.payloads);
    for (std::size_t i = 0; i < counts.payloads; ++i)
        header.payloads.push_back(read_payload(in, known));
    header.model = read_name(in, counts.model);
    header.ns.tenant = read_name(in, counts.tenant);
    header.text = read_name(in, counts.text);
    return known && in.ends_well();
}

}  // namespace

std::optional<std::uint32_t> archive_header_bytes(const ArchiveHeader &header) noexcept {
    return header_bytes_for(counts_of(header));
}

std::string contradiction_in(const ArchiveHeader &header) {
    if (header.tokens.empty()) return "its prefix is empty";
    if (!archive_header_bytes(header)) return "its header would be too large";
    if (std::any_of(header.tokens.begin(), header.tokens.end(), [](Token token) { return token < 0; })) {
        return "a token is negative";
    }
    if (const char *why = contradiction_in_payloads(header)) return why;
    if (archive_bytes(header) == std::numeric_limits<std::uint64_t>::max()) return "it would be too large";
    return {};
}

std::vector<std::byte> encode_archive_header(const ArchiveHeader &header) {
    const std::string why = contradiction_in(header);
    CAIRN_CHECK(why.empty(), "an archive's header: {}", why);
    SealedHeaderWriter out(kArchiveFormat, archive_header_bytes(header).value());
    out.raw(header.ns.model.bytes.data(), header.ns.model.bytes.size());
    out.u32(number_of(header.kind));
    out.u32(0);  // flags
    out.u64(header.rows);
    out.u64(header.boundary);
    const Counts counts = counts_of(header);
    for (const std::size_t count : {counts.tokens, counts.payloads, counts.model, counts.tenant, counts.text})
        out.u32(static_cast<std::uint32_t>(count));
    out.u32(0);  // reserved
    for (const Token token : header.tokens)
        out.i32(token);
    for (const StoredPayload &payload : header.payloads)
        write_payload(out, payload);
    for (const std::string *name : {&header.model, &header.ns.tenant, &header.text})
        out.raw(name->data(), name->size());
    return out.seal();
}

Result<ArchiveHeader> decode_archive_header(Bytes bytes, const std::string &path) {
    SealedHeaderReader in(bytes);
    ArchiveHeader header;
    in.raw(header.ns.model.bytes.data(), header.ns.model.bytes.size());
    const std::uint32_t kind = in.u32();
    const std::uint32_t flags = in.u32();
    header.rows = in.u64();
    header.boundary = in.u64();
    Counts counts;
    for (std::size_t *count : {&counts.tokens, &counts.payloads, &counts.model, &counts.tenant, &counts.text})
        *count = in.u32();
    const std::uint32_t reserved = in.u32();
    // Nothing is taken for what the counts count unless the header has room for it.
    if (flags != 0 || reserved != 0 || kind >= kKindsInFiles.size() || header_bytes_for(counts) != bytes.size() ||
        !read_counted(in, counts, header)) {
        return fail(ErrorCode::corrupt, "{} is damaged: the numbers in its header contradict each other.", path);
    }
    header.kind = kKindsInFiles[kind];
    if (const std::string why = contradiction_in(header); !why.empty()) {
        return fail(ErrorCode::corrupt, "{} is damaged: {}.", path, why);
    }
    return header;
}

}  // namespace cairn
