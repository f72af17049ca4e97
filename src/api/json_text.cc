#include "api/json_text.h"

namespace cairn {

std::string json_text(const Json &json) {
    return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

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
