#include "index/child_map.h"

#include <gtest/gtest.h>

#include "index/pool.h"

namespace cairn {
namespace {

struct Item {
    PoolId next = kNoId;
    PoolId parent = kNoId;
    PoolId hash_next = kNoId;
    Token first_token = 0;
};

TEST(ChildMap, FindsEachChildWhileItGrowsAndShrinks) {
    MemoryMeter meter(64 << 20);
    Pool<Item, 6> items(meter);
    ChildMap<Pool<Item, 6>> map(meter, items);
    constexpr PoolId kCount = 3000;
    ASSERT_TRUE(items.make_room(kCount));
    ASSERT_TRUE(map.make_room(kCount));
    for (PoolId i = 0; i < kCount; ++i) {
        const PoolId id = items.take();
        items[id].parent = i % 7;
        items[id].first_token = static_cast<Token>(i / 7) - 100;
        EXPECT_EQ(map.find(i % 7, static_cast<Token>(i / 7) - 100), kNoId);
        map.insert(id);
    }
    for (PoolId i = 0; i < kCount; i += 2)
        map.remove(i);
    EXPECT_EQ(map.size(), kCount / 2);
    for (PoolId i = 0; i < kCount; ++i) {
        EXPECT_EQ(map.find(i % 7, static_cast<Token>(i / 7) - 100), i % 2 == 0 ? kNoId : i);
    }
    EXPECT_EQ(map.find(8, 0), kNoId);
}

TEST(SlabArray, TakesExactlyWhatIsNeededWhereMoreIsRefused) {
    constexpr std::size_t kSlabBytes = 16 * sizeof(std::uint64_t);
    MemoryMeter meter(12 * (kSlabBytes + 32));
    SlabArray<std::uint64_t, 4> array(meter);
    ASSERT_TRUE(array.grow_to(8 * 16));
    std::uint64_t *const first = array.slot(0);
    ASSERT_TRUE(array.grow_to(8 * 16 + 1));  // half more would be four slabs
    EXPECT_EQ(array.capacity(), 12u * 16);
    EXPECT_EQ(array.slot(0), first);
    ASSERT_TRUE(array.grow_to(12 * 16 + 1));  // half more is refused, one slab is not
    EXPECT_EQ(array.capacity(), 13u * 16);
    const std::size_t used = meter.used();
    EXPECT_FALSE(array.grow_to(40 * 16));
    EXPECT_EQ(array.capacity(), 13u * 16);
    EXPECT_EQ(meter.used(), used);
    array.release();
    EXPECT_EQ(meter.used(), 0u);
}

}  // namespace
}  // namespace cairn
