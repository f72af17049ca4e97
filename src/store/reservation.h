// Budget: a limit on how many of something there may be. Reservation: a part of it, held by whoever has the thing.
//
//     Budget parks("parked snapshots", 4);
//     Result<Reservation> place = parks.reserve(1);    // before the thing is made
//     ...                                              // made: keep `place` beside it; not made: drop it
//
// Since the place is taken before the thing exists and goes with it, the limit holds at every instant.
// Ownership: a reservation must not outlive its budget (checked). Threads: one at a time per budget.
// Errors: capacity when the rest of the budget is smaller.
#pragma once

#include <cstddef>
#include <utility>

#include "base/check.h"
#include "cairn/error.h"

namespace cairn {

class Budget;

/// Move-only. A default-made one holds nothing.
class Reservation {
public:
    Reservation() = default;
    Reservation(Reservation &&other) noexcept
        : budget_(std::exchange(other.budget_, nullptr)), amount_(std::exchange(other.amount_, 0)) {}
    Reservation &operator=(Reservation &&other) noexcept {
        Reservation gone(std::move(other));
        std::swap(budget_, gone.budget_);
        std::swap(amount_, gone.amount_);
        return *this;
    }
    inline ~Reservation();
    [[nodiscard]] std::size_t amount() const noexcept { return amount_; }

private:
    friend class Budget;
    Reservation(Budget &budget, std::size_t amount) noexcept : budget_(&budget), amount_(amount) {}

    Budget *budget_ = nullptr;
    std::size_t amount_ = 0;
};

class Budget {
public:
    /// `noun`: what is counted, for messages.
    Budget(const char *noun, std::size_t limit) noexcept : noun_(noun), limit_(limit) {}
    ~Budget() { CAIRN_CHECK(used_ == 0, "{} {} outlive their budget", used_, noun_); }
    Budget(const Budget &) = delete;
    Budget &operator=(const Budget &) = delete;

    [[nodiscard]] Result<Reservation> reserve(std::size_t amount) {
        if (used_ > limit_ || amount > limit_ - used_) {
            return fail(ErrorCode::capacity, "No room for {} more {}: {} of {} are in use.", amount, noun_, used_,
                        limit_);
        }
        used_ += amount;
        return Reservation(*this, amount);
    }
    /// For what is there already, whether it fits or not: whoever asks brings used() below the limit before more comes.
    [[nodiscard]] Reservation take_over(std::size_t amount) noexcept {
        used_ += amount;
        return {*this, amount};
    }
    [[nodiscard]] std::size_t used() const noexcept { return used_; }
    [[nodiscard]] std::size_t limit() const noexcept { return limit_; }

private:
    friend class Reservation;
    const char *noun_;
    std::size_t limit_;
    std::size_t used_ = 0;
};

Reservation::~Reservation() {
    if (budget_ != nullptr) budget_->used_ -= amount_;
}

}  // namespace cairn
