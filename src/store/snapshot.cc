#include "store/snapshot.h"

#include <utility>

#include "base/check.h"

namespace cairn {

const char *name_of(Residency residency) noexcept {
    switch (residency) {
        case Residency::none: return "none";
        case Residency::device: return "device";
        case Residency::ram: return "ram";
        case Residency::device_ram: return "device and ram";
        case Residency::gone: return "gone";
    }
    return "unknown";
}

Snapshot::Snapshot(TokenPos position, CheckpointKind kind, Reservation place, double now_s)
    : position_(position), kind_(kind), place_(std::move(place)), last_use_s_(now_s) {
    CAIRN_CHECK(position > 0, "a snapshot of {} tokens", position);
}

bool Snapshot::on_device() const noexcept {
    return residency_ == Residency::device || residency_ == Residency::device_ram;
}

bool Snapshot::in_ram() const noexcept {
    return residency_ == Residency::ram || residency_ == Residency::device_ram;
}

std::optional<Tier> Snapshot::tier() const noexcept {
    if (on_device()) return Tier::device;
    if (in_ram()) return Tier::ram;
    return std::nullopt;
}

const ParkedState &Snapshot::parked() const {
    CAIRN_CHECK(on_device(), "a snapshot that is {} is not parked", name_of(residency_));
    return parked_;
}

const RamPayload &Snapshot::ram() const {
    CAIRN_CHECK(in_ram(), "a snapshot that is {} is not in RAM", name_of(residency_));
    return ram_;
}

void Snapshot::put_on_device(ParkedState parked) {
    CAIRN_CHECK(!on_device() && !gone() && !parked.empty(), "parking a snapshot that is {}", name_of(residency_));
    parked_ = std::move(parked);
    move_to(residency_ == Residency::ram ? Residency::device_ram : Residency::device);
}

void Snapshot::put_in_ram(RamPayload payload) {
    CAIRN_CHECK(!in_ram() && !gone(), "putting a snapshot in RAM that is {}", name_of(residency_));
    ram_ = std::move(payload);
    move_to(residency_ == Residency::device ? Residency::device_ram : Residency::ram);
}

void Snapshot::drop_device() {
    CAIRN_CHECK(on_device(), "unparking a snapshot that is {}", name_of(residency_));
    parked_ = ParkedState{};
    move_to(residency_ == Residency::device_ram ? Residency::ram : Residency::gone);
}

void Snapshot::drop_ram() {
    CAIRN_CHECK(in_ram(), "dropping from RAM a snapshot that is {}", name_of(residency_));
    ram_ = RamPayload{};
    move_to(residency_ == Residency::device_ram ? Residency::device : Residency::gone);
}

void Snapshot::move_to(Residency next) {
    residency_ = next;
    if (next == Residency::gone) place_ = Reservation{};
}

void Snapshot::count_hit(double now_s) noexcept {
    last_use_s_ = now_s;
    ++hits_;
}

}  // namespace cairn
