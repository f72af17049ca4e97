#include "policy/eviction_value.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace cairn {
namespace {

using Kind = CheckpointKind;
constexpr std::size_t kMiB = std::size_t{1} << 20;
constexpr std::size_t kBoundary = 50 * kMiB;
constexpr std::size_t kRowBytes = 32 * 1024;

SnapshotFacts tip() {
    return {.last_use_s = 40, .now_s = 100, .bytes = kBoundary, .tokens_saved = 1000, .seconds_per_token = 0.001};
}

template <class Change>
double changed(Change change) {
    SnapshotFacts facts = tip();
    change(facts);
    return eviction_value(facts);
}

TEST(EvictionValue, OfEqualsTheLeastRecentlyUsedGoesFirstOfEveryKindAndAtEveryAge) {
    for (Kind kind : {Kind::system_end, Kind::last_user, Kind::last_user_end, Kind::prompt_end, Kind::answer_end,
                      Kind::interval, Kind::fork}) {
        for (bool passed : {false, true}) {
            SnapshotFacts facts = tip();
            facts.kind = kind;
            facts.has_descendants = passed;
            double before = std::numeric_limits<double>::infinity();
            for (double age = 0; age < 1e8; age = age * 1.3 + 0.01) {
                facts.last_use_s = facts.now_s - age;
                EXPECT_LT(eviction_value(facts), before) << name_of(kind) << " after " << age << " s";
                before = eviction_value(facts);
            }
        }
    }
}

TEST(EvictionValue, NoStepAnywhere) {
    for (double age = 0.001; age < 1e6; age *= 1.01) {
        const double now = changed([&](auto &f) { f.last_use_s = f.now_s - age; });
        const double later = changed([&](auto &f) { f.last_use_s = f.now_s - age * 1.01; });
        EXPECT_LT(now / later, 1.02) << age;
    }
}

TEST(EvictionValue, SecondsSavedAndBytesFreedCount) {
    EXPECT_NEAR(changed([](auto &f) { f.tokens_saved *= 3; }), 3 * eviction_value(tip()), 1e-15);
    EXPECT_NEAR(changed([](auto &f) { f.seconds_per_token *= 3; }), 3 * eviction_value(tip()), 1e-15);
    EXPECT_NEAR(changed([](auto &f) { f.bytes *= 2; }) / eviction_value(tip()), 0.5, 1e-3);
}

TEST(EvictionValue, UnmeasuredPrefillStillOrdersByTokens) {
    const double little = changed([](auto &f) { f.seconds_per_token = 0; });
    const double much = changed([](auto &f) { f.seconds_per_token = 0, f.tokens_saved *= 2; });
    EXPECT_GT(little, 0);
    EXPECT_NEAR(much / little, 2, 1e-9);
}

TEST(EvictionValue, ACopyInASlowerTierLimitsWhatIsLost) {
    const auto with_copy = [](double seconds) {
        return changed([&](auto &f) { f.slower_copy_seconds = seconds; });  // computing takes 1 s
    };
    EXPECT_NEAR(with_copy(0.1) / eviction_value(tip()), 0.1, 1e-9);
    EXPECT_EQ(with_copy(5), eviction_value(tip()));
    EXPECT_GT(with_copy(0), 0);
    EXPECT_GT(with_copy(-1), 0);
}

TEST(EvictionValue, HitsCountByTheirRoot) {
    const auto hits = [](std::uint64_t n) { return changed([&](auto &f) { f.hits = n, f.last_use_s = -1e6; }); };
    EXPECT_GT(hits(1), hits(0));
    EXPECT_NEAR(hits(99) / hits(0), 10, 0.1);
}

TEST(EvictionValue, AgeIsRelativeToTheSnapshotsOwnHistory) {
    // Both were used ten times, last an hour ago: one every hour, one every second.
    const auto history = [](double interval_s) {
        SnapshotFacts facts = tip();
        facts.now_s = 1e6;
        facts.last_use_s = facts.now_s - 3600;
        facts.hits = 10;
        facts.published_s = facts.last_use_s - 10 * interval_s;
        return chance_of_reuse(facts);
    };
    EXPECT_GT(history(3600), 2 * history(1));
}

TEST(EvictionValue, SharedKindsAgeSlowlyAndPassedEndsAreWorthLeast) {
    const auto after_an_hour = [](Kind kind, bool passed) {
        return changed([&](auto &f) { f.kind = kind, f.has_descendants = passed, f.last_use_s = f.now_s - 3600; });
    };
    EXPECT_GT(after_an_hour(Kind::system_end, true), 3 * after_an_hour(Kind::answer_end, false));
    EXPECT_GT(after_an_hour(Kind::fork, true), 3 * after_an_hour(Kind::prompt_end, false));
    EXPECT_GT(after_an_hour(Kind::answer_end, false), 3 * after_an_hour(Kind::answer_end, true));
    EXPECT_GT(after_an_hour(Kind::last_user_end, true), after_an_hour(Kind::answer_end, true));
    EXPECT_GT(after_an_hour(Kind::prompt_end, false), 3 * after_an_hour(Kind::interval, true));
}

TEST(EvictionValue, ShallowIntervalsAreLikelierThanDeepOnes) {
    const auto at = [](TokenPos position) {
        return changed([&](auto &f) { f.kind = Kind::interval, f.tokens_saved = 8192, f.position = position; });
    };
    EXPECT_GT(at(8192), at(16384));
    EXPECT_GT(at(16384), at(24576));
}

TEST(EvictionValue, IsPositiveAndFiniteForFactsThatMakeNoSense) {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    const SnapshotFacts odd[] = {
        {},
        {.last_use_s = 200, .now_s = 100, .tokens_saved = -5, .seconds_per_token = -1},
        {.last_use_s = nan, .now_s = 1, .seconds_per_token = nan, .slower_copy_seconds = nan, .published_s = nan},
        {.now_s = 1e300, .hits = ~std::uint64_t{0}, .position = -1, .published_s = 1e301},
    };
    for (const SnapshotFacts &facts : odd) {
        EXPECT_GT(eviction_value(facts), 0);
        EXPECT_TRUE(std::isfinite(eviction_value(facts)));
    }
}

// -- policy alone, as a cache would apply it: evict the least valuable, one at a time, until the rest fits
// -------------

struct Kept {
    std::string path;  // of whom: positions of one path build on each other
    TokenPos position;
    Kind kind;
    double last_use_s;
    std::uint64_t hits = 0;
};

class Shelf {
public:
    explicit Shelf(double now_s) : now_s_(now_s) {}

