// What only the real file system has: permissions, links, pipes, other processes. The rest:
// file_system_contract_test.cc.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>

#include "env/file_system.h"
#include "tests/support/temp_folder.h"

namespace cairn {
namespace {

class PosixFiles : public testing::Test {
protected:
    [[nodiscard]] std::string at(std::string_view name) const { return join_path(folder_.path(), name); }
    void put(const std::string &name, std::string_view text) {
        const auto file = files_.open(at(name), OpenMode::create);
        ASSERT_TRUE(file) << file.error().what;
        ASSERT_TRUE(write_all(**file, 0, std::as_bytes(std::span(text))));
    }
    [[nodiscard]] mode_t permissions(const std::string &name) const {
        struct stat status {};
        EXPECT_EQ(::stat(at(name).c_str(), &status), 0);
        return status.st_mode & 07777;
    }

    TempFolder folder_;
    FileSystem &files_ = posix_file_system();
};

template <class T>
ErrorCode code_of(const Result<T> &result) {
    return result ? ErrorCode::internal : result.error().code;
}

TEST_F(PosixFiles, AreForTheirOwnerAlone) {
    const mode_t before = ::umask(0);
    EXPECT_TRUE(files_.make_directories(at("d/e")));
    put("d/f", "secret");
    EXPECT_TRUE(files_.lock(at("lock")));
    ::umask(before);
    EXPECT_EQ(permissions("d"), 0700u);
    EXPECT_EQ(permissions("d/e"), 0700u);
    EXPECT_EQ(permissions("d/f"), 0600u);
    EXPECT_EQ(permissions("lock"), 0600u);
}

TEST_F(PosixFiles, DoNotReachProgramsThatAreStarted) {
    const auto file = files_.open(at("a"), OpenMode::create);
    const auto lock = files_.lock(at("lock"));
    ASSERT_TRUE(file);
    ASSERT_TRUE(lock);
    const auto open_files = files_.list("/proc/self/fd");
    ASSERT_TRUE(open_files);
    int ours = 0;
    for (const auto &entry : *open_files) {
        std::array<char, 4096> target{};
        const std::string link = "/proc/self/fd/" + entry.name;
        if (::readlink(link.c_str(), target.data(), target.size() - 1) <= 0) continue;
        if (std::string_view(target.data()).find(folder_.path()) == std::string_view::npos) continue;
        ++ours;
        EXPECT_NE(::fcntl(std::stoi(entry.name), F_GETFD) & FD_CLOEXEC, 0) << target.data();
    }
    EXPECT_EQ(ours, 2);
}

TEST_F(PosixFiles, PipesSocketsAndDevicesAreRefusedWithoutWaiting) {
    ASSERT_EQ(::mkfifo(at("pipe").c_str(), 0600), 0);
    const int socket = ::socket(AF_UNIX, SOCK_STREAM, 0);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    at("socket").copy(address.sun_path, sizeof(address.sun_path) - 1);
    ASSERT_EQ(::bind(socket, reinterpret_cast<const sockaddr *>(&address), sizeof(address)), 0);
    for (const std::string &path : {at("pipe"), at("socket"), std::string("/dev/null")}) {
        for (const auto mode : {OpenMode::read, OpenMode::read_write, OpenMode::create})
            EXPECT_EQ(code_of(files_.open(path, mode)), ErrorCode::invalid_argument) << path;
        EXPECT_EQ(code_of(files_.lock(path)), ErrorCode::invalid_argument) << path;
        EXPECT_EQ(files_.info(path).value().kind, FileKind::other) << path;
    }
    ::close(socket);
    const auto entries = files_.list(folder_.path()).value();
    for (const auto &entry : entries)
        EXPECT_EQ(entry.kind, FileKind::other) << entry.name;
}

TEST_F(PosixFiles, ALinkIsNeitherLockedThroughNorTakenForWhatItLeadsTo) {
    put("target", "hello");
    ASSERT_EQ(::symlink(at("target").c_str(), at("link").c_str()), 0);
    ASSERT_EQ(::symlink(at("nothing").c_str(), at("dangling").c_str()), 0);
    ASSERT_EQ(::symlink(at("circle").c_str(), at("circle").c_str()), 0);
    for (const char *name : {"link", "dangling", "circle"}) {
        const auto lock = files_.lock(at(name));
        ASSERT_FALSE(lock) << name;
        EXPECT_EQ(lock.error().code, ErrorCode::invalid_argument);
        EXPECT_NE(lock.error().what.find("symbolic link"), std::string::npos) << lock.error().what;
        EXPECT_EQ(files_.kind_of_name(at(name)).value(), FileKind::other) << name;
    }
    EXPECT_EQ(code_of(files_.info(at("nothing"))), ErrorCode::not_found) << "nothing was made behind the link";
}

TEST_F(PosixFiles, SymbolicLinksAreFollowedButNotRemovedThrough) {
    put("target", "hello");
    ASSERT_EQ(::symlink(at("target").c_str(), at("link").c_str()), 0);
    ASSERT_EQ(::symlink(at("nowhere").c_str(), at("dangling").c_str()), 0);
    ASSERT_EQ(::symlink(at("circle").c_str(), at("circle").c_str()), 0);
    EXPECT_EQ(read_text(files_, at("link")).value(), "hello");
    EXPECT_EQ(files_.info(at("link")).value().kind, FileKind::file);
    EXPECT_EQ(files_.info(at("link")).value().size, 5u);
    EXPECT_EQ(code_of(files_.info(at("dangling"))), ErrorCode::not_found);
    EXPECT_EQ(code_of(files_.make_directories(at("dangling"))), ErrorCode::invalid_argument);
    EXPECT_EQ(code_of(files_.open(at("circle"), OpenMode::read)), ErrorCode::io);
    const auto entries = files_.list(folder_.path()).value();
    for (const auto &entry : entries)
        EXPECT_EQ(entry.kind, entry.name == "target" ? FileKind::file : FileKind::other) << entry.name;
    ASSERT_TRUE(files_.remove(at("link")));
    EXPECT_EQ(read_text(files_, at("target")).value(), "hello");
}

TEST_F(PosixFiles, ALinkToAFolderIsAFolder) {
    ASSERT_TRUE(files_.make_directories(at("d")));
    ASSERT_EQ(::symlink(at("d").c_str(), at("link").c_str()), 0);
    EXPECT_TRUE(files_.make_directories(at("link/e")));
    EXPECT_TRUE(files_.sync_directory(at("link")));
    EXPECT_EQ(files_.list(at("link")).value().size(), 1u);
}

TEST_F(PosixFiles, FilesOfTheKernelHaveTextAlthoughTheyHaveNoSize) {
    EXPECT_EQ(files_.info("/proc/self/status").value().size, 0u);
    EXPECT_NE(read_text(files_, "/proc/self/status").value().find("Name:"), std::string::npos);
}

TEST_F(PosixFiles, AForeignDiskCannotBeRenamedTo) {
    put("a", "hello");
    const auto moved = files_.rename(at("a"), "/proc/a");
    EXPECT_EQ(code_of(moved), ErrorCode::io);
    EXPECT_EQ(read_text(files_, at("a")).value(), "hello");
}

TEST_F(PosixFiles, TooManyOpenFilesAreAnErrorThatSaysWhatToDo) {
    const int most = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    ::close(most);
    const pid_t child = ::fork();
    if (child == 0) {
        // In a process of its own: the limit cannot be raised again without privileges.
        const rlimit limit{static_cast<rlim_t>(most), static_cast<rlim_t>(most)};
        ::setrlimit(RLIMIT_NOFILE, &limit);
        const auto file = posix_file_system().open(at("a"), OpenMode::create);
        const bool right =
            !file && file.error().code == ErrorCode::io && file.error().what.find("ulimit -n") != std::string::npos;
        ::_exit(right ? 0 : 1);
    }
    int status = -1;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
}

/// A process that holds a lock, from its construction until end().
class Holder {
public:
    explicit Holder(const std::string &path) {
        EXPECT_EQ(::pipe(says_.data()), 0);
        child_ = ::fork();
        if (child_ != 0) {
            char answer = 0;
            EXPECT_EQ(::read(says_[0], &answer, 1), 1);
            EXPECT_EQ(answer, 'y');
            return;
        }
        const auto lock = posix_file_system().lock(path);
        (void)!::write(says_[1], lock ? "y" : "n", 1);
        for (;;)
            ::pause();
    }
    ~Holder() {
        ::close(says_[0]);
        ::close(says_[1]);
    }
    /// Violently.
    void end() const {
        ::kill(child_, SIGKILL);
        int status = 0;
        EXPECT_EQ(::waitpid(child_, &status, 0), child_);
    }

private:
    std::array<int, 2> says_{};
    pid_t child_ = 0;
};

TEST_F(PosixFiles, AnotherProcessesLockHoldsUntilItsEndHoweverViolent) {
    const Holder holder(at("lock"));
    EXPECT_EQ(code_of(files_.lock(at("lock"))), ErrorCode::capacity);
    holder.end();
    EXPECT_TRUE(files_.lock(at("lock")));
}

}  // namespace
}  // namespace cairn
