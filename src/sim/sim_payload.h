// The bytes in which a simulated state is captured. Each payload is one header and one body:
//
//     offset  size
//     0       4     kind: "ROWS", "BNDR" or "WHOL"
//     4       4     begin of the span (boundary, whole: 0)
//     8       4     end of the span, or the position of the boundary
//     12      4     numbers in the body
//     16      8     the first half of the model's fingerprint
//     24      8     XXH3 of the body
//     32            body: 64-bit numbers, each padded to its stride with copies of itself
//
// Numbers are in the machine's order: these bytes never leave the process that wrote them, save in tests.
//
// Errors: corrupt for anything that is not exactly what was captured for that place. With SimConfig::checks_payloads
// false only the size has to be right, and damaged bytes become wrong numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/bytes.h"
#include "cairn/error.h"
#include "cairn/types.h"
#include "sim/sim_state.h"
#include "state/fingerprint.h"

namespace cairn {

class SimPayloads {
public:
    static constexpr std::size_t kHeader = 32;

    SimPayloads(const SimConfig &config, const Fingerprint &fingerprint);

    /// Bytes of the rows of `span` (0 for an empty span or a family without rows by span).
    [[nodiscard]] std::size_t rows_size(TokenSpan span) const;
    /// Bytes of the boundary at `length` (0 for a family without one).
    [[nodiscard]] std::size_t boundary_size(TokenPos length) const;

    /// Write exactly rows_size() and boundary_size() bytes; the room must be there.
    void write_rows(const SimState &state, TokenSpan span, MutableBytes to) const;
    void write_boundary(const SimState &state, MutableBytes to) const;

    /// Appends the rows of `span` that lie in `use` to `state`.
    [[nodiscard]] Status read_rows(Bytes from, TokenSpan span, TokenSpan use, SimState &state) const;
    /// Sets the boundary at `length`, which the state then has.
    [[nodiscard]] Status read_boundary(Bytes from, TokenPos length, SimState &state) const;

private:
    struct Header;
    /// The numbers of a body, as they lie in it: rows first.
    struct Body {
        std::vector<std::uint64_t> rows;
        std::vector<std::uint64_t> carried;
    };
    [[nodiscard]] std::size_t body_size(std::size_t rows, std::size_t carried) const;
    [[nodiscard]] Header header(std::uint32_t kind, TokenSpan span, std::size_t rows, std::size_t carried) const;
    void write(Header header, const Body &body, MutableBytes to) const;
    [[nodiscard]] Result<Body> read(Bytes from, const Header &expected) const;
    [[nodiscard]] Header boundary_header(TokenPos length) const;

    SimFamily family_;
    TokenPos window_;
    std::size_t row_stride_;
    std::size_t carried_stride_;
    bool checks_;
    Fingerprint owner_;
};

}  // namespace cairn
