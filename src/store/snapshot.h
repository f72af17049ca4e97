// Snapshot: one checkpoint of a token prefix, and where its payloads are now. The index's entry.
//
//               put_on_device                 put_in_ram
//     none ----------------------> device -----------------> device_ram
//       |                           |  ^  <-----------------   |
//       | put_in_ram     drop_device|  |put_on_device drop_ram |
//       +--------------> ram <------|--|-----------------------+ drop_device
//                         |         |  |     (ram -> device_ram by put_on_device)
//                drop_ram |         | drop_device
//                         v         v
//                            gone                    final: never matchable again
//
// A snapshot is restorable in RAM when its boundary (where the model has one) and rows over [0, position) (where the
// model has them) are there; on the device when it is parked. Only complete payloads are ever put in.
//
// Ownership: the store tracks it, the index and leases share it. Its payloads go with the residency, not with the
// object. Threads: the engine's thread only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "cairn/request.h"
#include "cairn/types.h"
#include "store/device_tier.h"
#include "store/ram_arena.h"
#include "store/reservation.h"
#include "store/row_segment.h"

namespace cairn {

enum class Residency : std::uint8_t { none, device, ram, device_ram, gone };

[[nodiscard]] const char *name_of(Residency residency) noexcept;

/// What a snapshot holds in RAM. Either may be empty where the model has no such part.
struct RamPayload {
    RowsRef rows;
    RamBlock boundary;
};

class Snapshot {
public:
    /// `place`: its part of the budget of snapshots, given back when it is gone.
    Snapshot(TokenPos position, CheckpointKind kind, Reservation place, double now_s);
    Snapshot(const Snapshot &) = delete;
    Snapshot &operator=(const Snapshot &) = delete;

    [[nodiscard]] TokenPos position() const noexcept { return position_; }
    [[nodiscard]] CheckpointKind kind() const noexcept { return kind_; }
    [[nodiscard]] Residency residency() const noexcept { return residency_; }
    [[nodiscard]] bool on_device() const noexcept;
    [[nodiscard]] bool in_ram() const noexcept;
    [[nodiscard]] bool gone() const noexcept { return residency_ == Residency::gone; }
    [[nodiscard]] bool restorable() const noexcept { return on_device() || in_ram(); }
    /// The fastest tier that holds all of it.
    [[nodiscard]] std::optional<Tier> tier() const noexcept;

    [[nodiscard]] const ParkedState &parked() const;  ///< checked: on_device()
    [[nodiscard]] const RamPayload &ram() const;      ///< checked: in_ram()

    void put_on_device(ParkedState parked);
    void put_in_ram(RamPayload payload);
    void drop_device();
    void drop_ram();

    [[nodiscard]] double last_use_s() const noexcept { return last_use_s_; }
    [[nodiscard]] std::uint32_t hits() const noexcept { return hits_; }
    [[nodiscard]] bool leased() const noexcept { return leases_ != 0; }
    [[nodiscard]] std::uint32_t leases() const noexcept { return leases_; }
    /// Somebody published the same prefix again.
    void refresh(double now_s) noexcept { last_use_s_ = now_s; }
    /// Its state has been restored.
    void count_hit(double now_s) noexcept;

private:
    friend class SnapshotLease;
    friend class SnapshotStore;
    void move_to(Residency next);

    static constexpr std::size_t kUntracked = static_cast<std::size_t>(-1);

    TokenPos position_;
    CheckpointKind kind_;
    Residency residency_ = Residency::none;
    bool write_behind_failed_ = false;  // the store's: do not try again while idle
    Reservation place_;
    ParkedState parked_;
    RamPayload ram_;
    double last_use_s_;
    std::uint32_t hits_ = 0;
    std::uint32_t leases_ = 0;
    std::size_t tracked_at_ = kUntracked;  // the store's: index in its list
};

using SnapshotPtr = std::shared_ptr<Snapshot>;

}  // namespace cairn
