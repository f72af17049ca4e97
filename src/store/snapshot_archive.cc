#include "store/snapshot_archive.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <utility>

#include "base/check.h"
#include "store/archive_header.h"
#include "store/payload_file.h"

namespace cairn {

namespace {

/// A part of an open file as a file of its own, for reading.
class FileSlice final : public File {
public:
    FileSlice(std::unique_ptr<File> whole, std::uint64_t begin, std::uint64_t bytes)
        : whole_(std::move(whole)), begin_(begin), bytes_(bytes) {}

    Result<std::size_t> read_some(std::uint64_t offset, MutableBytes to) override {
        if (offset >= bytes_) return std::size_t{0};
        const auto most = static_cast<std::size_t>(std::min<std::uint64_t>(to.size(), bytes_ - offset));
        return whole_->read_some(begin_ + offset, to.first(most));
    }
    Result<std::size_t> write_some(std::uint64_t, Bytes) override { return fail(refusal()); }
    Status truncate(std::uint64_t) override { return fail(refusal()); }
    Status sync_some() override { return fail(refusal()); }
    Result<std::uint64_t> size() override { return bytes_; }

private:
    static Error refusal() { return {ErrorCode::internal, "A payload inside an archive can only be read."}; }

    std::unique_ptr<File> whole_;
    std::uint64_t begin_;
    std::uint64_t bytes_;
};

/// That an open payload is the one that `header` lists at `i`.
Status check_listed(const OpenPayload &payload, const ArchiveHeader &header, std::size_t i) {
    const StoredPayload &listed = header.payloads[i];
    const PayloadOrigin origin{.kind = listed.kind, .id = listed.id, .span = listed.span, .ns = &header.ns};
    const bool used_up_to_next = i + 1 < header.payloads.size() && header.payloads[i + 1].kind == PayloadKind::rows;
    const TokenPos use_end = used_up_to_next ? header.payloads[i + 1].span.begin : header.position();
    if (auto ours = check_origin(payload.header, origin, header.tokens, use_end); !ours) return ours;
    if (payload.header.bytes == listed.bytes) return {};
    return fail(ErrorCode::corrupt, "The payload found as {} {} is not what was stored there: it has {} bytes, not {}.",
                name_of(listed.kind), listed.id, payload.header.bytes, listed.bytes);
}

/// Where payload `i` begins in the archive.
std::uint64_t offset_of(const ArchiveHeader &header, std::size_t i) {
    std::uint64_t offset = archive_header_bytes(header).value();
    for (std::size_t before = 0; before < i; ++before)
        offset += header.payloads[before].file_bytes;
    return offset;
}

Result<OpenPayload> open_listed(FileSystem &files, const std::string &path, const ArchiveHeader &header,
                                std::size_t i) {
    CAIRN_CHECK(contradiction_in(header).empty() && i < header.payloads.size(), "payload {} of {}", i,
                header.payloads.size());
    auto file = files.open(path, OpenMode::read);
    if (!file) return fail(file.error());
    auto slice = std::make_unique<FileSlice>(std::move(*file), offset_of(header, i), header.payloads[i].file_bytes);
    auto payload = open_payload(std::move(slice), fmt::format("Payload {} of {}", i + 1, path));
    if (!payload) return payload;
    if (auto ours = check_listed(*payload, header, i); !ours) return fail(ours.error());
    return payload;
}

Status fill_archive(FileSystem &files, File &archive, const ArchiveHeader &header,
                    std::span<const std::string> payload_paths) {
    if (auto done = write_all(archive, 0, encode_archive_header(header)); !done) return done;
    std::uint64_t offset = offset_of(header, 0);
    for (std::size_t i = 0; i < header.payloads.size(); ++i) {
        const auto payload = open_payload_file(files, payload_paths[i]);
        if (!payload) return fail(payload.error());
        if (auto ours = check_listed(*payload, header, i); !ours) return ours;
        if (auto done = copy_payload(archive, offset, *payload, payload->header.id); !done) return done;
        offset += header.payloads[i].file_bytes;
    }
    return {};
}

}  // namespace

std::uint64_t archive_bytes(const ArchiveHeader &header) noexcept {
    constexpr auto kNever = std::numeric_limits<std::uint64_t>::max();
    const auto header_bytes = archive_header_bytes(header);
    if (!header_bytes) return kNever;
    std::optional<std::size_t> sum = *header_bytes;
    for (const StoredPayload &payload : header.payloads) {
        sum = checked_add(*sum, payload.file_bytes);
        if (!sum) return kNever;
    }
    return *sum;
}

Status write_archive(FileSystem &files, const std::string &path, const ArchiveHeader &header,
                     std::span<const std::string> payload_paths, Existing existing) {
    CAIRN_CHECK(payload_paths.size() == header.payloads.size(), "{} paths for {} payloads", payload_paths.size(),
                header.payloads.size());
    if (const std::string why = contradiction_in(header); !why.empty()) {
        return fail(ErrorCode::invalid_argument, "{} cannot be written as an archive: {}.", path, why);
    }
    return write_for_user(files, path, existing,
                          [&](File &file) { return fill_archive(files, file, header, payload_paths); });
}

Status check_is_archive(FileSystem &files, const std::string &path) {
    const auto file = files.open(path, OpenMode::read);
    if (!file) return fail(file.error());
    std::string magic(kArchiveFormat.magic.size(), '\0');
    const auto read = read_exactly(**file, 0, std::as_writable_bytes(std::span(magic)));
    if (!read && read.error().code != ErrorCode::corrupt) return read;
    if (read && magic == kArchiveFormat.magic) return {};
    return fail(ErrorCode::invalid_argument,
                "{} is not a snapshot archive: name a file that `cairn cache export` wrote", path);
}

Result<ArchiveHeader> read_archive_header(FileSystem &files, const std::string &path) {
    const auto file = files.open(path, OpenMode::read);
    if (!file) return fail(file.error());
    const auto bytes = read_sealed_header(**file, path, kArchiveFormat);
    if (!bytes) return fail(bytes.error());
    auto header = decode_archive_header(*bytes, path);
    if (!header) return header;
    const auto size = (*file)->size();
    if (!size) return fail(size.error());
    if (*size != archive_bytes(*header)) {
        return fail(ErrorCode::corrupt, "{} is damaged: it is {} bytes long instead of {}.", path, *size,
                    archive_bytes(*header));
    }
    return header;
}

Status extract_payload(FileSystem &files, const std::string &path, const ArchiveHeader &header, std::size_t i,
                       std::uint64_t new_id, const std::string &target) {
    const auto payload = open_listed(files, path, header, i);
    if (!payload) return fail(payload.error());
    return copy_payload_file(files, target, *payload, new_id);
}

Status verify_archive(FileSystem &files, const std::string &path, const ArchiveHeader &header) {
    for (std::size_t i = 0; i < header.payloads.size(); ++i) {
        auto payload = open_listed(files, path, header, i);
        if (!payload) return fail(payload.error());
        if (auto done = payload->verify(); !done) return done;
    }
    return {};
}

}  // namespace cairn
