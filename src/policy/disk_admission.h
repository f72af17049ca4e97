// Which snapshots are written to disk: facts in, verdict out.
//
//     ReuseRecord record = ReuseRecord::parse(text_from_catalogue, now);
//     for (each snapshot in RAM that is not on disk)
//         switch (admit_to_disk(facts, record, now)) { case DiskVerdict::write: ...; case DiskVerdict::wait: ask later;
//         ...}
//
// Two goals pull apart. Whatever a restart would miss is on disk seconds after it was last used; and a stream of
// prompts that never come back does not wear the disk: bytes written per byte used stay bounded. The rules, the first
// that applies decides:
//
//     wanted          somebody asked for it (warm)                                    write
//     slower          reading it back would take longer than computing it             slower_than_computing
//     sighted         it has been hit more often than by what went on from it         write, settled or not
//     superseded      a deeper snapshot on its path stands for it                     superseded
//     settling        used less than kSettleSeconds ago                               wait
//     hit             it has been used after it was made                              write
//     else            the record says what share of its class is used: 1 / kMaxWriteRatio or more    write
//                                                                       less          seldom_reused
//
// Private kinds (all but system_end and fork) are passed by their own conversation: its next turn hits them once and
// supersedes them, so they are sighted from the second hit on, and written where they settle as the end. So a running
// conversation writes its end when it pauses, and not each state on the way.
//
// ReuseRecord: of each class (kind, and whether it continues a conversation that was come back to), decayed sums of
// bytes that came up for a decision and of those that were used afterwards. Refused ones count too, so that it learns
// from what happens in RAM, and from lookups that find them gone, and does not stay shut because nothing is written.
//     share = (prior + used) / (prior + offered), at most 1          prior: kPriorSnapshots of mean size, all used
// Of a fresh class the first 64 that are never used pass (equal sizes), then none until something is used. Memory: the
// last kMemorySnapshots or so of each class, and half of it after kReuseHalfLifeSeconds.
//
// Bound: what is written without having been hit is at most 64 snapshots of a class per lapse of memory, and else
// kMaxWriteRatio times what is used. Measured: bench/README.md, "Disk admission".
//
// Ownership: plain values. Threads: none of their own. Cost: a few multiplications. Time is the caller's, in seconds on
// a clock that does not go back; where it does, no time has passed.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "cairn/request.h"
#include "policy/load_or_compute.h"

namespace cairn {

inline constexpr double kSettleSeconds = 2;
inline constexpr double kMaxWriteRatio = 8;

/// What became of a snapshot that was offered to the disk.
enum class DiskVerdict : std::uint8_t {
    write,
    wait,                   ///< ask again: it has not settled
    superseded,             ///< ask again if the deeper one goes or it is hit
    seldom_reused,          ///< its like are not used often enough
    slower_than_computing,  ///< as measured now
};

[[nodiscard]] const char *name_of(DiskVerdict verdict) noexcept;

/// Snapshots whose reuse is learned together.
struct ReuseClass {
    CheckpointKind kind = CheckpointKind::prompt_end;
    bool continued = false;  ///< made by a request that resumed at a private kind of snapshot: a conversation goes on
};

class ReuseRecord {
public:
    static constexpr double kPriorSnapshots = 8;
    static constexpr double kMemorySnapshots = 256;
    static constexpr double kReuseHalfLifeSeconds = 6 * 3600;

    /// The snapshot got its first verdict other than `wait` or `superseded`: once each, written or not.
    void offered(ReuseClass who, std::size_t bytes, double now_s) noexcept;
    /// An offered snapshot was used for the first time after that, from whatever tier; or would have been, had it not
    /// been evicted: a lookup found it gone. Without the latter a small RAM teaches that nothing is used.
    void used(ReuseClass who, std::size_t bytes, double now_s) noexcept;
    /// In (0, 1]: of offered bytes, those that are used.
    [[nodiscard]] double useful_share(ReuseClass who, double now_s) const noexcept;

    /// One line of printable ASCII without quotes, for the catalogue. Holds no time: while nothing runs nothing fades.
    [[nodiscard]] std::string to_text(double now_s) const;
    /// A fresh record where `text` is damaged, foreign or of another version.
    [[nodiscard]] static ReuseRecord parse(std::string_view text, double now_s) noexcept;

private:
    static constexpr std::size_t kKinds = 7;
    struct Tally {
        double snapshots = 0;  // offered; all as of at_s
        double bytes = 0;      // offered
        double used = 0;       // bytes
        double at_s = 0;
    };
    static void fade(Tally &tally, double now_s) noexcept;
    [[nodiscard]] static std::size_t slot(ReuseClass who) noexcept;

    std::array<Tally, kKinds * 2> tallies_{};
};

struct DiskFacts {
    ReuseClass who;
    std::uint64_t hits = 0;
    double idle_s = 0;        ///< since it was last consumed or published; 0 while a request that did so still runs
    bool superseded = false;  ///< a deeper snapshot that can be restored lies on its path
    bool wanted = false;      ///< somebody asked for it to be kept on disk
    LoadFacts read_back;      ///< all of it, against the best that would be there without it
};

[[nodiscard]] DiskVerdict admit_to_disk(const DiskFacts &facts, const ReuseRecord &record, double now_s) noexcept;

}  // namespace cairn
