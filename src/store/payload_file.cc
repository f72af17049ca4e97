#include "store/payload_file.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "base/check.h"
#include "store/chunk_hash.h"
#include "store/write_aside.h"

namespace cairn {

namespace {

/// Read and hashed at a time: what the caches of one core hold.
constexpr std::size_t kReadBytes = 128_KiB;

std::size_t length_of_chunk(std::uint64_t payload_bytes, std::size_t chunk) noexcept {
    const std::uint64_t before = std::uint64_t{chunk} * kPayloadChunkBytes;
    return static_cast<std::size_t>(std::min<std::uint64_t>(kPayloadChunkBytes, payload_bytes - before));
}

/// Gives chunk after chunk, each valid until the next is asked for.
using ChunkSource = std::function<Result<Bytes>(std::size_t chunk)>;

/// Writes chunks, then the header, since only then the checksums are known.
Status write_payload(File &to, std::uint64_t offset, PayloadHead head, std::size_t header_bytes,
                     const ChunkSource &source) {
    const auto chunks = static_cast<std::size_t>(payload_chunks(head.header.bytes));
    head.checksums.reserve(chunks);
    for (std::size_t i = 0; i < chunks; ++i) {
        const auto chunk = source(i);
        if (!chunk) return fail(chunk.error());
        const std::uint64_t seed = payload_chunk_seed(head.header.id, i);
        head.checksums.push_back(chunk_hash(*chunk, seed));
        const std::uint64_t at = offset + header_bytes + std::uint64_t{i} * kPayloadChunkBytes;
        if (auto done = write_all(to, at, *chunk); !done) return done;
    }
    return write_all(to, offset, encode_payload_head(head));
}

Result<std::size_t> header_bytes_of(const PayloadHeader &header) {
    const auto bytes = payload_header_bytes(header.bytes, header.tokens.size());
    if (bytes) return *bytes;
    return fail(ErrorCode::invalid_argument, "A payload of {} bytes and {} tokens is too large for a payload file.",
                header.bytes, header.tokens.size());
}

/// The chunks of an open payload, in one buffer.
ChunkSource chunks_of(const OpenPayload &from, std::vector<std::byte> &buffer) {
    return [&from, &buffer](std::size_t chunk) -> Result<Bytes> {
        buffer.resize(from.chunk_bytes(chunk));
        if (auto done = from.read_chunk(chunk, buffer); !done) return fail(done.error());
        return Bytes(buffer);
    };
}

}  // namespace

Status write_payload_file(FileSystem &files, const std::string &path, PayloadHeader header, Bytes bytes) {
    header.bytes = bytes.size();
    const auto header_bytes = header_bytes_of(header);
    if (!header_bytes) return fail(header_bytes.error());
    const auto source = [bytes](std::size_t chunk) -> Result<Bytes> {
        return bytes.subspan(chunk * kPayloadChunkBytes, length_of_chunk(bytes.size(), chunk));
    };
    return write_aside(files, path, [&](File &file) {
        return write_payload(file, 0, {.header = std::move(header), .checksums = {}}, *header_bytes, source);
    });
}

Status copy_payload(File &to, std::uint64_t offset, const OpenPayload &from, std::uint64_t id) {
    PayloadHead head{.header = from.header, .checksums = {}};
    head.header.id = id;
    const auto header_bytes = header_bytes_of(head.header);
    if (!header_bytes) return fail(header_bytes.error());
    std::vector<std::byte> buffer;
    return write_payload(to, offset, std::move(head), *header_bytes, chunks_of(from, buffer));
}

Status copy_payload_file(FileSystem &files, const std::string &path, const OpenPayload &from, std::uint64_t id) {
    return write_aside(files, path, [&](File &file) { return copy_payload(file, 0, from, id); });
}

std::size_t OpenPayload::chunk_bytes(std::size_t chunk) const noexcept {
    return length_of_chunk(header.bytes, chunk);
}

Status OpenPayload::read_chunk(std::size_t chunk, MutableBytes to) const {
    CAIRN_CHECK(chunk < chunks() && to.size() == chunk_bytes(chunk), "chunk {} of {} into {} bytes", chunk, chunks(),
                to.size());
    const std::uint64_t begin = data_offset_ + std::uint64_t{chunk} * kPayloadChunkBytes;
    ChunkHash hash(payload_chunk_seed(header.id, chunk));
    for (std::size_t at = 0; at < to.size(); at += kReadBytes) {
        const MutableBytes piece = to.subspan(at, std::min(kReadBytes, to.size() - at));
        if (auto done = read_exactly(*file_, begin + at, piece); !done) return done;
        hash.add(piece);
    }
    if (hash.value() != chunk_checksums_[chunk]) {
        return fail(ErrorCode::corrupt, "{} is damaged: the checksum of its MiB {} is wrong.", path_, chunk);
    }
    return {};
}

Status OpenPayload::verify() {
    std::vector<std::byte> buffer;
    const ChunkSource source = chunks_of(*this, buffer);
    for (std::size_t i = 0; i < chunks(); ++i) {
        if (const auto chunk = source(i); !chunk) return fail(chunk.error());
    }
    return {};
}

Result<OpenPayload> open_payload(std::unique_ptr<File> file, const std::string &path) {
    const auto bytes = read_sealed_header(*file, path, kPayloadFormat);
    if (!bytes) return fail(bytes.error());
    auto head = decode_payload_head(*bytes, path);
    if (!head) return fail(head.error());
    const auto size = file->size();
    if (!size) return fail(size.error());
    const std::uint64_t expected = payload_file_bytes(head->header.bytes, head->header.tokens.size());
    if (*size != expected) {
        return fail(ErrorCode::corrupt, "{} is damaged: it is {} bytes long instead of {}.", path, *size, expected);
    }
    OpenPayload payload;
    payload.header = std::move(head->header);
    payload.file_ = std::move(file);
    payload.path_ = path;
    payload.data_offset_ = bytes->size();
    payload.chunk_checksums_ = std::move(head->checksums);
    return payload;
}

Result<OpenPayload> open_payload_file(FileSystem &files, const std::string &path) {
    auto file = files.open(path, OpenMode::read);
    if (!file) return fail(file.error());
    return open_payload(std::move(*file), path);
}

}  // namespace cairn
