#include "api/json_bytes.h"

namespace cairn {

bool is_utf8(const std::string &text) {
    try {
        (void)Json(text).dump();
        return true;
    } catch (const Json::exception &) {
        return false;
    }
}

Json json_bytes(std::string_view bytes) {
    Json numbers = Json::array();
    for (const char byte : bytes)
        numbers.push_back(static_cast<unsigned char>(byte));
    return numbers;
}

}  // namespace cairn
