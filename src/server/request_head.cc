#include "server/request_head.h"

#include <charconv>

namespace cairn {
namespace {

std::string text_of(beast::string_view text) {
    return {text.data(), text.size()};
}

}  // namespace

RequestHead head_of(const RequestParser &parser) {
    const auto &message = parser.get();
    RequestHead head;
    head.method = text_of(message.method_string());
    head.path = path_of({message.target().data(), message.target().size()});
    head.host = text_of(message[http::field::host]);
    head.authorization = text_of(message[http::field::authorization]);
    head.api_key = text_of(message["X-Api-Key"]);
    head.origin = text_of(message[http::field::origin]);
    head.asked_headers = text_of(message[http::field::access_control_request_headers]);
    head.encoding = text_of(message[http::field::content_encoding]);
    head.expect = text_of(message[http::field::expect]);
    head.transfer = text_of(message[http::field::transfer_encoding]);
    head.http_1_0 = message.version() < 11;
    head.keep_alive = parser.keep_alive();
    const auto length = message[http::field::content_length];
    head.has_body = !head.transfer.empty() || !(length.empty() || length == "0");
    return head;
}

std::string_view path_of(std::string_view target) noexcept {
    target = target.substr(0, target.find_first_of("?#"));
    if (target.empty() || target.front() == '/' || target == "*") return target;
    const auto scheme = target.find("://");
    if (scheme == std::string_view::npos) return target;
    const auto slash = target.find('/', scheme + 3);
    return slash == std::string_view::npos ? std::string_view("/") : target.substr(slash);
}

std::string percent_decoded(std::string_view text) {
    std::string result;
    result.reserve(text.size());
    for (std::size_t i = 0; i < text.size(); ++i) {
        unsigned char byte = 0;
        if (text[i] == '%' && i + 2 < text.size()) {
            const char *end = text.data() + i + 3;
            const auto parsed = std::from_chars(text.data() + i + 1, end, byte, 16);
            if (parsed.ec == std::errc{} && parsed.ptr == end) {
                result += static_cast<char>(byte);
                i += 2;
                continue;
            }
        }
        result += text[i];
    }
    return result;
}

}  // namespace cairn
