#include "config/kv_type.h"

namespace cairn {

const char *name_of(KvType type) noexcept {
    switch (type) {
        case KvType::f32: return "f32";
        case KvType::f16: return "f16";
        case KvType::bf16: return "bf16";
        case KvType::q8_0: return "q8_0";
        case KvType::q4_0: return "q4_0";
        case KvType::q4_1: return "q4_1";
        case KvType::iq4_nl: return "iq4_nl";
        case KvType::q5_0: return "q5_0";
        case KvType::q5_1: return "q5_1";
    }
    return "unknown";
}

std::optional<KvType> kv_type_of(std::string_view name) noexcept {
    for (const KvType type : kKvTypes) {
        if (name == name_of(type)) return type;
    }
    return std::nullopt;
}

std::string kv_type_names() {
    std::string names;
    for (const KvType type : kKvTypes) {
        if (!names.empty()) names += ", ";
        names += name_of(type);
    }
    return names;
}

}  // namespace cairn
