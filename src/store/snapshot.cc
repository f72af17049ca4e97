#include "store/snapshot.h"

#include <utility>

#include "base/check.h"

namespace cairn {

Snapshot::Snapshot(std::uint64_t id, TokenPos position, CheckpointKind kind, Reservation place, double now_s)
    : id_(id), position_(position), kind_(kind), place_(std::move(place)), last_use_s_(now_s), published_s_(now_s) {
    CAIRN_CHECK(position > 0, "a snapshot of {} tokens", position);
}

Snapshot::~Snapshot() {
    if (in_ram_) rows_.remove_user(Tier::ram);
    if (on_disk_) rows_.remove_user(Tier::disk);
}

std::optional<Tier> Snapshot::tier() const noexcept {
    if (on_device()) return Tier::device;
    if (in_ram_ && rows_.all_in_ram()) return Tier::ram;
    if (in_ram_ || on_disk_) return Tier::disk;
    return std::nullopt;
}

std::string Snapshot::where() const {
    if (gone_) return "gone";
    std::string text;
    const auto add = [&text](bool there, Tier tier) {
        if (there) text += (text.empty() ? "" : " and ") + std::string(name_of(tier));
    };
    add(on_device(), Tier::device);
    add(in_ram_, Tier::ram);
    add(on_disk_, Tier::disk);
    return text.empty() ? "nowhere" : text;
}

const ParkedState &Snapshot::parked() const {
    CAIRN_CHECK(on_device(), "a snapshot that is {} is not parked", where());
    return parked_;
}

void Snapshot::put_on_device(ParkedState parked) {
    CAIRN_CHECK(!on_device() && !gone_ && !parked.empty(), "parking a snapshot that is {}", where());
    parked_ = std::move(parked);
}

void Snapshot::put_in_ram(RowsRef rows, RamBlock boundary) {
    CAIRN_CHECK(!in_ram_ && !gone_, "putting a snapshot in RAM that is {}", where());
    CAIRN_CHECK(!on_disk_ || rows.segment == rows_.segment, "a snapshot has two sets of rows");
    rows_ = std::move(rows);
    boundary_block_ = std::move(boundary);
    in_ram_ = true;
    rows_.add_user(Tier::ram);
}

void Snapshot::put_on_disk(RowsRef rows, DiskFilePtr boundary) {
    CAIRN_CHECK(!on_disk_ && !gone_ && rows.all_on_disk(), "putting a snapshot on disk that is {}", where());
    CAIRN_CHECK(!in_ram_ || rows.segment == rows_.segment, "a snapshot has two sets of rows");
    rows_ = std::move(rows);
    boundary_file_ = std::move(boundary);
    on_disk_ = true;
    rows_.add_user(Tier::disk);
}

void Snapshot::drop_device() {
    CAIRN_CHECK(on_device(), "unparking a snapshot that is {}", where());
    parked_ = ParkedState{};
    leave(Tier::device);
}

void Snapshot::drop_ram() {
    CAIRN_CHECK(in_ram_, "dropping from RAM a snapshot that is {}", where());
    in_ram_ = false;
    boundary_block_ = RamBlock{};
    rows_.remove_user(Tier::ram);
    leave(Tier::ram);
}

void Snapshot::drop_disk() {
    CAIRN_CHECK(on_disk_, "dropping from disk a snapshot that is {}", where());
    on_disk_ = false;
    boundary_file_.reset();
    rows_.remove_user(Tier::disk);
    leave(Tier::disk);
}

void Snapshot::leave(Tier tier) {
    if (tier != Tier::device && !in_ram_ && !on_disk_) rows_ = RowsRef{};
    if (restorable()) return;
    gone_ = true;
    place_ = Reservation{};
}

void Snapshot::count_hit(double now_s) noexcept {
    last_use_s_ = now_s;
    not_before_s_ = 0;
    ++hits_;
}

}  // namespace cairn
