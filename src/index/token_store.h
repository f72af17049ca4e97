// TokenStore: the tokens of a tree's edges, as linked chunks of 126.
//
//     edge of 300 tokens        [126] -> [126] -> [48]
//     cut behind 200            [126] -> [74]          and   [52] -> [48]      (one spare chunk, one small copy)
//     the two joined again      [126] -> [74] -> [100]                         (no allocation: neighbours that fit
//     join)
//
// Why chunks: a cut or a join moves no more than one chunk's tokens and needs at most one spare chunk, so an erase
// needs no memory at all, and what a shorter edge leaves behind is used again at once. One exact block per published
// path lost: joining two blocks needs memory in a place that must not fail, and 10 live tokens could pin a block of
// 100,000. Refcounted slices of blocks lost for the second reason. A chunk is 512 bytes: long enough to compare at the
// speed of memory, short against the megabytes of any checkpoint's state.
//
// Ownership: a TokenList is a plain handle; whoever holds it (a node, a reservation) releases it.
// Threads: one at a time.
// Cost: linear in the tokens touched; comparing runs at memcmp's speed.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <utility>

#include "base/check.h"
#include "cairn/types.h"
#include "index/pool.h"

namespace cairn {

struct TokenChunk {
    static constexpr std::uint32_t kTokens = 126;

    PoolId next = kNoId;  ///< of the same list
    std::uint32_t count = 0;
    // Not initialised: a chunk is filled by whoever takes it.
    Token tokens[kTokens];

    TokenChunk() noexcept {}  // NOLINT: `= default` would let a value-initialisation clear the tokens
};
static_assert(sizeof(TokenChunk) == 512);

/// Tokens in chunks, none of which is empty.
struct TokenList {
    PoolId first = kNoId;
    PoolId last = kNoId;

    [[nodiscard]] bool empty() const noexcept { return first == kNoId; }
};

/// A place between two tokens of a list; `chunk` is kNoId behind the last one.
struct TokenCursor {
    PoolId before = kNoId;  ///< the chunk in front of `chunk`
    PoolId chunk = kNoId;
    std::uint32_t offset = 0;  ///< tokens of `chunk` in front of the place; less than its count

    [[nodiscard]] bool at_end() const noexcept { return chunk == kNoId; }
};

/// How many tokens `a` and `b` share from their beginnings on.
[[nodiscard]] inline std::size_t shared_prefix(TokenView a, TokenView b) noexcept {
    const std::size_t count = std::min(a.size(), b.size());
    if (std::memcmp(a.data(), b.data(), count * sizeof(Token)) == 0) return count;
    return static_cast<std::size_t>(
        std::mismatch(a.begin(), a.begin() + static_cast<std::ptrdiff_t>(count), b.begin()).first - a.begin());
}

class TokenStore {
public:
    explicit TokenStore(MemoryMeter &meter) noexcept : chunks_(meter) {}

    [[nodiscard]] static constexpr std::size_t chunks_for(std::size_t tokens) noexcept {
        return (tokens + TokenChunk::kTokens - 1) / TokenChunk::kTokens;
    }
    [[nodiscard]] bool make_room(std::size_t chunks) noexcept { return chunks_.make_room(chunks); }
    [[nodiscard]] std::size_t chunks_in_use() const noexcept { return chunks_.in_use(); }
    [[nodiscard]] PoolId take_spare() noexcept { return chunks_.take(); }
    void give_back_spare(PoolId chunk) noexcept { chunks_.give_back(chunk); }
    void release_all() noexcept { chunks_.release(); }

    /// A copy of `tokens`: every chunk but the last is full. make_room() must have promised the chunks.
    [[nodiscard]] TokenList copy_in(TokenView tokens) noexcept {
        TokenList list;
        while (!tokens.empty()) {
            const PoolId id = chunks_.take();
            TokenChunk &chunk = chunks_[id];
            chunk.count = static_cast<std::uint32_t>(std::min<std::size_t>(tokens.size(), TokenChunk::kTokens));
            std::memcpy(chunk.tokens, tokens.data(), chunk.count * sizeof(Token));
            tokens = tokens.subspan(chunk.count);
            link(list, id);
        }
        return list;
    }

    void copy_out(TokenList list, Token *out) const noexcept {
        for (PoolId id = list.first; id != kNoId; id = chunks_[id].next) {
            std::memcpy(out, chunks_[id].tokens, chunks_[id].count * sizeof(Token));
            out += chunks_[id].count;
        }
    }

    void release(TokenList list) noexcept {
        if (!list.empty()) chunks_.give_back_list(list.first, list.last, chunks_of(list));
    }

    [[nodiscard]] Token front(TokenList list) const noexcept { return chunks_[list.first].tokens[0]; }
    [[nodiscard]] TokenCursor begin(TokenList list) const noexcept { return {kNoId, list.first, 0}; }

    /// The tokens from `at` to the end of its chunk; nothing at the end of the list.
    [[nodiscard]] TokenView run(const TokenCursor &at) const noexcept {
        if (at.at_end()) return {};
        const TokenChunk &chunk = chunks_[at.chunk];
        // The next chunk is rarely in a cache: ask for it while this one is compared.
        if (chunk.next != kNoId) __builtin_prefetch(&chunks_[chunk.next]);
        return {chunk.tokens + at.offset, chunk.count - at.offset};
    }

    /// Moves `at` on by `tokens`, at most the length of run(at).
    void advance(TokenCursor &at, std::size_t tokens) const noexcept {
        at.offset += static_cast<std::uint32_t>(tokens);
        if (at.at_end() || at.offset < chunks_[at.chunk].count) return;
        at = {at.chunk, chunks_[at.chunk].next, 0};
    }

