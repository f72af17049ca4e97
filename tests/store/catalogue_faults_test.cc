// The catalogue on a disk that lies: kills, losses of power, full disks, failing operations, flipped bits.
#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <random>
#include <set>
#include <utility>

#include "store/catalogue.h"
#include "tests/store/catalogue_bench.h"

namespace cairn {
namespace {

using namespace test;

/// How far a script came on a disk that fails for ever from some operation on.
struct Reached {
    std::size_t steps = 0;    ///< acknowledged
    std::size_t flushed = 0;  ///< of them, up to the last that flushes
    bool opened = false;
};

Reached run_until_it_fails(SimFileSystem &disk, const std::vector<Step> &steps) {
    Reached reached;
    auto catalogue = Catalogue::open(disk, kCataloguePath);
    if (!catalogue) return reached;
    reached.opened = true;
    for (const Step &step : steps) {
        if (!step.run(*catalogue)) break;
        ++reached.steps;
        if (step.flushes) reached.flushed = reached.steps;
    }
    return reached;
}

/// Operations that the script takes where nothing fails.
std::uint64_t operations_of(const std::vector<Step> &steps) {
    const auto disk = empty_disk();
    const std::uint64_t before = disk->operations();
    EXPECT_EQ(run_until_it_fails(*disk, steps).steps, steps.size());
    return disk->operations() - before;
}

/// Which of `contents` it is; none where it is none.
std::optional<std::size_t> place_in(const std::vector<std::string> &contents, const std::string &content,
                                    std::size_t from, std::size_t to) {
    for (std::size_t i = from; i <= std::min(to, contents.size() - 1); ++i) {
        if (contents[i] == content) return i;
    }
    return std::nullopt;
}

TEST(CatalogueFaults, AKillLosesNothingThatWasAcknowledged) {
    const auto steps = script();
    const auto contents = contents_of(steps);
    const std::uint64_t operations = operations_of(steps);
    ASSERT_GT(operations, 150u);
    for (std::uint64_t n = 1; n <= operations; ++n) {
        const auto disk = empty_disk();
        disk->fail_operation(n, ErrorCode::io, Repeat::for_ever);
        const Reached reached = run_until_it_fails(*disk, steps);
        disk->kill();
        const std::string content = text_at(*disk);
        // The step that was under way may be there, whole.
        EXPECT_TRUE(place_in(contents, content, reached.steps, reached.steps + 1))
            << "killed at operation " << n << " after " << reached.steps << " steps:\n"
            << content;
    }
}

TEST(CatalogueFaults, ALossOfPowerLeavesWholeTransactionsUpToSomeOne) {
    const auto steps = script();
    const auto contents = contents_of(steps);
    const std::uint64_t operations = operations_of(steps);
    std::size_t lost = 0;
    for (std::uint64_t n = 1; n <= operations; ++n) {
        const auto before = empty_disk();
        before->fail_operation(n, ErrorCode::io, Repeat::for_ever);
        const Reached reached = run_until_it_fails(*before, steps);
        for (std::uint64_t seed = 1; seed <= 6; ++seed) {
            const auto disk = before->clone();
            disk->crash(seed * 1000 + n);
            const std::string content = text_at(*disk);
            const auto place = place_in(contents, content, reached.flushed, reached.steps + 1);
            EXPECT_TRUE(place) << "no power at operation " << n << " after " << reached.steps << " steps, seed " << seed
                               << ":\n"
                               << content;
            if (place && *place < reached.steps) ++lost;
        }
    }
    EXPECT_GT(lost, 0u) << "no loss of power had any effect: the test is blind";
}

TEST(CatalogueFaults, ItGoesOnAfterALossOfPower) {
    const auto steps = script();
    const auto before = empty_disk();
    ASSERT_EQ(run_until_it_fails(*before, steps).steps, steps.size());
    for (std::uint64_t seed = 1; seed <= 200; ++seed) {
        const auto disk = before->clone();
        disk->crash(seed);
        std::string content;
        {
            auto catalogue = Catalogue::open(*disk, kCataloguePath);
            ASSERT_TRUE(catalogue.has_value()) << catalogue.error().what;
            const Status done = catalogue->put(entry_of(1000, {}, 20));
            ASSERT_TRUE(done.has_value()) << done.error().what;
            content = text_of(*catalogue);
        }
        disk->kill();
        EXPECT_EQ(text_at(*disk), content) << seed;
    }
}

/// One failure at each operation in turn; each step is tried again after it failed.
void expect_survives(ErrorCode fault, std::set<ErrorCode> expected) {
    const auto steps = script();
    const auto contents = contents_of(steps);
    const std::uint64_t operations = operations_of(steps);
    std::size_t failures = 0;
    for (std::uint64_t n = 1; n <= operations; ++n) {
        const auto disk = empty_disk();
        disk->fail_operation(n, fault);
        auto catalogue = Catalogue::open(*disk, kCataloguePath);
        if (!catalogue) {
            EXPECT_TRUE(expected.contains(catalogue.error().code)) << n << ": " << catalogue.error().what;
            ++failures;
            catalogue = Catalogue::open(*disk, kCataloguePath);
        }
        ASSERT_TRUE(catalogue.has_value()) << n << ": " << catalogue.error().what;
        for (std::size_t i = 0; i < steps.size(); ++i) {
            Status done = steps[i].run(*catalogue);
            if (!done) {
                EXPECT_TRUE(expected.contains(done.error().code)) << n << ": " << done.error().what;
                EXPECT_NE(done.error().what.find("/cache"), std::string::npos) << done.error().what;
                ++failures;
                EXPECT_EQ(text_of(*catalogue), contents[i]) << "step " << i << " failed at operation " << n;
                done = steps[i].run(*catalogue);
            }
            ASSERT_TRUE(done.has_value()) << "step " << i << " after operation " << n << ": " << done.error().what;
        }
        EXPECT_EQ(text_of(*catalogue), contents.back()) << n;
        disk->kill();
        catalogue = fail(ErrorCode::cancelled, "closed");
        EXPECT_EQ(text_at(*disk), contents.back()) << n;
    }
    // Some operations may fail unseen (a checkpoint on the way, closing), but not many.
    EXPECT_GT(failures, operations * 3 / 4);
}

TEST(CatalogueFaults, AFailingOperationFailsOneStepAndChangesNothing) {
    expect_survives(ErrorCode::io, {ErrorCode::io});
}

TEST(CatalogueFaults, AFullDiskAtAnyOperationFailsOneStepAndChangesNothing) {
    expect_survives(ErrorCode::capacity, {ErrorCode::capacity});
}

TEST(CatalogueFaults, AFullDiskIsToldAndForgottenWhenThereIsRoomAgain) {
    const auto disk = empty_disk();
    auto catalogue = Catalogue::open(*disk, kCataloguePath);
    ASSERT_TRUE(catalogue.has_value());
    ASSERT_TRUE(catalogue->put(entry_of(10)).has_value());
    const std::string before = text_of(*catalogue);
    disk->set_space(1 << 30, 1000);
    const Status full = catalogue->put(entry_of(20));
    ASSERT_FALSE(full.has_value());
    EXPECT_EQ(full.error().code, ErrorCode::capacity) << full.error().what;
    EXPECT_EQ(text_of(*catalogue), before);
    disk->set_space(1 << 30, 1 << 20);
    EXPECT_TRUE(catalogue->put(entry_of(20)).has_value());
}

TEST(CatalogueFaults, ADiskWithoutRoomForTheLogStillLetsRowsGoOnceItWasWrittenThrough) {
    const auto disk = empty_disk();
    auto catalogue = Catalogue::open(*disk, kCataloguePath);
    ASSERT_TRUE(catalogue.has_value());
    const auto big = [](std::uint64_t id) {
        return entry_of(id, {}, 1'200'000);
    };  // more pages than a checkpoint waits for
    ASSERT_TRUE(catalogue->put(big(10)).has_value());
    ASSERT_TRUE(catalogue->put(entry_of(20)).has_value());
    disk->set_space(1 << 30, 0);
    const Status done = catalogue->remove(std::vector<std::uint64_t>{20}, std::vector<std::uint64_t>{21, 22});
    EXPECT_TRUE(done.has_value()) << done.error().what;
    EXPECT_EQ(catalogue->load()->namespaces.at(0).snapshots.size(), 1u);
}

TEST(CatalogueFaults, ShortAndInterruptedOperationsChangeNothing) {
    const auto steps = script();
    const auto contents = contents_of(steps);
    for (std::uint64_t seed = 1; seed <= 8; ++seed) {
        const auto disk = empty_disk();
        disk->set_short_io(seed);
        EXPECT_EQ(run_until_it_fails(*disk, steps).steps, steps.size());
        EXPECT_EQ(text_at(*disk), contents.back());
    }
}

TEST(CatalogueFaults, LossesOfPowerInTheMiddleOfACheckpointOnTheWay) {
    std::vector<Step> steps;
    Base base;
    for (std::uint64_t id = 10; id <= 40; id += 10) {
        const CatalogueEntry entry = entry_of(id, base, 400'000);  // 390 pages
        base = base_of(entry);
        steps.push_back({[entry](Catalogue &c) { return c.put(entry); }});
    }
    const auto contents = contents_of(steps);
    const std::uint64_t operations = operations_of(steps);
    ASSERT_GT(operations, 4000u) << "no checkpoint: the test is blind";
    for (std::uint64_t n = 3; n <= operations; n += operations / 41) {
        const auto disk = empty_disk();
        disk->fail_operation(n, ErrorCode::io, Repeat::for_ever);
        const Reached reached = run_until_it_fails(*disk, steps);
        disk->crash(n);
        EXPECT_TRUE(place_in(contents, text_at(*disk), 0, reached.steps + 1)) << n;
    }
}

TEST(CatalogueFaults, ASweepThatFailsIsMadeUpByTheNextLoad) {
    const auto disk = empty_disk();
    {
        auto catalogue = Catalogue::open(*disk, kCataloguePath);
        ASSERT_TRUE(catalogue.has_value());
        ASSERT_TRUE(catalogue->put(entry_of(10)).has_value());
        ASSERT_TRUE(catalogue->put(entry_of(20)).has_value());
        ASSERT_TRUE(catalogue->remove({}, std::vector<std::uint64_t>{12}).has_value());  // 10 is not whole now
    }
    auto catalogue = Catalogue::open(*disk, kCataloguePath);
    ASSERT_TRUE(catalogue.has_value());
    disk->set_space(1 << 30, 0);
    const auto first = catalogue->load();
    ASSERT_TRUE(first.has_value()) << first.error().what;
    const auto second = catalogue->load();
    ASSERT_TRUE(second.has_value());
    EXPECT_GT(second->dropped_rows, 0u);
    EXPECT_EQ(text_of(*first), text_of(*second));
    disk->clear_faults();
    disk->set_space(1 << 30, 1 << 20);
    ASSERT_TRUE(catalogue->load().has_value());
    EXPECT_EQ(catalogue->load()->dropped_rows, 0u);
}

// -- flipped bits ----------------------------------------------------------------------------------------------------

/// What a damaged catalogue may still say: rows that were there.
class Originals {
public:
    explicit Originals(const CatalogueContent &content) {
        for (const StoredNamespace &ns : content.namespaces) {
            for (const StoredPayload &payload : ns.payloads)
                payloads_[payload.id] = {line_of(ns), payload};
            for (const StoredSnapshot &snapshot : ns.snapshots)
                snapshots_[snapshot.id] = {line_of(ns), snapshot};
        }
    }
    /// Each row is an original one, and has all that it builds on.
    void expect_holds(const CatalogueContent &content, const std::string &what) const {
        for (const StoredNamespace &ns : content.namespaces) {
            const std::string key = line_of(ns);
            std::set<std::uint64_t> payloads{0};
            for (const StoredPayload &payload : ns.payloads) {
                EXPECT_TRUE(payloads_.contains(payload.id) && payloads_.at(payload.id) == std::pair(key, payload))
                    << what << line_of(payload);
                EXPECT_TRUE(payloads.contains(payload.parent)) << what << line_of(payload);
                EXPECT_TRUE(payloads.insert(payload.id).second) << what << line_of(payload);
            }
            std::set<std::uint64_t> snapshots{0};
            for (const StoredSnapshot &snapshot : ns.snapshots) {
                EXPECT_TRUE(is_original(key, snapshot)) << what << line_of(snapshot);
                EXPECT_TRUE(snapshots.contains(snapshot.parent)) << what << line_of(snapshot);
                EXPECT_TRUE(payloads.contains(snapshot.rows)) << what << line_of(snapshot);
                EXPECT_TRUE(payloads.contains(snapshot.boundary)) << what << line_of(snapshot);
                EXPECT_TRUE(snapshots.insert(snapshot.id).second) << what << line_of(snapshot);
            }
        }
    }

private:
    /// It, or its path.
    bool is_original(const std::string &ns, const StoredSnapshot &snapshot) const {
        const auto at = snapshots_.find(snapshot.id);
        if (at == snapshots_.end() || at->second.first != ns) return false;
        StoredSnapshot expected = at->second.second;
        if (!snapshot.live) {
            expected.live = false;
            expected.rows = expected.boundary = expected.hits = 0;
            expected.last_use_unix_s = expected.created_unix_s;
        }
        return snapshot == expected;
    }
    std::map<std::uint64_t, std::pair<std::string, StoredPayload>> payloads_;
    std::map<std::uint64_t, std::pair<std::string, StoredSnapshot>> snapshots_;
};

/// A catalogue in several pages of each table, all of it in the database's file or, `in_log`, some in the log.
std::unique_ptr<SimFileSystem> filled_disk(bool in_log) {
    auto disk = empty_disk();
    auto catalogue = Catalogue::open(*disk, kCataloguePath);
    EXPECT_TRUE(catalogue.has_value());
    std::vector<Base> bases{{}};
    std::mt19937 random(7);
    for (std::uint64_t id = 10; id <= 600; id += 10) {
        const Base base = bases[random() % bases.size()];
        const TokenPos count = id % 70 == 0 ? 1500 : 20 + static_cast<TokenPos>(random() % 60);
        const CatalogueEntry entry = entry_of(id, base, count);
        EXPECT_TRUE(catalogue->put(entry).has_value());
        bases.push_back(base_of(entry));
    }
    EXPECT_TRUE(catalogue->remove(std::vector<std::uint64_t>{50, 200, 330}, {}).has_value());
    EXPECT_TRUE(catalogue->set_fact("rate", "5").has_value());
    if (!in_log) {
        EXPECT_TRUE(catalogue->tidy().has_value());
    }
    return disk;
}

/// Opens and loads; with `write` writes and loads again, too. What is read must be original; nothing may crash. What
/// happened.
std::string use_damaged(SimFileSystem &disk, const Originals &originals, const std::string &what, bool write) {
    auto catalogue = Catalogue::open(disk, kCataloguePath);
    if (!catalogue) {
        const ErrorCode code = catalogue.error().code;
        EXPECT_TRUE(code == ErrorCode::corrupt || code == ErrorCode::unsupported) << what << catalogue.error().what;
        return name_of(code);
    }
    const auto content = catalogue->load();
    if (!content) {
        EXPECT_EQ(content.error().code, ErrorCode::corrupt) << what << content.error().what;
        return "corrupt while loading";
    }
    originals.expect_holds(*content, what);
    const std::string outcome = content->dropped_rows > 0 ? "rows dropped" : "unharmed";
    if (!write) return outcome;
    const CatalogueEntry more = entry_of(5000, {}, 30, namespace_key(5));
    const Status put = catalogue->put(more);
    EXPECT_TRUE(put || put.error().code == ErrorCode::corrupt) << what << put.error().what;
    const Status removed = catalogue->remove(std::vector<std::uint64_t>{5000}, std::vector<std::uint64_t>{5001, 5002});
    EXPECT_TRUE(removed || removed.error().code == ErrorCode::corrupt) << what << removed.error().what;
    const auto again = catalogue->load();
    if (again && put && removed) originals.expect_holds(*again, what);
    return outcome;
}

TEST(CatalogueFaults, AFlippedBitInTheDatabaseIsFoundOrHarmless) {
    const auto whole = filled_disk(false);
    const Originals originals(*Catalogue::open(*whole, kCataloguePath)->load());
    const std::uint64_t bits = whole->content(kCataloguePath).size() * 8;
    std::mt19937_64 random(11);
    std::map<std::string, int> outcomes;
    for (int i = 0; i < 3000; ++i) {
        // The header, the beginnings of pages (where the tree is), and everywhere.
        std::uint64_t bit = random() % bits;
        if (i < 800) bit = static_cast<std::uint64_t>(i);
        if (i >= 800 && i % 3 == 0) bit = bit / 32768 * 32768 + random() % 512;
        const auto disk = whole->clone();
        disk->flip_bit(kCataloguePath, bit);
        ++outcomes[use_damaged(*disk, originals, fmt::format("bit {}: ", bit), i % 4 == 0)];
        if (::testing::Test::HasFailure()) break;
    }
    EXPECT_GT(outcomes["rows dropped"], 500);
    EXPECT_GT(outcomes["unsupported"], 10);  // in user_version
    EXPECT_GT(outcomes["corrupt"], 100);
    EXPECT_GT(outcomes["corrupt while loading"], 10);
    EXPECT_GT(outcomes["unharmed"], 100);  // in free space, and in fields of SQLite that nobody reads
}

TEST(CatalogueFaults, AFlippedBitInTheLogEndsItThere) {
    const auto steps = script();
    const auto contents = contents_of(steps);
    const auto whole = empty_disk();
    std::vector<Step> shown;
    for (const Step &step : steps) {
        if (!step.flushes) shown.push_back(step);
    }
    const auto expected = contents_of(shown);
    ASSERT_EQ(run_until_it_fails(*whole, shown).steps, shown.size());
    const std::uint64_t bits = whole->content(kCatalogueLog).size() * 8;
    std::mt19937_64 random(12);
    std::set<std::size_t> places;
    for (int i = 0; i < 500; ++i) {
        const auto disk = whole->clone();
        const std::uint64_t bit = random() % bits;
        disk->flip_bit(kCatalogueLog, bit);
        const auto place = place_in(expected, text_at(*disk), 0, expected.size());
        EXPECT_TRUE(place) << bit;
        places.insert(place.value_or(0));
    }
    EXPECT_GT(places.size(), 5u);
}

TEST(CatalogueFaults, AnyBytesBehindAGoodHeaderDoNoHarm) {
    const auto whole = filled_disk(false);
    const Originals originals(*Catalogue::open(*whole, kCataloguePath)->load());
    const std::string image = whole->content(kCataloguePath);
    std::mt19937_64 random(13);
    for (int i = 0; i < 500; ++i) {
        std::string bytes = image;
        const int runs = 1 + i % 5;
        for (int run = 0; run < runs; ++run) {
            const std::size_t at = 100 + random() % (bytes.size() - 100);
            const std::size_t length = std::min<std::size_t>(bytes.size() - at, 1 + random() % 300);
            for (std::size_t k = 0; k < length; ++k)
                bytes[at + k] = static_cast<char>(random());
        }
        if (i % 7 == 0) bytes.resize(100 + random() % bytes.size());
        const auto disk = whole->clone();
        disk->set_content(kCataloguePath, bytes);
        (void)use_damaged(*disk, originals, fmt::format("image {}: ", i), true);
    }
}

TEST(CatalogueFaults, ALogCutOffOrMadeUpDoesNoHarm) {
    const auto whole = filled_disk(true);
    const Originals originals(*Catalogue::open(*whole, kCataloguePath)->load());
    const std::string log = whole->content(kCatalogueLog);
    std::mt19937_64 random(14);
    for (int i = 0; i < 100; ++i) {
        const auto disk = whole->clone();
        std::string bytes = log.substr(0, random() % log.size());
        if (i % 4 == 0) {
            for (char &byte : bytes)
                byte = static_cast<char>(random());
        }
        disk->set_content(kCatalogueLog, bytes);
        auto catalogue = Catalogue::open(*disk, kCataloguePath);
        ASSERT_TRUE(catalogue.has_value()) << catalogue.error().what;
        EXPECT_TRUE(catalogue->load().has_value());
        EXPECT_TRUE(catalogue->put(entry_of(5000)).has_value());
    }
}

}  // namespace
}  // namespace cairn