    void add(Kept kept) { kept_.push_back(std::move(kept)); }
    // A prompt computed at once: intervals of 8192, the prompt's end, and the answer's.
    void add_chain(const std::string &path, TokenPos prompt, TokenPos answer, double at_s) {
        for (TokenPos at = 8192; at < prompt; at += 8192)
            add({path, at, Kind::interval, at_s + at * 1e-3});
        add({path, prompt, Kind::prompt_end, at_s + prompt * 1e-3});
        add({path, prompt + answer, Kind::answer_end, at_s + prompt * 1e-3 + 10});
    }
    void evict_down_to(std::size_t count) {
        while (kept_.size() > count) {
            kept_.erase(std::min_element(kept_.begin(), kept_.end(), [this](const Kept &a, const Kept &b) {
                return eviction_value(facts_of(a)) < eviction_value(facts_of(b));
            }));
        }
    }
    [[nodiscard]] TokenPos deepest(const std::string &path, TokenPos limit) const {
        TokenPos best = 0;
        for (const Kept &kept : kept_) {
            if (kept.path == path && kept.position <= limit) best = std::max(best, kept.position);
        }
        return best;
    }

private:
    [[nodiscard]] SnapshotFacts facts_of(const Kept &kept) const {
        const TokenPos beyond = deepest(kept.path, kept.position - 1);
        const bool passed = std::any_of(kept_.begin(), kept_.end(), [&](const Kept &o) {
            return o.path == kept.path && o.position > kept.position;
        });
        const auto rows = passed ? 0 : static_cast<std::size_t>(kept.position - beyond) * kRowBytes;
        return {.last_use_s = kept.last_use_s,
                .now_s = now_s_,
                .bytes = kBoundary + rows,
                .tokens_saved = kept.position - beyond,
                .seconds_per_token = 0.001,
                .hits = kept.hits,
                .kind = kept.kind,
                .has_descendants = passed,
                .position = kept.position};
    }

    double now_s_;
    std::vector<Kept> kept_;
};

TEST(EvictionValue, AForkAtAnIntervalFindsItsStateAmongThreeLongChainsWithRoomForNine) {
    // Whichever of the chains is forked, and however long afterwards.
    for (double pause_s : {1.0, 60.0, 3600.0, 100'000.0}) {
        Shelf shelf(200 + pause_s);
        shelf.add_chain("a", 32767, 60, 0);
        shelf.add_chain("b", 32767, 60, 50);
        shelf.add_chain("c", 32767, 60, 100);
        shelf.evict_down_to(9);
        for (const char *path : {"a", "b", "c"}) {
            EXPECT_EQ(shelf.deepest(path, 8192), 8192) << path << " after " << pause_s;
            EXPECT_GE(shelf.deepest(path, 40000), 32767) << path << " after " << pause_s;
        }
    }
}

TEST(EvictionValue, ChainsThinOutToTheirEndsWhereThereIsRoomForNoMore) {
    Shelf shelf(300);
    for (const char *path : {"a", "b", "c"})
        shelf.add_chain(path, 32767, 60, 0);
    shelf.evict_down_to(3);
    for (const char *path : {"a", "b", "c"})
        EXPECT_GE(shelf.deepest(path, 40000), 32767) << path;
}

TEST(EvictionValue, DeepEndsThatAreContinuedOutliveShallowStatesThatNobodyUses) {
    // One conversation of 20 turns, a turn every 30 s, and 60 prompts whose openings and ends never come back.
    Shelf shelf(700);
    for (TokenPos turn = 1; turn <= 20; ++turn)
        shelf.add({"deep", 60'000 + turn * 500, Kind::answer_end, 30.0 * turn + 30, turn < 20 ? 1u : 0u});
    for (int i = 0; i < 60; ++i) {
        const std::string path = "once" + std::to_string(i);
        shelf.add({path, 500, Kind::system_end, 10.0 * i});
        shelf.add({path, 1500, Kind::prompt_end, 10.0 * i});
    }
    shelf.evict_down_to(8);
    EXPECT_EQ(shelf.deepest("deep", 100'000), 70'000);
}

TEST(EvictionValue, ASharedOpeningOutlivesTheEndsOfPromptsThatNobodyContinues) {
    Shelf shelf(2000);
    shelf.add({"opening", 2000, Kind::system_end, 1400, 20});
    for (int i = 0; i < 60; ++i)
        shelf.add({"once" + std::to_string(i), 2000, Kind::prompt_end, 20.0 * i});
    shelf.evict_down_to(8);
    EXPECT_EQ(shelf.deepest("opening", 2000), 2000);
}

}  // namespace
}  // namespace cairn
