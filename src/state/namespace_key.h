// NamespaceKey: model fingerprint + tenant salt. Nothing crosses it.
#pragma once

#include <compare>
#include <functional>
#include <string>

#include "state/fingerprint.h"

namespace cairn {

struct NamespaceKey {
    Fingerprint model;
    std::string tenant;

    friend auto operator<=>(const NamespaceKey &, const NamespaceKey &) = default;
};

}  // namespace cairn

template <>
struct std::hash<cairn::NamespaceKey> {
    std::size_t operator()(const cairn::NamespaceKey &key) const noexcept {
        return std::hash<cairn::Fingerprint>{}(key.model) ^
               (std::hash<std::string>{}(key.tenant) * 0x9e3779b97f4a7c15u);
    }
};
