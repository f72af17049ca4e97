// Fingerprint: what a state belongs to. States with different fingerprints never meet.
//
// Covers the weights and their quantisation, the types the K/V is kept in, adapters with their scales, whatever of the
// context shapes the numbers (rope scaling), and the version of the layout. Made by a backend at load.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <cstring>
#include <functional>
#include <string>

namespace cairn {

struct Fingerprint {
    std::array<std::uint8_t, 16> bytes{};

    friend auto operator<=>(const Fingerprint &, const Fingerprint &) = default;
    /// 32 lowercase hexadecimal digits.
    [[nodiscard]] std::string hex() const;
};

/// Collects the facts a fingerprint is made of. Order and names matter: both go into the hash.
class FingerprintBuilder {
public:
    FingerprintBuilder();
    ~FingerprintBuilder();
    FingerprintBuilder(const FingerprintBuilder &) = delete;
    FingerprintBuilder &operator=(const FingerprintBuilder &) = delete;

    FingerprintBuilder &add(const char *name, const void *data, std::size_t size);
    FingerprintBuilder &add(const char *name, const std::string &value);
    FingerprintBuilder &add(const char *name, std::int64_t value);
    FingerprintBuilder &add(const char *name, double value);
    [[nodiscard]] Fingerprint finish() const;

private:
    struct Impl;
    Impl *impl_;
};

}  // namespace cairn

template <>
struct std::hash<cairn::Fingerprint> {
    std::size_t operator()(const cairn::Fingerprint &f) const noexcept {
        std::size_t value = 0;
        std::memcpy(&value, f.bytes.data(), sizeof value);
        return value;
    }
};
