#include "index/token_store.h"

#include <gtest/gtest.h>

#include <numeric>

namespace cairn {
namespace {

class TokenStoreTest : public ::testing::Test {
protected:
    TokenStoreTest() { EXPECT_TRUE(store_.make_room(100)); }

    TokenList list_of(std::size_t count) {
        Tokens tokens(count);
        std::iota(tokens.begin(), tokens.end(), 0);
        return store_.copy_in(tokens);
    }
    TokenCursor cursor_at(TokenList list, std::size_t position) {
        TokenCursor at = store_.begin(list);
        while (position > 0) {
            const std::size_t step = std::min(position, store_.run(at).size());
            store_.advance(at, step);
            position -= step;
        }
        return at;
    }
    // The tokens of `list`, which must be `count` numbers from `first` on.
    void expect_numbers(TokenList list, std::size_t first, std::size_t count) {
        std::size_t chunks = 0;
        ASSERT_EQ(store_.check(list, chunks), count);
        Tokens tokens(count);
        store_.copy_out(list, tokens.data());
        for (std::size_t i = 0; i < count; ++i)
            ASSERT_EQ(tokens[i], static_cast<Token>(first + i));
    }

    MemoryMeter meter_{1 << 20};
    TokenStore store_{meter_};
};

TEST_F(TokenStoreTest, CutsAndJoinsAtEveryPosition) {
    for (std::size_t at = 1; at < 300; ++at) {
        TokenList back = list_of(300);
        PoolId spare = store_.take_spare();
        const TokenList front = store_.cut(back, cursor_at(back, at), spare);
        EXPECT_EQ(spare != kNoId, at % TokenChunk::kTokens == 0) << at;
        expect_numbers(front, 0, at);
        expect_numbers(back, at, 300 - at);
        if (spare != kNoId) store_.give_back_spare(spare);
        const TokenList whole = store_.join(front, back);
        expect_numbers(whole, 0, 300);
        store_.release(whole);
        ASSERT_EQ(store_.chunks_in_use(), 0u);
    }
}

TEST_F(TokenStoreTest, DropsTheFrontAtEveryPosition) {
    for (std::size_t at = 0; at < 300; ++at) {
        TokenList list = list_of(300);
        store_.drop_front(list, cursor_at(list, at));
        expect_numbers(list, at, 300 - at);
        store_.release(list);
        ASSERT_EQ(store_.chunks_in_use(), 0u);
    }
}

TEST_F(TokenStoreTest, JoinedListsStayDense) {
    TokenList whole = list_of(1);
    for (std::size_t i = 1; i < 1000; ++i) {
        const Token token = static_cast<Token>(i);
        whole = store_.join(whole, store_.copy_in(TokenView(&token, 1)));
    }
    expect_numbers(whole, 0, 1000);
    EXPECT_EQ(store_.chunks_of(whole), TokenStore::chunks_for(1000));
}

}  // namespace
}  // namespace cairn
