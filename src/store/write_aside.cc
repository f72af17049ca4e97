#include "store/write_aside.h"

#include <fmt/format.h>

#include <memory>
#include <utility>

namespace cairn {

namespace {

std::string folder_of(const std::string &path) {
    const std::size_t slash = path.find_last_of('/');
    if (slash == std::string::npos) return ".";
    return slash == 0 ? "/" : path.substr(0, slash);
}

Status fill_and_sync(File &file, const std::function<Status(File &)> &fill) {
    if (auto done = fill(file); !done) return done;
    return sync(file);
}

Status fill_aside(FileSystem &files, const std::string &aside, const std::function<Status(File &)> &fill) {
    auto file = files.open(aside, OpenMode::create);
    if (!file) return fail(file.error());
    // What an earlier attempt left there goes.
    if (auto done = (*file)->truncate(0); !done) return done;
    return fill_and_sync(**file, fill);
}

struct NewFile {
    std::unique_ptr<File> file;
    std::string path;
};

/// A file beside `path` that was not there before.
Result<NewFile> make_aside(FileSystem &files, const std::string &path) {
    constexpr int kTries = 1000;
    std::string aside = path + kAsideSuffix;
    for (int i = 1;; ++i) {
        auto file = files.open(aside, OpenMode::create_new);
        if (file) return NewFile{std::move(*file), std::move(aside)};
        const bool taken = file.error().code == ErrorCode::invalid_argument && files.kind_of_name(aside);
        if (!taken || i == kTries) return fail(file.error());
        aside = fmt::format("{}.{}{}", path, i, kAsideSuffix);
    }
}

}  // namespace

Status write_aside(FileSystem &files, const std::string &path, const std::function<Status(File &)> &fill) {
    const std::string aside = path + kAsideSuffix;
    auto filled = fill_aside(files, aside, fill);
    if (filled) filled = files.rename(aside, path);
    if (!filled) {
        (void)files.remove(aside);
        return filled;
    }
    auto done = files.sync_directory(folder_of(path));
    if (!done) (void)files.remove(path);  // whoever is told of an error must not find the file later
    return done;
}

Status check_target(FileSystem &files, const std::string &path, Existing existing) {
    if (path.empty()) return fail(ErrorCode::invalid_argument, "no file is named: say which file to write");
    const auto kind = files.kind_of_name(path);
    if (!kind && kind.error().code == ErrorCode::not_found) return {};
    if (!kind) return fail(kind.error());
    if (*kind != FileKind::file) {
        return fail(ErrorCode::invalid_argument,
                    "{} is there and is not a regular file (a link, folder, device or pipe): name another file", path);
    }
    if (existing == Existing::replace) return {};
    return fail(ErrorCode::invalid_argument, "{} is there already: name another file, or replace it with --force",
                path);
}

Status write_for_user(FileSystem &files, const std::string &path, Existing existing,
                      const std::function<Status(File &)> &fill) {
    if (auto free = check_target(files, path, existing); !free) return free;
    auto made = make_aside(files, path);
    if (!made) return fail(made.error());
    auto filled = fill_and_sync(*made->file, fill);
    // Filling took a while: once more.
    if (filled) filled = check_target(files, path, existing);
    if (filled) filled = files.rename(made->path, path);
    if (!filled) {
        (void)files.remove(made->path);
        return filled;
    }
    auto done = files.sync_directory(folder_of(path));
    if (!done && existing == Existing::refuse) (void)files.remove(path);
    return done;
}

}  // namespace cairn
