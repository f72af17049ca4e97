// DeviceTier: states kept on the device as parked sequences, which copies nothing.
//
//     if (tier.has_room_for(seq)) { Result<ParkedState> parked = tier.park(seq); ... }
//     tier.adopt(*parked, other, length);       // `other` shares it
//                                               // the ParkedState's end drops it
//
// Its bytes are the backend's to count (cells that several parked states share count once), so has_room_for() asks what
// parking would add before anything is parked. The third limit is on cells, which cost everybody time rather than
// memory: the tier estimates them from its bytes and the layout's sizes, so that it can tell before it parks.
//
// Ownership: borrows the backend; a ParkedState must not outlive either. Threads: the backend's thread.
// Errors: capacity where a budget or the backend is full. Others are the backend's.
// Cost: no payload moves.
#pragma once

#include <cstddef>
#include <utility>

#include "cairn/error.h"
#include "model/backend.h"
#include "store/reservation.h"

namespace cairn {

/// One parked sequence; move-only. A default-made one holds nothing.
class ParkedState {
public:
    ParkedState() = default;
    ParkedState(Backend &backend, ParkId id, Reservation place) noexcept
        : backend_(&backend), id_(id), place_(std::move(place)) {}
    ParkedState(ParkedState &&other) noexcept
        : backend_(std::exchange(other.backend_, nullptr)), id_(other.id_), place_(std::move(other.place_)) {}
    ParkedState &operator=(ParkedState &&other) noexcept {
        ParkedState gone(std::move(other));
        std::swap(backend_, gone.backend_);
        std::swap(id_, gone.id_);
        std::swap(place_, gone.place_);
        return *this;
    }
    ~ParkedState() {
        if (backend_ != nullptr) backend_->drop(id_);
    }
    [[nodiscard]] ParkId id() const noexcept { return id_; }
    [[nodiscard]] bool empty() const noexcept { return backend_ == nullptr; }

private:
    Backend *backend_ = nullptr;
    ParkId id_;
    Reservation place_;
};

struct DeviceLimits {
    std::size_t bytes = 0;   ///< of parked states
    TokenPos cells = 0;      ///< tokens whose rows are parked, shared ones once
    std::size_t parked = 0;  ///< parked states
};

class DeviceTier {
public:
    /// `limits.parked` is lowered to what the backend can park; to 0 where it cannot.
    DeviceTier(Backend &backend, DeviceLimits limits);

    /// True where parking `seq` now keeps all limits.
    [[nodiscard]] bool has_room_for(SeqId seq) const;
    /// True where parking `seq` could keep all limits if nothing else were parked.
    [[nodiscard]] bool could_hold(SeqId seq) const;
    /// More cells serve nothing but parked states than the limit allows.
    [[nodiscard]] bool over_cell_limit() const { return backend_.cells_only_parked() > limits_.cells; }
    [[nodiscard]] Result<ParkedState> park(SeqId seq);

    [[nodiscard]] std::size_t bytes() const { return backend_.parked_bytes(); }
    [[nodiscard]] std::size_t budget() const noexcept { return limits_.bytes; }
    [[nodiscard]] std::size_t parked() const noexcept { return places_.used(); }
    [[nodiscard]] std::size_t max_parked() const noexcept { return places_.limit(); }
    void check_invariants() const;

private:
    [[nodiscard]] bool within_limits(std::size_t bytes, std::size_t parked) const;

    Backend &backend_;
    DeviceLimits limits_;
    Budget places_;
};

}  // namespace cairn
