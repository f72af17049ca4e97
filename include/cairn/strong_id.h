// StrongId<Tag>: integers that name things of one kind and do not convert into each other.
//
//     using RequestId = StrongId<struct RequestTag>;
#pragma once

#include <compare>
#include <cstdint>
#include <functional>

namespace cairn {

template <class Tag, class Rep = std::uint64_t>
class StrongId {
public:
    constexpr StrongId() noexcept = default;
    constexpr explicit StrongId(Rep value) noexcept : value_(value) {}
    [[nodiscard]] constexpr Rep value() const noexcept { return value_; }
    friend constexpr auto operator<=>(const StrongId &, const StrongId &) = default;

private:
    Rep value_ = 0;
};

}  // namespace cairn

template <class Tag, class Rep>
struct std::hash<cairn::StrongId<Tag, Rep>> {
    std::size_t operator()(const cairn::StrongId<Tag, Rep> &id) const noexcept { return std::hash<Rep>{}(id.value()); }
};
