// ServerLimits: how long a connection may take over each thing, and how much may wait for it.
//
// Nothing a client does or leaves undone holds a connection longer than these. Tests shorten them.
#pragma once

#include <chrono>
#include <cstddef>

namespace cairn {

struct ServerLimits {
    std::chrono::milliseconds idle{75'000};     ///< from one answer to the next request's first byte
    std::chrono::milliseconds head{10'000};     ///< from a request's first byte to the end of its header
    std::chrono::milliseconds body{120'000};    ///< for a whole body
    std::chrono::milliseconds write{60'000};    ///< for a client to take the next 64 KiB of an answer
    std::chrono::milliseconds farewell{2'000};  ///< reading on behind the last answer, so that it arrives
    std::size_t max_head_bytes = std::size_t{64} << 10;
    std::size_t max_queued_bytes = std::size_t{8} << 20;  ///< events that wait for a client which does not read
    std::size_t max_ahead_bytes = std::size_t{64} << 10;  ///< of further requests, read while one is answered
    int io_threads = 2;
    int parse_threads = 2;  ///< templates and tokenizers run there: a long prompt must not hold up others' tokens
};

}  // namespace cairn
