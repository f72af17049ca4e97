#include "state/fingerprint.h"

#include <fmt/format.h>
#include <xxhash.h>

#include "base/check.h"

namespace cairn {

struct FingerprintBuilder::Impl {
    XXH3_state_t *state = nullptr;
};

std::string Fingerprint::hex() const {
    std::string text;
    for (const std::uint8_t byte : bytes)
        text += fmt::format("{:02x}", byte);
    return text;
}

FingerprintBuilder::FingerprintBuilder() : impl_(new Impl{XXH3_createState()}) {
    CAIRN_CHECK(impl_->state != nullptr);
    XXH3_128bits_reset(impl_->state);
}

FingerprintBuilder::~FingerprintBuilder() {
    XXH3_freeState(impl_->state);
    delete impl_;
}

FingerprintBuilder &FingerprintBuilder::add(const char *name, const void *data, std::size_t size) {
    // Lengths go in too, so that two facts never read as one longer fact.
    const std::uint64_t lengths[2] = {std::strlen(name), size};
    XXH3_128bits_update(impl_->state, lengths, sizeof lengths);
    XXH3_128bits_update(impl_->state, name, lengths[0]);
    XXH3_128bits_update(impl_->state, data, size);
    return *this;
}

FingerprintBuilder &FingerprintBuilder::add(const char *name, const std::string &value) {
    return add(name, value.data(), value.size());
}
FingerprintBuilder &FingerprintBuilder::add(const char *name, std::int64_t value) {
    return add(name, &value, sizeof value);
}
FingerprintBuilder &FingerprintBuilder::add(const char *name, double value) {
    return add(name, &value, sizeof value);
}

Fingerprint FingerprintBuilder::finish() const {
    XXH128_canonical_t canonical;
    XXH128_canonicalFromHash(&canonical, XXH3_128bits_digest(impl_->state));
    Fingerprint result;
    static_assert(sizeof canonical.digest == sizeof result.bytes);
    std::memcpy(result.bytes.data(), canonical.digest, sizeof canonical.digest);
    return result;
}

}  // namespace cairn
