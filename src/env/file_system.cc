#include "env/file_system.h"

#include <algorithm>
#include <array>

namespace cairn {

namespace {

/// Calls `operation` until it is not interrupted.
template <class Operation>
auto uninterrupted(const Operation &operation) {
    for (;;) {
        auto result = operation();
        if (result || result.error().code != ErrorCode::cancelled) return result;
    }
}

}  // namespace

Status read_exactly(File &file, std::uint64_t offset, MutableBytes to) {
    const std::uint64_t end = offset + to.size();
    while (!to.empty()) {
        const auto read = uninterrupted([&] { return file.read_some(offset, to); });
        if (!read) return fail(read.error());
        if (*read == 0) {
            return fail(ErrorCode::corrupt, "the file ends at or before byte {}, where {} more bytes were expected",
                        offset, end - offset);
        }
        offset += *read;
        to = to.subspan(*read);
    }
    return {};
}

Status write_all(File &file, std::uint64_t offset, Bytes from) {
    while (!from.empty()) {
        const auto written = uninterrupted([&] { return file.write_some(offset, from); });
        if (!written) return fail(written.error());
        offset += *written;
        from = from.subspan(*written);
    }
    return {};
}

Status sync(File &file) {
    return uninterrupted([&] { return file.sync_some(); });
}

Result<std::string> read_text(FileSystem &files, const std::string &path, std::size_t most) {
    const auto file = files.open(path, OpenMode::read);
    if (!file) return fail(file.error());
    // Read to the end instead of size(): the file may be growing, and the kernel's own files have no size.
    std::string text;
    std::array<char, 4096> piece;
    while (text.size() <= most) {
        const auto read = uninterrupted(
            [&] { return (*file)->read_some(text.size(), std::as_writable_bytes(std::span<char>(piece))); });
        if (!read) return fail(read.error());
        if (*read == 0) return text;
        text.append(piece.data(), *read);
    }
    return fail(ErrorCode::corrupt, "{}: longer than the {} bytes that such a file may have", path, most);
}

std::string join_path(std::string_view folder, std::string_view name) {
    std::string path(folder);
    while (path.size() > 1 && path.back() == '/')
        path.pop_back();
    if (!path.empty() && path.back() != '/') path += '/';
    path += name;
    return path;
}

}  // namespace cairn
