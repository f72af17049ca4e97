// DiskFile: one payload file of the disk tier that is written and in the catalogue. Its end gives it up: the tier
// removes it from the catalogue and the file system, and its bytes from the budget.
//
// Ownership: unique; must not outlive its tier (checked there). Threads: the engine's thread only.
#pragma once

#include <cstdint>
#include <memory>

#include "store/catalogue.h"
#include "store/reservation.h"

namespace cairn {

class DiskTier;

class DiskFile {
public:
    DiskFile(DiskTier &tier, const StoredPayload &facts, Reservation space);
    ~DiskFile();
    DiskFile(const DiskFile &) = delete;
    DiskFile &operator=(const DiskFile &) = delete;

    [[nodiscard]] std::uint64_t id() const noexcept { return facts_.id; }
    [[nodiscard]] const StoredPayload &facts() const noexcept { return facts_; }
    /// Of the payload in it.
    [[nodiscard]] std::size_t bytes() const noexcept { return static_cast<std::size_t>(facts_.bytes); }
    /// What it counts against the budget.
    [[nodiscard]] std::size_t footprint() const noexcept { return space_.amount(); }

private:
    DiskTier &tier_;
    StoredPayload facts_;
    Reservation space_;
};

using DiskFilePtr = std::unique_ptr<DiskFile>;

}  // namespace cairn
