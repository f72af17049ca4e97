#include "store/catalogue_rows.h"

#include <xxhash.h>

namespace cairn {

std::int64_t RowHash::checksum() const {
    return std::bit_cast<std::int64_t>(std::uint64_t{XXH3_64bits(bytes_.data(), bytes_.size())});
}

bool take_column(std::int64_t value, PayloadKind &to) {
    if (value != static_cast<std::int64_t>(PayloadKind::rows) &&
        value != static_cast<std::int64_t>(PayloadKind::boundary))
        return false;
    to = static_cast<PayloadKind>(value);
    return true;
}

bool take_column(std::int64_t value, CheckpointKind &to) {
    if (value < 0 || value > static_cast<std::int64_t>(CheckpointKind::fork)) return false;
    to = static_cast<CheckpointKind>(value);
    return true;
}

bool take_column(Bytes value, Tokens &to) {
    if (value.size() % sizeof(Token) != 0) return false;
    to.resize(value.size() / sizeof(Token));
    if (!value.empty()) std::memcpy(to.data(), value.data(), value.size());
    return true;
}

bool take_column(Bytes value, Fingerprint &to) {
    if (value.size() != to.bytes.size()) return false;
    std::memcpy(to.bytes.data(), value.data(), value.size());
    return true;
}

bool take_column(std::string_view value, std::string &to) {
    to = value;
    return true;
}

bool is_whole(const StoredPayload &payload) noexcept {
    constexpr auto kMost = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    if (!is_id(payload.id) || payload.bytes > kMost || payload.file_bytes > kMost) return false;
    if (payload.span.begin < 0) return false;
    if (payload.kind == PayloadKind::boundary) return payload.parent == 0 && payload.span.begin == payload.span.end;
    // A parent is older than what goes on from it, so that there are no circles.
    return !payload.span.empty() && payload.parent < payload.id && (payload.parent == 0) == (payload.span.begin == 0);
}

bool goes_on_from(const StoredPayload &payload, const StoredPayload &parent) noexcept {
    return payload.kind == PayloadKind::rows && parent.kind == PayloadKind::rows && payload.parent == parent.id &&
           parent.span.begin < payload.span.begin && payload.span.begin <= parent.span.end;
}

bool is_whole(const StoredSnapshot &snapshot) noexcept {
    return is_id(snapshot.id) && snapshot.parent < snapshot.id && snapshot.position >= 0 &&
           snapshot.tokens.size() <= static_cast<std::size_t>(snapshot.position);
}

bool are_rows_of(const StoredPayload &payload, TokenPos position) noexcept {
    return payload.kind == PayloadKind::rows && payload.span.begin < position && position <= payload.span.end;
}

bool is_boundary_of(const StoredPayload &payload, TokenPos position) noexcept {
    return payload.kind == PayloadKind::boundary && payload.span.end == position;
}

}  // namespace cairn
