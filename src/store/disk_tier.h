// DiskTier: payload files and their catalogue, written by a thread of its own.
//
//     engine's thread                      writer's thread
//     reserve -> write(order) --queue-->   check free space, write each file aside, flush, rename; then one transaction
//     poll() <------------ outcome -----   in the catalogue: all parts or none
//     DiskFile's end  --queue-->           remove the row, then the file
//
//     if (!tier.writing()) tier.write(std::move(order));       // never blocks: one order at a time is the bound
//     if (auto outcome = tier.poll()) ...                      // in a later step
//
// The queue is worked off in order, so what is freed before an order is queued is free when it is written, and the
// budget holds at every instant. Orders read blocks of the RAM tier in place: whoever gives one pins them meanwhile.
// Reading is on the caller's thread: a restore waits for it anyway. The writer gives way to everybody, so whoever waits
// for it does the work that is left himself.
//
// Ownership: owns the directory, with its lock. DiskFiles must not outlive it. Threads: all calls on the engine's.
// Errors: of a write, in its outcome. Removals and notes of use are best effort: they fail into a counter, and the next
// opening of the directory finds what is left over.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "cairn/error.h"
#include "env/env.h"
#include "metrics/metrics.h"
#include "store/cache_directory.h"
#include "store/disk_file.h"
#include "store/payload_file.h"
#include "store/reservation.h"

namespace cairn {

struct DiskLimits {
    std::size_t bytes = 0;               ///< of payload files, each rounded up to whole blocks of 4 KiB
    std::uint64_t free_space_bytes = 0;  ///< of the file system that writing leaves free for others
    bool yields = true;                  ///< the writer takes only what others leave of the processor
};

/// One snapshot on its way to the disk. The bytes stay where they are until its outcome is there.
struct WriteOrder {
    struct Piece {
        PayloadHeader header;
        Bytes bytes;
    };
    CatalogueEntry entry;       ///< its payloads are those of `pieces`
    std::vector<Piece> pieces;  ///< may be none, where all is on disk already
};

struct WriteOutcome {
    Status status;
    std::size_t bytes = 0;  ///< of the files written
    double seconds = 0;
};

class DiskTier {
public:
    DiskTier(CacheDirectory directory, DiskLimits limits, Env &env, Metrics &metrics);
    ~DiskTier();
    DiskTier(const DiskTier &) = delete;
    DiskTier &operator=(const DiskTier &) = delete;

    /// What the directory held when it was opened. Once.
    [[nodiscard]] CatalogueContent take_content() { return std::move(content_); }
    [[nodiscard]] const std::string &path() const noexcept { return directory_.path(); }
    /// A name for a new snapshot or payload.
    [[nodiscard]] std::uint64_t next_id() noexcept { return ++last_id_; }

    [[nodiscard]] Result<Reservation> reserve(std::size_t bytes) { return space_.reserve(footprint(bytes)); }
    [[nodiscard]] Reservation take_over(std::size_t bytes) { return space_.take_over(footprint(bytes)); }
    [[nodiscard]] std::size_t used() const noexcept { return space_.used(); }
    [[nodiscard]] std::size_t budget() const noexcept { return space_.limit(); }
    /// What a file of so many bytes counts.
    [[nodiscard]] static std::size_t footprint(std::size_t file_bytes) noexcept;

    [[nodiscard]] bool writing() const noexcept { return writing_; }
    void write(WriteOrder order);  ///< checked: !writing()
    /// The outcome of the order under way, once it is done.
    [[nodiscard]] std::optional<WriteOutcome> poll();
    /// Blocks until it is done. Nothing where none is under way.
    [[nodiscard]] std::optional<WriteOutcome> wait();

    /// From now on files outlive their DiskFiles: the program ends, and what is on disk stays there.
    void keep_files() noexcept { keeping_ = true; }
    void remove_snapshot(std::uint64_t id) {
        if (!keeping_) removed_snapshots_.push_back(id);
    }
    void note_use(const SnapshotUse &use) { uses_.push_back(use); }
    void set_fact(std::string name, std::string value);
    [[nodiscard]] std::string fact(const std::string &name);  ///< before the first write(): reads on this thread
    /// Blocks until the files that `write` makes in the directory, and the rows of `entry`, are there; or none of them.
    /// The caller holds room for them.
    [[nodiscard]] Status take_in(const CatalogueEntry &entry, std::function<Status(const CacheDirectory &)> write);
    /// What another process that finds the lock is told.
    [[nodiscard]] Status describe_holder(std::string_view holder) { return directory_.describe_holder(holder); }
    [[nodiscard]] const std::vector<std::string> &notes() const noexcept { return directory_.notes; }
    /// Hands over what has been removed and noted since the last call.
    void flush();
    /// Blocks until everything handed over is done, then leaves the directory tidy.
    void settle();

    [[nodiscard]] Result<OpenPayload> open(const DiskFile &file) const;

private:
    friend class DiskFile;
    struct Removal {
        std::vector<std::uint64_t> snapshots;
        std::vector<std::uint64_t> payloads;
    };
    using Job = std::function<void()>;

    void give_up(const DiskFile &file) {
        if (!keeping_) removed_payloads_.push_back(file.id());
    }
    void queue(Job job);
    void work();
    void work_off(std::unique_lock<std::mutex> &lock);
    template <class Done>
    void help_until(Done done);
    [[nodiscard]] Status carry_out(const CatalogueEntry &entry, const std::function<Status()> &write);
    [[nodiscard]] Status write_files(const WriteOrder &order);
    [[nodiscard]] Status check_free_space(const CatalogueEntry &entry);
    void carry_out(const Removal &removal);
    void count_failure(const char *what, const Error &error);

    CacheDirectory directory_;  // its catalogue: the writer's thread only, once it runs
    const DiskLimits limits_;
    Env &env_;
    Metrics &metrics_;
    Budget space_;
    CatalogueContent content_;
    std::uint64_t last_id_ = 0;
    bool writing_ = false;
    bool keeping_ = false;
    std::vector<std::uint64_t> removed_snapshots_;
    std::vector<std::uint64_t> removed_payloads_;
    std::vector<SnapshotUse> uses_;

    std::mutex mutex_;  // guards everything below but thread_
    std::condition_variable changed_;
    std::deque<Job> jobs_;
    bool busy_ = false;
    bool stopping_ = false;
    std::optional<WriteOutcome> outcome_;

    std::thread thread_;  // last: everything it uses is there before it starts
};

}  // namespace cairn