    /// Cuts `list` at `at`, which is not its begin or end: returns the front, leaves the back in `list`. Uses `spare`,
    /// and sets it to kNoId, where the cut lies inside a chunk.
    [[nodiscard]] TokenList cut(TokenList &list, TokenCursor at, PoolId &spare) noexcept {
        if (at.offset != 0) split_chunk(list, at, spare);
        const TokenList head{list.first, at.before};
        chunks_[at.before].next = kNoId;
        list.first = at.chunk;
        return head;
    }

    /// Releases the tokens in front of `at`, which is not the end of the list.
    void drop_front(TokenList &list, const TokenCursor &at) noexcept {
        if (at.before != kNoId) {
            chunks_.give_back_list(list.first, at.before, chunks_between(list.first, at.chunk));
            list.first = at.chunk;
        }
        if (at.offset == 0) return;
        TokenChunk &chunk = chunks_[at.chunk];
        chunk.count -= at.offset;
        std::memmove(chunk.tokens, chunk.tokens + at.offset, chunk.count * sizeof(Token));
        join_with_next(list, at.chunk);
    }

    /// `head` and `tail` as one list.
    [[nodiscard]] TokenList join(TokenList head, TokenList tail) noexcept {
        TokenList whole{head.first, tail.last};
        chunks_[head.last].next = tail.first;
        join_with_next(whole, head.last);
        return whole;
    }

    /// Number of tokens; aborts where the list is malformed. Adds its chunks to `chunks`.
    [[nodiscard]] std::size_t check(TokenList list, std::size_t &chunks) const {
        std::size_t tokens = 0;
        for (PoolId id = list.first; id != kNoId; id = chunks_[id].next) {
            const TokenChunk &chunk = chunks_[id];
            CAIRN_CHECK(chunk.count > 0 && chunk.count <= TokenChunk::kTokens, "a chunk of {} tokens", chunk.count);
            CAIRN_CHECK((chunk.next == kNoId) == (id == list.last), "a list's last chunk is not its last");
            tokens += chunk.count;
            ++chunks;
        }
        return tokens;
    }

    [[nodiscard]] std::size_t chunks_of(TokenList list) const noexcept { return chunks_between(list.first, kNoId); }

private:
    [[nodiscard]] std::size_t chunks_between(PoolId first, PoolId end) const noexcept {
        std::size_t count = 0;
        for (PoolId id = first; id != end; id = chunks_[id].next)
            ++count;
        return count;
    }

    void link(TokenList &list, PoolId id) noexcept {
        if (list.empty()) {
            list.first = id;
        } else {
            chunks_[list.last].next = id;
        }
        list.last = id;
    }

    // Moves what lies behind `at` from its chunk into the spare one, and `at` to the begin of that.
    void split_chunk(TokenList &list, TokenCursor &at, PoolId &spare) noexcept {
        TokenChunk &front = chunks_[at.chunk];
        TokenChunk &back = chunks_[spare];
        back.count = front.count - at.offset;
        std::memcpy(back.tokens, front.tokens + at.offset, back.count * sizeof(Token));
        back.next = front.next;
        front.next = spare;
        front.count = at.offset;
        if (list.last == at.chunk) list.last = spare;
        at = {at.chunk, std::exchange(spare, kNoId), 0};
    }

    // Keeps lists dense under many cuts and joins: two neighbours that fit one chunk become one.
    void join_with_next(TokenList &list, PoolId id) noexcept {
        TokenChunk &chunk = chunks_[id];
        const PoolId next_id = chunk.next;
        if (next_id == kNoId) return;
        const TokenChunk &next = chunks_[next_id];
        if (chunk.count + next.count > TokenChunk::kTokens) return;
        std::memcpy(chunk.tokens + chunk.count, next.tokens, next.count * sizeof(Token));
        chunk.count += next.count;
        chunk.next = next.next;
        if (list.last == next_id) list.last = id;
        chunks_.give_back(next_id);
    }

    Pool<TokenChunk, 7> chunks_;
};

/// Where a walk takes its tokens from: a caller's view ...
class ViewSource {
public:
    explicit ViewSource(TokenView tokens) noexcept : rest_(tokens) {}
    [[nodiscard]] TokenView run() const noexcept { return rest_; }
    void advance(std::size_t tokens) noexcept { rest_ = rest_.subspan(tokens); }

private:
    TokenView rest_;
};

/// ... or a list in a store.
class ListSource {
public:
    ListSource(const TokenStore &store, TokenList list) noexcept : store_(store), at_(store.begin(list)) {}
    [[nodiscard]] TokenView run() const noexcept { return store_.run(at_); }
    void advance(std::size_t tokens) noexcept { store_.advance(at_, tokens); }
    [[nodiscard]] const TokenCursor &place() const noexcept { return at_; }

private:
    const TokenStore &store_;
    TokenCursor at_;
};

/// Moves `edge` and `source` on by the tokens they share from there on, and returns how many these are.
template <class Source>
[[nodiscard]] std::size_t advance_while_equal(const TokenStore &store, TokenCursor &edge, Source &source) noexcept {
    std::size_t total = 0;
    for (;;) {
        const TokenView mine = store.run(edge);
        const TokenView theirs = source.run();
        if (mine.empty() || theirs.empty()) return total;
        const std::size_t shared = shared_prefix(mine, theirs);
        store.advance(edge, shared);
        source.advance(shared);
        total += shared;
        if (shared < std::min(mine.size(), theirs.size())) return total;
    }
}

}  // namespace cairn
