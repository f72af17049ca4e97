#include "store/row_segment.h"

#include <gtest/gtest.h>

namespace cairn {
namespace {

class RowSegments : public testing::Test {
protected:
    RowSegmentPtr segment(RowSegmentPtr parent, TokenSpan span, std::size_t bytes = 64) {
        return std::make_shared<RowSegment>(std::move(parent), span, std::move(*arena_.allocate(bytes)),
                                            Tokens(static_cast<std::size_t>(std::max(0, span.length()))));
    }
    RamArena arena_{64_MiB};
};

TEST_F(RowSegments, AChainBeginsAtTheRoot) {
    const auto root = segment(nullptr, {0, 600});
    const auto child = segment(root, {500, 800});
    EXPECT_EQ((RowsRef{child, 700}.chain()), (std::vector<RowSegment *>{root.get(), child.get()}));
    EXPECT_TRUE((RowsRef{child, 700}.all_in_ram()));
    EXPECT_FALSE((RowsRef{child, 700}.all_on_disk()));
    EXPECT_TRUE(RowsRef{}.chain().empty());
}

TEST_F(RowSegments, ACutRefersToTheLastSegmentThatIsNeeded) {
    const auto root = segment(nullptr, {0, 600});
    const RowsRef rows{segment(root, {500, 800}), 800};
    EXPECT_EQ(rows.cut(501).segment, rows.segment);
    EXPECT_EQ(rows.cut(500).segment, root);
    EXPECT_EQ(rows.cut(500).end, 500);
    EXPECT_EQ(rows.cut(0).segment, nullptr);
    EXPECT_TRUE(rows.cut(0).chain().empty());
}

TEST_F(RowSegments, ScrapsAreLeftOut) {
    const auto root = segment(nullptr, {0, 1000});
    const auto child = segment(root, {14, 1200});
    EXPECT_EQ((RowsRef{root, 14}.without_scraps().end), 0) << "14 tokens would hold a thousand";
    EXPECT_EQ((RowsRef{root, 500}.without_scraps().end), 500);
    EXPECT_EQ((RowsRef{root, 499}.without_scraps().end), 0);
    EXPECT_EQ((RowsRef{child, 1200}.without_scraps().end), 1200) << "what is there already stays as it is";
    EXPECT_EQ((RowsRef{child, 100}.without_scraps().segment), nullptr) << "a scrap of a scrap";
    const auto other = segment(root, {900, 1200});
    EXPECT_EQ((RowsRef{other, 1000}.without_scraps().segment), root);
    EXPECT_EQ((RowsRef{other, 1000}.without_scraps().end), 900);
    EXPECT_EQ(RowsRef{}.without_scraps().end, 0);
}

TEST_F(RowSegments, LiveAsLongAsSomethingNeedsThem) {
    auto root = segment(nullptr, {0, 600}, 128);
    auto child = segment(root, {500, 800}, 64);
    root.reset();
    EXPECT_EQ(arena_.used(), 192u);
    child.reset();
    EXPECT_EQ(arena_.used(), 0u);
}

TEST_F(RowSegments, AVeryLongChainGoesWithoutRecursion) {
    RowSegmentPtr tip;
    for (TokenPos i = 0; i < 200'000; ++i)
        tip = segment(tip, {i, i + 1});
    EXPECT_EQ(arena_.blocks(), 200'000u);
    tip.reset();
    EXPECT_EQ(arena_.used(), 0u);
}

TEST_F(RowSegments, SuspicionCoversTheWholeChainAndNothingBeside) {
    const auto root = segment(nullptr, {0, 600});
    const RowsRef rows{segment(root, {500, 800}), 800};
    const auto sibling = segment(root, {300, 400});
    rows.mark_suspect(true);
    EXPECT_TRUE(rows.suspect());
    EXPECT_TRUE(root->suspect());
    EXPECT_FALSE(sibling->suspect());
    rows.cut(500).mark_suspect(false);
    EXPECT_FALSE(root->suspect());
    EXPECT_TRUE(rows.suspect());
}

TEST_F(RowSegments, AGapBetweenParentAndChildIsADefect) {
    const auto root = segment(nullptr, {0, 100});
    EXPECT_DEATH((void)segment(root, {101, 200}), "do not touch");
    EXPECT_DEATH((void)segment(nullptr, {1, 2}), "need what comes before");
    EXPECT_DEATH((void)segment(nullptr, {0, 0}), "rows");
}

}  // namespace
}  // namespace cairn
