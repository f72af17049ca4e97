#include "server/cors.h"

namespace cairn {

Headers cors_headers(const RequestHead &head) {
    if (head.origin.empty()) return {};
    return {{"Access-Control-Allow-Origin", head.origin},
            {"Access-Control-Allow-Credentials", "true"},
            {"Access-Control-Expose-Headers", "x-request-id, x-cairn-cache, Retry-After"},
            {"Vary", "Origin"}};
}

Reply preflight_reply(const RequestHead &head, std::string_view methods) {
    Reply reply{.status = 204, .content_type = "", .headers = {}, .body = {}};
    reply.headers.emplace_back("Allow", methods);
    reply.headers.emplace_back("Access-Control-Allow-Methods", methods);
    // With credentials "*" would mean a header of that name: what was asked for is said back.
    reply.headers.emplace_back("Access-Control-Allow-Headers",
                               head.asked_headers.empty() ? "Authorization, Content-Type" : head.asked_headers);
    reply.headers.emplace_back("Access-Control-Max-Age", "86400");
    return reply;
}

}  // namespace cairn
