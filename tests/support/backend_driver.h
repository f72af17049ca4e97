// BackendDriver: the calls of a backend as a test wants them. Expected failures of a call that a test takes for granted
// are test failures.
//
//     BackendDriver driver(*backend);
//     driver.feed(a, tokens, 0, 100);
//     auto chain = driver.capture(a, {40, 100});           // rows of [0, 40) and [40, 100), boundary at 100
//     driver.restore(b, chain);
//     auto logits = driver.feed(b, tokens, 100, 120);      // of the last token
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <random>
#include <vector>

#include "model/backend.h"
#include "tests/support/logits.h"

namespace cairn {

using ByteVector = std::vector<std::byte>;

/// A captured prefix: what the store would hold.
struct CapturedChain {
    struct Link {
        TokenSpan span;
        TokenSpan use;
        ByteVector rows;
    };
    std::vector<Link> links;
    ByteVector boundary;
    TokenPos length = 0;

    [[nodiscard]] std::vector<RowsPayload> payloads() const {
        std::vector<RowsPayload> result;
        for (const Link &link : links) {
            if (!link.rows.empty()) result.push_back({link.span, link.use.begin, link.use.end, link.rows});
        }
        return result;
    }
};

/// `count` tokens that depend on `seed` alone.
[[nodiscard]] inline Tokens random_tokens(TokenPos count, unsigned seed) {
    std::mt19937 random(seed);
    Tokens tokens(static_cast<std::size_t>(count));
    for (Token &token : tokens)
        token = static_cast<Token>(random() % 250);
    return tokens;
}

class BackendDriver {
public:
    explicit BackendDriver(Backend &backend) : backend_(backend) {}

    /// Tokens [begin, end) in one batch; the logits behind the last.
    std::vector<float> feed(SeqId seq, const Tokens &tokens, TokenPos begin, TokenPos end) {
        const Status status = backend_.run(batch(seq, tokens, begin, end));
        EXPECT_TRUE(status) << (status ? "" : status.error().what);
        return status ? last(0) : std::vector<float>();
    }

    [[nodiscard]] static Batch batch(SeqId seq, const Tokens &tokens, TokenPos begin, TokenPos end) {
        Batch result;
        for (TokenPos pos = begin; pos < end; ++pos) {
            result.push_back({tokens[static_cast<std::size_t>(pos)], pos, seq, pos + 1 == end});
        }
        return result;
    }

    [[nodiscard]] std::vector<float> last(std::size_t output) {
        const auto logits = backend_.logits(output);
        return {logits.begin(), logits.end()};
    }

    /// Goes on greedily behind `logits`.
    Tokens greedy(SeqId seq, std::span<const float> logits, TokenPos count) {
        Tokens answer;
        std::vector<float> current(logits.begin(), logits.end());
        while (std::cmp_less(answer.size(), count)) {
            answer.push_back(most_likely(current));
            const TokenPos pos = backend_.length(seq);
            const Status status = backend_.run({{answer.back(), pos, seq, true}});
            EXPECT_TRUE(status) << (status ? "" : status.error().what);
            if (!status) break;
            current = last(0);
        }
        return answer;
    }

    /// Rows of [0, cuts[0]), [cuts[0], cuts[1]), ... and the boundary; the last cut is the length of `from`.
    template <class Id>
    CapturedChain capture(Id from, const std::vector<TokenPos> &cuts) {
        CapturedChain chain;
        chain.length = backend_.length(from);
        EXPECT_EQ(cuts.back(), chain.length);
        TokenPos begin = 0;
        for (const TokenPos end : cuts) {
            chain.links.push_back({{begin, end}, {begin, end}, capture_rows(from, {begin, end})});
            begin = end;
        }
        chain.boundary = capture_boundary(from);
        return chain;
    }

    template <class Id>
    ByteVector capture_rows(Id from, TokenSpan span) {
        if (!backend_.layout().has_rows) return {};
        ByteVector bytes(value(backend_.rows_size(from, span)));
        const auto captured = backend_.capture(from, span, bytes, {});
        EXPECT_TRUE(captured) << (captured ? "" : captured.error().what);
        bytes.resize(captured ? captured->rows : 0);
        return bytes;
    }

    template <class Id>
    ByteVector capture_boundary(Id from) {
        if (!backend_.layout().has_boundary) return {};
        ByteVector bytes(value(backend_.boundary_size(from)));
        const TokenPos length = backend_.length(from);
        const auto captured = backend_.capture(from, {length, length}, {}, bytes);
        EXPECT_TRUE(captured) << (captured ? "" : captured.error().what);
        bytes.resize(captured ? captured->boundary : 0);
        return bytes;
    }

    Status try_restore(SeqId seq, const CapturedChain &chain) {
        return backend_.restore(seq, chain.payloads(), chain.boundary, chain.length);
    }
    void restore(SeqId seq, const CapturedChain &chain) {
        const Status status = try_restore(seq, chain);
        ASSERT_TRUE(status) << status.error().what;
        ASSERT_EQ(backend_.length(seq), chain.length);
    }

    ParkId park(SeqId seq) {
        const auto parked = backend_.park(seq);
        EXPECT_TRUE(parked) << (parked ? "" : parked.error().what);
        return parked.value();
    }

private:
    [[nodiscard]] static std::size_t value(const Result<std::size_t> &size) {
        EXPECT_TRUE(size) << (size ? "" : size.error().what);
        return size.value_or(0);
    }

    Backend &backend_;
};

}  // namespace cairn
