#include "store/write_aside.h"

namespace cairn {

namespace {

std::string folder_of(const std::string &path) {
    const std::size_t slash = path.find_last_of('/');
    if (slash == std::string::npos) return ".";
    return slash == 0 ? "/" : path.substr(0, slash);
}

Status fill_aside(FileSystem &files, const std::string &aside, const std::function<Status(File &)> &fill) {
    auto file = files.open(aside, OpenMode::create);
    if (!file) return fail(file.error());
    // What an earlier attempt left there goes.
    if (auto done = (*file)->truncate(0); !done) return done;
    if (auto done = fill(**file); !done) return done;
    return sync(**file);
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

}  // namespace cairn
